"""Where the parts of a collection come from: files, memory, several sources together, a part of another source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from ringtrue import cache
from ringtrue.data.cells import LogBlock, packed
from ringtrue.data.formats.detect import read_documents, read_log, read_log_blocks, read_qrels, read_queries
from ringtrue.data.formats.variants import read_variants, with_variants
from ringtrue.data.logs import as_log, positives_of, with_positives
from ringtrue.data.notes import Notes
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Document, LogQuery, Positive, Query

Part = Literal["documents", "queries", "qrels", "log"]
PARTS: tuple[Part, ...] = ("documents", "queries", "qrels", "log")


class Source(Protocol):
    """One origin; only what it names in `parts` may be asked of it, and a log also where it has queries."""

    @property
    def parts(self) -> frozenset[Part]:
        """The parts that it has."""

    def documents(self, notes: Notes) -> Iterator[Document]:
        """All documents, streaming."""

    def queries(self, notes: Notes) -> tuple[Query, ...]:
        """All topics."""

    def qrels(self, notes: Notes) -> Qrels:
        """All judgments."""

    def log(self, notes: Notes) -> Iterator[LogQuery]:
        """The training log, streaming; without one, the queries with their relevant documents."""

    def log_blocks(self, notes: Notes, size: int) -> Iterator[LogBlock]:
        """The queries of the same log in columns, so many lines at a time."""

    def positives(self, notes: Notes) -> Iterator[Positive]:
        """The documents of the same log, each with its query; no more is kept of them than reading needs."""

    def fingerprint(self, part: Part) -> str:
        """A key for the content of a part."""


@dataclass(frozen=True)
class Files:
    """A file for each part."""

    documents_file: Path | None = None
    queries_file: Path | None = None
    qrels_file: Path | None = None
    log_file: Path | None = None

    @property
    def parts(self) -> frozenset[Part]:
        """The parts that have a file."""
        return frozenset(part for part in PARTS if self._file(part))

    def documents(self, notes: Notes) -> Iterator[Document]:
        """Stream the documents' file."""
        return read_documents(_there(self.documents_file), notes)

    def queries(self, notes: Notes) -> tuple[Query, ...]:
        """Read the topics' file."""
        return read_queries(_there(self.queries_file), notes)

    def qrels(self, notes: Notes) -> Qrels:
        """Read the judgments' file."""
        return read_qrels(_there(self.qrels_file), notes)

    def log(self, notes: Notes) -> Iterator[LogQuery]:
        """Stream the log's file, or that of the topics."""
        if self.log_file:
            return read_log(self.log_file, notes)
        log = read_log(_there(self.queries_file), notes)
        return with_positives(log, self.qrels(notes)) if self.qrels_file else log

    def log_blocks(self, notes: Notes, size: int) -> Iterator[LogBlock]:
        """Stream the log's file, or that of the topics."""
        return read_log_blocks(self.log_file or _there(self.queries_file), size, notes)

    def positives(self, notes: Notes) -> Iterator[Positive]:
        """The documents that the log names."""
        return positives_of(self.log(notes))

    def fingerprint(self, part: Part) -> str:
        """The bytes of a part's file."""
        return cache.content_key([_there(self._file(part))])

    def _file(self, part: Part) -> Path | None:
        """The file of a part."""
        files = (self.documents_file, self.queries_file, self.qrels_file, self.log_file)
        return files[PARTS.index(part)]


def _there(file: Path | None) -> Path:
    """A file that is known to be there."""
    assert file is not None, "a part was asked for that the source does not have"
    return file


@dataclass(frozen=True, eq=False)
class Records:
    """Parts in memory."""

    documents_given: tuple[Document, ...] | None = None
    queries_given: tuple[Query, ...] | None = None
    qrels_given: Qrels | None = None
    log_given: tuple[LogQuery, ...] | None = None

    @property
    def parts(self) -> frozenset[Part]:
        """The parts that were given."""
        given = (self.documents_given, self.queries_given, self.qrels_given, self.log_given)
        return frozenset(part for part, there in zip(PARTS, given, strict=True) if there is not None)

    def documents(self, notes: Notes) -> Iterator[Document]:
        """The given documents."""
        return iter(self.documents_given or ())

    def queries(self, notes: Notes) -> tuple[Query, ...]:
        """The given topics."""
        return self.queries_given or ()

    def qrels(self, notes: Notes) -> Qrels:
        """The given judgments."""
        return Qrels.from_records(()) if self.qrels_given is None else self.qrels_given

    def log(self, notes: Notes) -> Iterator[LogQuery]:
        """The given log, or the topics with their relevant documents."""
        if self.log_given is not None:
            return iter(self.log_given)
        return with_positives(as_log(self.queries(notes)), self.qrels(notes))

    def log_blocks(self, notes: Notes, size: int) -> Iterator[LogBlock]:
        """The same in columns."""
        return packed(self.log(notes), size)

    def positives(self, notes: Notes) -> Iterator[Positive]:
        """The documents that the log names."""
        return positives_of(self.log(notes))

    def fingerprint(self, part: Part) -> str:
        """The values of the records."""
        given = (self.documents_given, self.queries_given, self.qrels_given, self.log_given)
        return cache.key("records", *(given[PARTS.index(part)] or ()))


