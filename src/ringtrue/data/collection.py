"""A test collection: documents, topics, judgments, and where there is one a training log; read when asked for.

A `Source` gives the parts; a `Collection` keeps what is small, streams what is large, and holds the account of what
the readers tolerated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from ringtrue import cache
from ringtrue.data.cells import LogBlock
from ringtrue.data.notes import Notes
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Document, LogQuery, Positive, Qrel, Query
from ringtrue.data.sources import PARTS, Overlay, Part, Records, Source, Subset
from ringtrue.errors import InputError

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Collection:
    """What is evaluated; `notes` grow as parts are read."""

    name: str
    source: Source
    notes: Notes = field(default_factory=Notes)
    runs_folder: Path | None = None
    groups_file: Path | None = None
    _noted: set[Part] = field(default_factory=set, init=False, repr=False)
    _keys: dict[Part, str] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def from_records(
        cls,
        name: str,
        documents: Iterable[Document] | None = None,
        queries: Iterable[Query] | None = None,
        qrels: Qrels | Iterable[Qrel] | None = None,
        log: Iterable[LogQuery] | None = None,
    ) -> Collection:
        """A collection in memory; None is a part that it does not have."""
        docs = None if documents is None else tuple(documents)
        topics = None if queries is None else tuple(queries)
        _check_distinct("document", (document.doc_id for document in docs or ()))
        _check_distinct("query", (query.query_id for query in topics or ()))
        judged = qrels if qrels is None or isinstance(qrels, Qrels) else Qrels.from_records(qrels)
        return cls(name, Records(docs, topics, judged, None if log is None else tuple(log)))

    @property
    def has_documents(self) -> bool:
        """Whether there are texts to search in."""
        return "documents" in self.source.parts

    @property
    def has_queries(self) -> bool:
        """Whether there are topics."""
        return "queries" in self.source.parts

    @property
    def has_qrels(self) -> bool:
        """Whether there are judgments."""
        return "qrels" in self.source.parts

    @property
    def has_log(self) -> bool:
        """Whether there is a training log beside the topics."""
        return "log" in self.source.parts

    def documents(self) -> Iterator[Document]:
        """All documents, streaming; every call starts from the first."""
        self._require("documents")
        return self._stream("documents", self.source.documents)

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        """All topics."""
        self._require("queries")
        queries = self.source.queries(self.notes)
        self._compare(queries, self.__dict__.get("qrels"))
        return queries

    @cached_property
    def qrels(self) -> Qrels:
        """All judgments; empty where the collection has none."""
        if not self.has_qrels:
            return Qrels.from_records(())
        qrels = self.source.qrels(self.notes)
        self._compare(self.__dict__.get("queries"), qrels)
        return qrels

    def log(self) -> Iterator[LogQuery]:
        """The training log, streaming; a collection without one gives its topics with their relevant documents."""
        if not self.has_log:
            self._require("queries")
        return self._stream("log", self.source.log)

    def log_blocks(self, size: int) -> Iterator[LogBlock]:
        """The queries of the same log in columns, so many lines at a time: for very long ones."""
        if not self.has_log:
            self._require("queries")
        return self._stream("log", lambda notes: self.source.log_blocks(notes, size))

    def positives(self) -> Iterator[Positive]:
        """What the queries of the same log were trained on, streaming: pairs of a query and a document."""
        if not self.has_log:
            self._require("queries")
        return self._stream("log", self.source.positives)

    @cached_property
    def fingerprint(self) -> str:
        """A key for the content of all parts; the name does not count."""
        return cache.key(*((part, self.fingerprint_of(part)) for part in PARTS if part in self.source.parts))

    def fingerprint_of(self, part: Part) -> str:
        """A key for the content of one part: an index, say, depends on the documents alone."""
        self._require(part)
        if part not in self._keys:
            self._keys[part] = self.source.fingerprint(part)
        return self._keys[part]

    def subset(self, doc_ids: Iterable[str]) -> Collection:
        """Only these documents and their judgments; topics and the log stay."""
        return self._derive(Subset(self.source, frozenset(doc_ids)))

    def with_queries(self, queries: Iterable[Query]) -> Collection:
        """Other topics over the same documents and judgments."""
        topics = tuple(queries)
        _check_distinct("query", (query.query_id for query in topics))
        return self._derive(Overlay((Records(queries_given=topics), self.source)))

    def _derive(self, source: Source) -> Collection:
        """The same collection from another source, with an account of its own."""
        return replace(self, source=source, notes=Notes())

    def _require(self, part: Part) -> None:
        """Say what is missing and how to give it."""
        if part not in self.source.parts:
            what = {"qrels": "judgments", "log": "training log"}.get(part, part)
            raise InputError(f"the collection {self.name!r} has no {what}; give a file of them (--{part}).")

    def _stream(self, part: Part, read: Callable[[Notes], Iterator[T]]) -> Iterator[T]:
        """All that a part has; the account of the first whole pass is kept, so that no pass counts twice."""
        notes = Notes()
        yield from read(notes)
        if part not in self._noted:
            self._noted.add(part)
            self.notes.update(notes)

    def _compare(self, queries: tuple[Query, ...] | None, qrels: Qrels | None) -> None:
        """Count topics and judgments that do not meet: a sign of two numberings."""
        if queries is None or qrels is None or not self.has_qrels:
            return
        known = {query.query_id for query in queries}
        judged = set(qrels.topics)
        for what, ids in (
            ("judged topics without a query", judged - known),
            ("queries without judgments", known - judged),
        ):
            if ids:
                self.notes.add(what, f"{self.name}, topic {min(ids)}", len(ids))


def _check_distinct(kind: str, ids: Iterable[str]) -> None:
    """Two records of one id are an error."""
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            raise InputError(f"two records have the {kind} id {one!r}; ids must be distinct.")
        seen.add(one)
