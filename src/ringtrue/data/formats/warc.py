"""Pages of web archives (WARC, ISO 28500), plain or gzip, one record a gzip member or all in one.

FastWARC finds the records and Resiliparse extracts the text (both Bevendorff et al., ECIR 2018 and OSSYM 2021). A page's
id is its WARC-TREC-ID, as in the ClueWeb crawls, else the UUID of its WARC-Record-ID. FastWARC passes over damage in
silence; here it is an error, but for headers that a record should not have and that do no harm. Left out: archives in
Zstandard or LZ4, requests and metadata records, the checks of digests.
"""

from __future__ import annotations

import io
import os
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ringtrue.data.formats.markup import fold
from ringtrue.data.formats.streams import check_file
from ringtrue.data.notes import Notes
from ringtrue.data.records import Document
from ringtrue.errors import FormatError, MissingExtraError

if TYPE_CHECKING:
    from fastwarc.stream_io import GzipReader
    from fastwarc.warc import WarcRecord

_GZIP, _PLAIN = b"\x1f\x8b", b"WARC/"
_BLOCK = 1 << 20
_TEXT_LIKE = re.compile(r"text/|application/(?:xhtml|xml|json|rss|atom|javascript)", re.IGNORECASE)
_END_OF_HEADER = re.compile(rb"\r?\n\r?\n")


@dataclass(eq=False)
class Page:
    """A record that holds a page; its text can be read until the next one is asked for."""

    doc_id: str
    offset: int
    path: Path
    _record: WarcRecord
    _is_read: bool = False

    def document(self, notes: Notes, *, main_content: bool = False) -> Document:
        """The page's title and visible text; `main_content` leaves out menus, headers and footers."""
        self._is_read = True
        kind, charset, body = self._payload(notes)
        if kind and not _TEXT_LIKE.match(kind):
            notes.add("pages that are not text, read as empty", f"{self.path}, record {self.doc_id}")
            return Document(self.doc_id, "")
        return _document(self.doc_id, kind, charset, body, main_content)

    def _payload(self, notes: Notes) -> tuple[str, str | None, bytes]:
        """Content type, declared charset and bytes of what a server sent, without the HTTP around it."""
        record = self._record
        record.freeze()
        if record.is_http:
            record.parse_http(quirks_mode=True)
        body = record.reader.read()
        if len(body) < record.content_length:
            raise _damaged(self.path, self.offset, f"{self.doc_id} is shorter than its Content-Length")
        if not record.is_http:
            return record.headers.get("Content-Type") or "", None, body
        for header, decoders in (("Transfer-Encoding", _TRANSFER), ("Content-Encoding", _CONTENT)):
            names = (record.http_headers.get(header) or "").lower()
            body = _decoded(body, names, decoders, notes, f"{self.path}, record {self.doc_id}")
        return record.http_content_type or "", record.http_charset, body

    def _finish(self, length: int) -> None:
        """Go to the record's end; a record that is shorter than it says was cut off."""
        if not self._is_read and self._record.consume() < length:
            raise _damaged(self.path, self.offset, f"{self.doc_id} is shorter than its Content-Length")


def is_warc(path: str | Path) -> bool:
    """Whether a file is a web archive by its name."""
    return Path(path).name.lower().endswith((".warc", ".warc.gz"))


def read_pages(path: str | Path) -> Iterator[Page]:
    """All pages of an archive, streaming, their texts not extracted yet."""
    place = check_file(path)
    with open(place, "rb") as file:
        start = file.read(8)
        file.seek(0)
        if not start:
            raise FormatError("the file is empty.", place)
        if start.startswith(_GZIP):
            yield from _gzip_pages(file, place)
        elif start.startswith(_PLAIN):
            yield from _plain_pages(file, place)
        else:
            raise FormatError("this is no web archive: it begins neither with WARC/ nor as gzip does.", place)


def read_documents(path: str | Path, notes: Notes, *, main_content: bool = False) -> Iterator[tuple[int, Document]]:
    """The documents of an archive with their numbers from 1, streaming."""
    for number, page in enumerate(read_pages(path), start=1):
        yield number, page.document(notes, main_content=main_content)


def _gzip_pages(file: BinaryIO, path: Path) -> Iterator[Page]:
    """The pages of a compressed archive; where it ends, the last member has to end."""
    reader = _gzip_reader(file)
    yield from _pages(reader, path, lambda record: reader.frame_start_position() or 0)
    last, size = reader.frame_start_position() or 0, os.fstat(file.fileno()).st_size
    try:
        reader.read()
        whole = _ends_whole(path, last) if last else _has_length(file, reader.tell())
    except OSError as error:
        raise _damaged(path, last, str(error)) from error
    if not whole:
        raise _damaged(path, last, f"the gzip member that begins there does not end with the file, at byte {size}")


def _plain_pages(file: BinaryIO, path: Path) -> Iterator[Page]:
    """The pages of an archive that is not compressed; records have to follow each other without a gap."""
    with open(path, "rb") as beside:
        end = 0
        for page, start, length in _with_places(_pages(file, path, lambda record: record.stream_pos)):
            _check_gap(beside, path, end, start)
            end = _end_of_record(beside, start, length)
            yield page
        _check_gap(beside, path, end, os.fstat(beside.fileno()).st_size)
