"""Pieces of a corpus, each of which can be searched for wanted documents from any point on.

A search gives steps: how far it came and what it found there. Nothing is kept of documents that are not wanted, so
that memory does not grow with the corpus. What the readers of collections check over a whole file, as that ids are
distinct, is checked here for the wanted documents alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Protocol

from ringtrue.data.formats import tabular
from ringtrue.data.formats.tables import Shape
from ringtrue.data.formats.warc import read_pages
from ringtrue.data.notes import Note, Notes
from ringtrue.data.records import Document
from ringtrue.provenance import version

Wanted = frozenset[str]

_STEP = 4096  # records that are searched before the search says how far it came
_LOOK_UPS = 1024


class Place(NamedTuple):
    """How far a search came: `at` is a byte in JSON Lines and TREC markup and a number of records elsewhere."""

    at: int = 0
    read: int = 0
    notes: tuple[Note, ...] = ()


class Step(NamedTuple):
    """A stretch of a piece: where it ends, and the wanted documents in it."""

    place: Place
    found: tuple[Document, ...]


class Piece(Protocol):
    """A part of a corpus that is searched as one."""

    @property
    def name(self) -> str:
        """What it is called in messages."""

    @property
    def by_id(self) -> bool:
        """Whether what is found is written in the order of ids, not in that of the piece."""

    def identity(self) -> tuple[str, ...]:
        """What tells it from others and from itself with another content, however it is searched."""

    def search(self, wanted: Wanted, start: Place) -> Iterator[Step]:
        """Look for documents from a place on, to the end; the last step may find nothing."""


@dataclass(frozen=True)
class FilePiece:
    """What all files have in common."""

    path: Path

    @property
    def by_id(self) -> bool:
        """False: a file's documents stay in its order."""
        return False

    @property
    def name(self) -> str:
        """Its path."""
        return str(self.path)

    def identity(self) -> tuple[str, ...]:
        """Path, size and time of change: what tells a file from itself after a change, without reading it."""
        status = self.path.stat()
        return str(self.path.resolve()), str(status.st_size), str(status.st_mtime_ns)


@dataclass(frozen=True)
class RecordFile(FilePiece):
    """A file of TSV or CSV; it is read from its beginning wherever a search starts."""

    shape: Shape

    def search(self, wanted: Wanted, start: Place) -> Iterator[Step]:
        """Read all records; the account of what was tolerated begins anew with them."""
        notes = Notes()
        rows = tabular.read_documents(self.path, self.shape, notes)
        return _filter((document for _, document in rows), wanted, start, notes)


@dataclass(frozen=True)
class WarcFile(FilePiece):
    """A web archive; texts are extracted from wanted pages alone."""

    main_content: bool = False

    def identity(self) -> tuple[str, ...]:
        """Path, size and time of change, what is extracted and by which version."""
        return (*super().identity(), f"main_content={self.main_content}", f"resiliparse {_extractor()}")

    def search(self, wanted: Wanted, start: Place) -> Iterator[Step]:
        """Pass over the pages up to the start as fast as over those that are not wanted."""
        notes = noted(start.notes)
        found: list[Document] = []
        number = 0
        for number, page in enumerate(read_pages(self.path), start=1):
            if number <= start.read:
                continue
            if page.doc_id in wanted:
                found.append(page.document(notes, main_content=self.main_content))
            if number % _STEP == 0:
                yield Step(Place(number, number, tuple(notes)), tuple(found))
                found = []
        yield Step(Place(number, number, tuple(notes)), tuple(found))


@dataclass(frozen=True)
class _Irds:
    """What both ways to read an ir_datasets corpus have in common."""

    dataset_id: str

    @property
    def by_id(self) -> bool:
        """True: a store has no other order, and how a corpus is read must not show in the sample."""
        return True

    @property
    def name(self) -> str:
        """Its id as collections are named."""
        return f"irds:{self.dataset_id}"

    def identity(self) -> tuple[str, ...]:
        """The id, and the content where that can change under it."""
        from ringtrue.data.formats.irds import content_keys  # the import alone takes a third of a second

        return (self.name, *content_keys(self.dataset_id))


@dataclass(frozen=True)
class IrdsStream(_Irds):
    """All documents of an ir_datasets corpus, in its order."""

    def search(self, wanted: Wanted, start: Place) -> Iterator[Step]:
        """Read all documents."""
        from ringtrue.data.formats.irds import IrdsSource  # the import alone takes a third of a second

        notes = Notes()
        return _filter(IrdsSource(self.dataset_id).documents(notes), wanted, start, notes)


@dataclass(frozen=True)
class IrdsStore(_Irds):
    """An ir_datasets corpus by its random access: only wanted documents are read, in the order of their ids."""

    def search(self, wanted: Wanted, start: Place) -> Iterator[Step]:
        """Look up a thousand documents at a time."""
        from ringtrue.subsampling.stores import look_up

        ids = sorted(wanted)
        for at in range(start.at, len(ids), _LOOK_UPS):
            chosen = tuple(ids[at : at + _LOOK_UPS])
            found = {document.doc_id: document for document in look_up(self.dataset_id, chosen)}
            end = at + len(chosen)
            yield Step(Place(end, end), tuple(found[one] for one in chosen if one in found))


@cache
def _extractor() -> str | None:
    """The version of what extracts texts, looked up once: a crawl has tens of thousands of archives."""
    return version("resiliparse")


def noted(given: Iterable[Note]) -> Notes:
    """An account that goes on from an earlier one."""
    notes = Notes()
    for note in given:
        notes.add(note.what, note.first, note.times)
    return notes


def _filter(documents: Iterator[Document], wanted: Wanted, start: Place, notes: Notes) -> Iterator[Step]:
    """The wanted among all documents after the start."""
    read = sum(1 for _ in islice(documents, start.read))
    while batch := list(islice(documents, _STEP)):
        read += len(batch)
        yield Step(Place(read, read, tuple(notes)), tuple(one for one in batch if one.doc_id in wanted))
