"""The training log that sets are made from: one or several, each of these a source of its own, over one corpus.

A log of ids and texts has no documents of its own; those that it names are then the test collection's, or given apart.
What cannot be trained on is found before the log is searched, which may take hours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np

from ringtrue import cache
from ringtrue.data.cells import Cells, LogBlock
from ringtrue.data.collection import Collection
from ringtrue.data.logs import positives_of
from ringtrue.data.notes import Notes
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Document, LogQuery, Positive, Query
from ringtrue.data.sources import Part
from ringtrue.errors import InputError
from ringtrue.leakage.search import log_key

_LOOKED_AT = 10_000
_BLOCK = 100_000


@dataclass(frozen=True, eq=False)
class _Joined:
    """Logs one after the other, with the documents of another collection; a single one keeps its own sources."""

    logs: tuple[Collection, ...]
    corpus: Collection

    @property
    def parts(self) -> frozenset[Part]:
        """A log and documents, no topics."""
        return frozenset({"log", "documents"})

    def documents(self, notes: Notes) -> Iterator[Document]:
        """The documents of the other collection."""
        return self.corpus.source.documents(notes)

    def queries(self, notes: Notes) -> tuple[Query, ...]:
        """None."""
        return ()

    def qrels(self, notes: Notes) -> Qrels:
        """None."""
        return Qrels.from_records(())

    def log(self, notes: Notes) -> Iterator[LogQuery]:
        """The queries of all logs."""
        for one in self.logs:
            for query in one.source.log(notes):
                yield query if len(self.logs) == 1 else query._replace(source=one.name)

    def log_blocks(self, notes: Notes, size: int) -> Iterator[LogBlock]:
        """The same in columns; no block has lines of two logs."""
        for one in self.logs:
            for block in one.source.log_blocks(notes, size):
                own = block.sources if len(self.logs) == 1 else Cells.of([one.name] * len(block))
                yield LogBlock(block.ids, block.texts, own)

    def positives(self, notes: Notes) -> Iterator[Positive]:
        """The documents that the logs name."""
        return positives_of(self.log(notes))

    def fingerprint(self, part: Part) -> str:
        """That of the only log, or of all of them with their names."""
        if part == "documents":
            return self.corpus.fingerprint_of("documents")
        if len(self.logs) == 1:
            return log_key(self.logs[0])
        return cache.key("logs", *((one.name, log_key(one)) for one in self.logs))


def join_logs(logs: Sequence[Collection], test: Collection, documents: Collection | None = None) -> Collection:
    """One collection of training queries; documents are those given, else the logs' own, else the test collection's."""
    for one in logs:
        if not (one.has_log or one.has_queries):
            raise InputError(f"{one.name!r} has no training queries; name a file or collection that has (--train).")
    corpus = documents or _own_corpus(logs) or test
    if not corpus.has_documents:
        raise InputError(
            f"the training queries of {logs[0].name!r} come without documents, and {corpus.name!r} has none; give them "
            "(--train-documents)."
        )
    if len({one.name for one in logs}) < len(logs):
        raise InputError(f"two of the training logs are named {_repeated(logs)!r}; each is a source, give it a name.")
    joined = Collection(" and ".join(one.name for one in logs), _Joined(tuple(logs), corpus))
    _check_ids(logs)
    for one in logs:
        _check_positives(one, corpus)
    return joined


def _own_corpus(logs: Sequence[Collection]) -> Collection | None:
    """The documents that come with the logs, which have to be the same."""
    found = [one for one in logs if one.has_documents]
    if len({one.fingerprint_of("documents") for one in found}) > 1:
        raise InputError(
            f"{' and '.join(one.name for one in found)} have different documents; training sets need one corpus: give "
            "the documents of all of them (--train-documents)."
        )
    return found[0] if found else None


def _repeated(logs: Sequence[Collection]) -> str:
    names = [one.name for one in logs]
    return next(name for name in names if names.count(name) > 1)


def _check_ids(logs: Sequence[Collection]) -> None:
    """Labels and candidates name a query by its id alone, so that no id may stand in two logs."""
    if len(logs) < 2:
        return
    keys = [np.concatenate([block.ids.keys() for block in one.log_blocks(_BLOCK)]) for one in logs]
    for (first, of_first), (second, of_second) in combinations(zip(logs, keys, strict=True), 2):
        common = np.intersect1d(of_first, of_second)
        if not len(common):
            continue
        for block in second.log_blocks(_BLOCK):
            places = np.flatnonzero(np.isin(block.ids.keys(), common))
            if len(places):
                raise InputError(
                    f"{len(common):,} query ids are both in {first.name} and in {second.name}, such as "
                    f"{block.ids[int(places[0])]!r}; make them distinct."
                )


def _check_positives(log: Collection, corpus: Collection) -> None:
    """The documents that queries were trained on have to be those of the corpus."""
    named: dict[str, str] = {}
    for query in islice((query for query in log.log() if query.doc_ids), _LOOKED_AT):
        named.update(dict.fromkeys(query.doc_ids, query.query_id))
    if not named:
        raise InputError(
            f"no query of {log.name!r} names a document that it was trained on; give JSON Lines with doc_ids, or a "
            "collection with judgments."
        )
    if not any(document.doc_id in named for document in corpus.documents()):
        doc_id, query_id = next(iter(named.items()))
        raise InputError(
            f"none of the {len(named):,} documents that {log.name!r} names first ({doc_id} of query {query_id}, …) is "
            f"among those of {corpus.name!r}; give the documents of the training side (--train-documents)."
        )
