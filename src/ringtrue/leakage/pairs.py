"""Leaked documents: training positives that are judged documents of the test.

A training query that leaks a topic does most harm where its own positive is relevant for the topic: then the model was
told the answer. Training on a judged document for some other query is no leak by itself, as where train and test share
a corpus, but it is counted by topic. Documents are compared by id alone, so both sides must be of one corpus: the same
numbers in another one would meet by accident. Read as a stream; memory grows with the judged documents only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from ringtrue import cache
from ringtrue.data.collection import Collection
from ringtrue.data.formats import checks, tabular
from ringtrue.data.formats.detect import Role, read_log, role_of
from ringtrue.data.formats.streams import read_head, read_lines
from ringtrue.data.formats.tables import Shape, shape_of
from ringtrue.data.formats.trec import columns
from ringtrue.data.logs import positives_of
from ringtrue.data.notes import Notes
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Positive
from ringtrue.errors import FormatError, InputError
from ringtrue.leakage.candidates import Candidate
from ringtrue.leakage.result import LeakedPair, PairLeakage, TopicDocuments


def check_positives(positives: Path | None, test: Collection) -> None:
    """Read the judgments, and look at the first of the positives, before a search that may take hours."""
    judged = len(test.qrels)
    if positives is None:
        return
    if not judged:
        raise InputError(
            f"the positives {positives} are held against the test's judgments, but {test.name!r} has none; give them "
            "with --qrels."
        )
    if next(read_positives(positives), None) is None:
        raise FormatError("no training positives in this file.", positives)


def pairs_between(
    test: Collection, train: Collection, leaks: Iterable[Candidate], positives: Path | None = None
) -> PairLeakage | None:
    """The leaked pairs of a test with judgments, None without; positives are the log's own, or those of a file."""
    if not len(test.qrels):
        return None
    inputs = {"qrels": test.fingerprint_of("qrels")}
    if positives is None:
        return replace(find_leaked_pairs(train.positives(), test.qrels, leaks), inputs=inputs)
    notes = Notes()
    found = find_leaked_pairs(read_positives(positives, notes), test.qrels, leaks)
    return replace(found, notes=tuple(notes), inputs={**inputs, "positives": cache.content_key([positives])})


def find_leaked_pairs(positives: Iterable[Positive], qrels: Qrels, leaks: Iterable[Candidate]) -> PairLeakage:
    """Hold training positives against the test's judgments; a pair that comes several times counts once."""
    judged: dict[str, list[tuple[str, int]]] = {}
    for topic_id, doc_id, relevance in qrels:
        judged.setdefault(doc_id, []).append((topic_id, relevance))
    met: dict[Positive, None] = {}
    read = 0
    for positive in positives:
        read += 1
        if positive.doc_id in judged:
            met[positive] = None
    pairs = _leaked_pairs(met, judged, leaks)
    seen = {positive.doc_id for positive in met}
    return PairLeakage(read, len(judged), len(seen), _topics(qrels, seen, pairs), pairs)


def read_positives(path: Path, notes: Notes | None = None) -> Iterator[Positive]:
    """The pairs of a training file.

    That is judgments (grade above 0), pairs or triples of ids (query, positive[, negative]), or a log with documents.
    """
    notes = Notes() if notes is None else notes
    shape = shape_of(path)
    if role_of(path) is Role.QRELS or _is_judgment(path, shape):
        return _judged_positives(path, shape, notes)
    if shape in (Shape.TSV, Shape.PLAIN):
        return _bare_positives(path, notes)
    # a file beside the log may name its sources otherwise
    return (positive._replace(source=None) for positive in positives_of(read_log(path, notes)))


def _is_judgment(path: Path, shape: Shape) -> bool:
    """Whether the first line is a judgment, however few there are: ids and a score could be a triple."""
    cells = columns(read_head(path).lstrip().split("\n", 1)[0])
    return shape in (Shape.TSV, Shape.PLAIN) and len(cells) == 4 and cells[1] in ("0", "Q0")


def _judged_positives(path: Path, shape: Shape, notes: Notes) -> Iterator[Positive]:
    """The relevant documents of training judgments, in either form."""
    if shape is not Shape.PLAIN and (shape is not Shape.TSV or tabular.has_qrel_header(path)):
        for _, (query_id, doc_id, relevance) in tabular.read_qrels(path, shape, notes):
            if relevance > 0:
                yield Positive(query_id, doc_id)
        return
    for number, line in read_lines(path, notes):
        cells = columns(line)
        if len(cells) == 4:
            if checks.grade(cells[3], path, number) > 0:
                yield Positive(cells[0], cells[2])
        elif cells:
            raise FormatError(f"{len(cells)} columns where judgments have 4.", path, number)


def _bare_positives(path: Path, notes: Notes) -> Iterator[Positive]:
    """Two or three ids a line; a first line that names the columns is passed over."""
    for number, line in read_lines(path, notes):
        cells = columns(line)
        if number == 1 and cells and cells[0].lower() in tabular.QUERY_ID.names:
            continue
        if len(cells) in (2, 3):
            yield Positive(cells[0], cells[1])
        elif cells:
            message = f"{len(cells)} columns where query_id, positive[, negative] are expected, ids without blanks."
            raise FormatError(message, path, number)


def _leaked_pairs(
    met: Iterable[Positive], judged: dict[str, list[tuple[str, int]]], leaks: Iterable[Candidate]
) -> tuple[LeakedPair, ...]:
    """Those whose query leaks a topic for which the document is judged; by topic, then grade and similarity.

    Two sources may give one id to two queries: where a positive tells its source, only leaks of that source are meant.
    """
    by_query: dict[tuple[str, str | None, str], Candidate] = {}
    for leak in leaks:
        for source in dict.fromkeys((leak.source or None, None)):
            key = leak.query_id, source, leak.topic_id
            by_query[key] = max(by_query.get(key, leak), leak, key=lambda one: one.similarity)
    sourced = {query_id for query_id, source, _ in by_query if source is not None}
    found = [
        LeakedPair(topic_id, query_id, leaked.query, doc_id, relevance, leaked.similarity, leaked.source)
        for query_id, doc_id, source in met
        for topic_id, relevance in judged[doc_id]
        if (leaked := by_query.get((query_id, source if query_id in sourced else None, topic_id)))
    ]
    found = list(dict.fromkeys(found))
    found.sort(key=lambda pair: (pair.topic_id, -pair.relevance, -pair.similarity, pair.query_id, pair.doc_id))
    return tuple(found)


def _topics(qrels: Qrels, seen: set[str], pairs: Iterable[LeakedPair]) -> tuple[TopicDocuments, ...]:
    """Each topic's judged documents, and which of them the training data has."""
    answers: dict[str, dict[str, None]] = {}
    for pair in pairs:
        if pair.relevance > 0:
            answers.setdefault(pair.topic_id, {})[pair.doc_id] = None
    return tuple(
        TopicDocuments(
            topic_id=topic_id,
            judged=len(grades),
            judged_seen=sum(doc_id in seen for doc_id in grades),
            relevant=sum(relevance > 0 for relevance in grades.values()),
            relevant_seen=sum(relevance > 0 and doc_id in seen for doc_id, relevance in grades.items()),
            relevant_leaked=len(answers.get(topic_id, ())),
        )
        for topic_id, grades in qrels.by_topic.items()
    )
