"""RM3 whose feedback are the clicked documents of similar queries in a training log.

Queries that mean the same (by cosine, at the threshold or above) lend the documents that people clicked for them, which
may be of another collection than the one that is searched. Each is scored with the original query by the same model,
in its own collection; those that do not match are dropped, the best `fb_docs` are the feedback, and what follows is RM3
with the term statistics of the searched collection. With `place=N` the N-th document in the order of similarity is the
only feedback. Both variants come from the code beside Fröbe et al., "How Train-Test Leakage Affects Zero-shot
Retrieval" (SPIRE 2022); no results of them were published.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtrue import cache
from ringtrue.data.load import load
from ringtrue.data.runs import Run
from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import ENCODERS, Encoder
from ringtrue.retrieval.index import Index, open_index
from ringtrue.retrieval.noting import note_once
from ringtrue.retrieval.rm3 import RM3, Bag

if TYPE_CHECKING:
    from ringtrue.data.collection import Collection
    from ringtrue.data.records import LogQuery, Query, ScoredDoc
    from ringtrue.data.sources import Part

_BLOCK = 4096
_FORMAT = 1
_LOG_PARTS: tuple[Part, ...] = ("log", "queries", "qrels")


@dataclass(frozen=True, repr=False)
class ClickRM3(RM3):
    """Expand with clicked documents; without `log` and `documents`, those of the collection itself.

    Both are files or collections as elsewhere; options of `encoder` are parted by semicolons.
    """

    log: str = ""
    documents: str = ""
    threshold: float = 0.9
    encoder: str = "minilm"
    place: int = 0

    def rank(self, collection: Collection, queries: Sequence[Query], candidates: Run | None = None) -> Run:
        """Search with the words of each query and of the documents that were clicked for similar ones."""
        if self.place < 0 or not -1 <= self.threshold <= 1:
            raise InputError(f"ranker {self!r}: place should be 0 or more and threshold a cosine, from -1 to 1.")
        model = self.searcher()
        index = open_index(collection, model.analyser)
        source = open_index(self._source(), model.analyser) if self.documents else index
        tokens = {query.query_id: model.analyser.tokens(query.title) for query in queries}
        clicked = self._clicked(collection, queries, source)
        feedback = self._feedback(source, tokens, clicked)
        without = {query_id for query_id in tokens if not feedback[query_id]}
        note_once(collection, "topics without clicked documents to expand with", without, "topic")
        expanded = {
            query_id: self.mix(index, words, _bags(index, source, feedback[query_id]), feedback[query_id])
            for query_id, words in tokens.items()
        }
        return model.rank_terms(index, expanded, name=repr(self))

    def _clicked(self, collection: Collection, queries: Sequence[Query], source: Index) -> dict[str, list[str]]:
        """For each query the documents of similar ones, those of the most similar first, each once."""
        log = self._log(collection)
        asked = [query for query in queries if query.title.strip()]
        found = _similar(_log_vectors(log, ENCODERS.parse(self.encoder.replace(";", ","))), asked, self)
        wanted = set(found.items.tolist())
        clicks = {number: entry.doc_ids for number, entry in enumerate(_entries(log)) if number in wanted}
        lists: dict[str, dict[str, None]] = {query.query_id: {} for query in queries}
        for row, item in zip(found.rows.tolist(), found.items.tolist(), strict=True):
            lists[asked[row].query_id] |= dict.fromkeys(clicks[item])
        every = {doc_id for docs in lists.values() for doc_id in docs}
        unknown = {doc_id for doc_id in every if source.docs.find(doc_id) is None}
        note_once(collection, "clicked documents that are not in the collection", unknown, "document")
        return {query_id: [doc_id for doc_id in docs if doc_id not in unknown] for query_id, docs in lists.items()}

    def _feedback(
        self, source: Index, tokens: Mapping[str, Sequence[str]], clicked: Mapping[str, Sequence[str]]
    ) -> dict[str, tuple[ScoredDoc, ...]]:
        """The documents to learn from, with their scores for the query."""
        if self.place:
            one = {query: docs[self.place - 1 : self.place] for query, docs in clicked.items()}
            run = Run.from_results("clicked", {query: [(doc, 1.0) for doc in docs] for query, docs in one.items()})
            return {query: run.ranking(query) for query in tokens}
        given = Run.from_results("clicked", {query: [(doc, 1.0) for doc in docs] for query, docs in clicked.items()})
        counts = {query: source.count(words) for query, words in tokens.items()}
        run = self.searcher().rank_terms(source, counts, given)
        return {query: run.ranking(query)[: self.fb_docs] for query in tokens}

    def _source(self) -> Collection:
        """The collection that the clicked documents are in; a file holds documents, whatever it looks like."""
        is_file = Path(self.documents).expanduser().is_file()
        return load(documents=self.documents) if is_file else load(self.documents)

    def _log(self, collection: Collection) -> Collection:
        """Where the log is; the topics themselves, which stand in for a missing log elsewhere, would leak."""
        if self.log:
            return load(self.log)
        if not collection.has_log:
            raise InputError(f"ranker {self!r}: the collection {collection.name!r} has no log; give one with log=PATH.")
        return collection


class _Similar(NamedTuple):
    """Queries and entries of the log, by query, the most similar first."""

    rows: NDArray[np.int64]
    items: NDArray[np.int64]


def _similar(log: _Vectors, asked: Sequence[Query], ranker: ClickRM3) -> _Similar:
    """All entries whose similarity reaches the threshold; equal ones in the order of the log."""
    if not asked:
        return _Similar(np.empty(0, np.int64), np.empty(0, np.int64))
    queries = log.encoder.encode([query.title for query in asked])
    rows, items, scores = [], [], []
    for start in range(0, len(log.vectors), _BLOCK):
        similarities = queries @ log.vectors[start : start + _BLOCK].T
        row, item = np.nonzero(similarities >= np.float32(ranker.threshold))
        rows.append(row)
        items.append(item + start)
        scores.append(similarities[row, item])
    row, item = np.concatenate(rows), np.concatenate(items)
    order = np.lexsort((item, -np.concatenate(scores), row))
    return _Similar(row[order], item[order])


def _entries(log: Collection) -> Iterator[LogQuery]:
    """The queries of the log that someone clicked for: the others lend nothing."""
    return (entry for entry in log.log() if entry.doc_ids and entry.text.strip())


class _Vectors(NamedTuple):
    encoder: Encoder
    vectors: NDArray[np.float32]


def _log_vectors(log: Collection, encoder: Encoder) -> _Vectors:
    """The vectors of the log, kept on disk: the same log is asked again and again."""
    parts = [log.fingerprint_of(part) for part in _LOG_PARTS if part in log.source.parts]
    key = cache.key(_FORMAT, "log", *parts, repr(encoder))
    folder = cache.entry("vectors", key, lambda draft: _encode(log, encoder, draft))
    vectors: NDArray[np.float32] = np.load(folder / "vectors.npy", mmap_mode="r", allow_pickle=False)
    return _Vectors(encoder, vectors)


def _encode(log: Collection, encoder: Encoder, draft: Path) -> None:
    texts = (entry.text for entry in _entries(log))
    parts = []
    while block := list(islice(texts, _BLOCK)):
        parts.append(encoder.encode(block))
    if not parts:
        raise InputError(f"the log of {log.name!r} has no query with a clicked document.")
    np.save(draft / "vectors.npy", np.concatenate(parts), allow_pickle=False)


def _bags(index: Index, source: Index, feedback: Sequence[ScoredDoc]) -> list[Bag]:
    """The terms of feedback documents as the searched index numbers them; those that it has not are left out."""
    bags = [source.terms_of(number) for number in source.numbers(line.doc_id for line in feedback)]
    return bags if source is index else [_translated(index, source, *bag) for bag in bags]


def _translated(index: Index, source: Index, terms: NDArray[np.integer], counts: NDArray[np.integer]) -> Bag:
    numbers = [index.terms.find(source.terms[term]) for term in terms.tolist()]
    known = [place for place, number in enumerate(numbers) if number is not None]
    return np.array([numbers[place] for place in known], np.int64), counts[known]