@dataclass(frozen=True, eq=False)
class Overlay:
    """Several sources; each part comes from the first that has it."""

    sources: tuple[Source, ...]

    @property
    def parts(self) -> frozenset[Part]:
        """The parts that any of them has."""
        return frozenset().union(*(source.parts for source in self.sources))

    def documents(self, notes: Notes) -> Iterator[Document]:
        """The documents of the first source with documents."""
        return self._first("documents").documents(notes)

    def queries(self, notes: Notes) -> tuple[Query, ...]:
        """The topics of the first source with topics."""
        return self._first("queries").queries(notes)

    def qrels(self, notes: Notes) -> Qrels:
        """The judgments of the first source with judgments."""
        return self._first("qrels").qrels(notes)

    def log(self, notes: Notes) -> Iterator[LogQuery]:
        """The log of the first source with a log, else the first topics with the first judgments."""
        if "log" in self.parts:
            return self._first("log").log(notes)
        log = self._first("queries").log(notes)
        return with_positives(log, self.qrels(notes)) if "qrels" in self.parts else log

    def log_blocks(self, notes: Notes, size: int) -> Iterator[LogBlock]:
        """The log of the first source with a log, else the first topics."""
        return self._first("log" if "log" in self.parts else "queries").log_blocks(notes, size)

    def positives(self, notes: Notes) -> Iterator[Positive]:
        """Those of a single source that has topics and judgments, or a log; else what the log of several names."""
        first = self._first("log" if "log" in self.parts else "queries")
        alone = "log" in self.parts or "qrels" not in self.parts or self._first("qrels") is first
        return first.positives(notes) if alone else positives_of(self.log(notes))

    def fingerprint(self, part: Part) -> str:
        """The key of the first source with the part."""
        return self._first(part).fingerprint(part)

    def _first(self, part: Part) -> Source:
        """The source that a part comes from."""
        return next(source for source in self.sources if part in source.parts)


@dataclass(frozen=True, eq=False)
class _Derived:
    """Another source as it is; what is derived from it overrides a part or two."""

    base: Source

    @property
    def parts(self) -> frozenset[Part]:
        """The parts of the other source."""
        return self.base.parts

    def documents(self, notes: Notes) -> Iterator[Document]:
        """The same documents."""
        return self.base.documents(notes)

    def queries(self, notes: Notes) -> tuple[Query, ...]:
        """The same topics."""
        return self.base.queries(notes)

    def qrels(self, notes: Notes) -> Qrels:
        """The same judgments."""
        return self.base.qrels(notes)

    def log(self, notes: Notes) -> Iterator[LogQuery]:
        """The same log."""
        return self.base.log(notes)

    def log_blocks(self, notes: Notes, size: int) -> Iterator[LogBlock]:
        """The same log."""
        return self.base.log_blocks(notes, size)

    def positives(self, notes: Notes) -> Iterator[Positive]:
        """The same documents of the log."""
        return self.base.positives(notes)

    def fingerprint(self, part: Part) -> str:
        """The same key."""
        return self.base.fingerprint(part)


@dataclass(frozen=True, eq=False)
class Varied(_Derived):
    """A source whose topics get the variants of a file."""

    variants_file: Path

    def queries(self, notes: Notes) -> tuple[Query, ...]:
        """The topics with their variants."""
        return with_variants(self.base.queries(notes), read_variants(self.variants_file, notes), notes)

    def fingerprint(self, part: Part) -> str:
        """For topics, the key changes with the variants."""
        key = self.base.fingerprint(part)
        return cache.key(key, cache.content_key([self.variants_file])) if part == "queries" else key


@dataclass(frozen=True, eq=False)
class Subset(_Derived):
    """A source with only some of its documents, and only the judgments of these."""

    doc_ids: frozenset[str]

    def documents(self, notes: Notes) -> Iterator[Document]:
        """The chosen documents; chosen ones that are not there are counted."""
        missing = set(self.doc_ids)
        for document in self.base.documents(notes):
            if document.doc_id in self.doc_ids:
                missing.discard(document.doc_id)
                yield document
        if missing:
            notes.add("documents of a subset that are not in the collection", f"document {min(missing)}", len(missing))

    def qrels(self, notes: Notes) -> Qrels:
        """The judgments of chosen documents; topics stay known, so that means do not change."""
        qrels = self.base.qrels(notes)
        chosen = np.fromiter((doc_id in self.doc_ids for doc_id in qrels.docs), dtype=np.bool_, count=len(qrels.docs))
        return qrels.keep(chosen[qrels.doc])

    def fingerprint(self, part: Part) -> str:
        """For documents and judgments, the key changes with the choice."""
        key = self.base.fingerprint(part)
        return cache.key(key, *sorted(self.doc_ids)) if part in ("documents", "qrels") else key
