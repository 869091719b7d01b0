"""Pages of web archives (WARC, ISO 28500), plain or gzip, one record a gzip member or all in one.

FastWARC finds the records and Resiliparse extracts the text (Bevendorff et al., ECIR 2018 and OSSYM 2021). A page's id
is its WARC-TREC-ID, as in the ClueWeb crawls, else the UUID of its WARC-Record-ID. FastWARC passes over damage without
a word; here a file that is damaged or cut short is an error. Left out: archives in Zstandard or LZ4, records that hold
no page (requests, metadata, revisits), and checks of digests.
"""

from __future__ import annotations

import importlib.util
import io
import mmap
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
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

_BLOCK = 1 << 20
_LONGEST_HEADER = 1 << 15
_PAGES = frozenset(("response", "resource", "conversion"))
_TEXT_LIKE = re.compile(r"text/|application/(?:xhtml|xml|json|rss|atom)", re.IGNORECASE)
_UUID = re.compile(r"^<?(?:urn:uuid:)?|>$")
_SHORT = "it is shorter than its Content-Length"
_END_OF_HEADER = re.compile(rb"\r?\n\r?\n")


@dataclass(eq=False, slots=True)
class Page:
    """A record that holds a page; its text can be had until the next page is asked for."""

    doc_id: str
    path: Path
    offset: int
    _record: WarcRecord = field(repr=False)

    def document(self, notes: Notes, *, main_content: bool = False) -> Document:
        """The page's title and visible text; `main_content` leaves out menus, headers and footers."""
        record, length = self._record, self._record.content_length
        record.freeze()
        if record.content_length < length:
            raise _damaged(self.path, self.offset, _SHORT)
        if record.is_http:
            record.parse_http(quirks_mode=True)
        body = record.reader.read()
        kind, charset = record.headers.get("Content-Type") or "", None
        if record.is_http:
            kind, charset = record.http_content_type or "", record.http_charset
            body = self._decoded(body, dict(record.http_headers.to_dict()), notes)
        if kind and not _TEXT_LIKE.match(kind):
            notes.add("pages that are not text, taken as empty", f"{self.path}, {self.doc_id}")
            return Document(self.doc_id, "")
        return _document(self.doc_id, body, kind, charset, main_content)

    def _decoded(self, body: bytes, headers: Mapping[str, str], notes: Notes) -> bytes:
        """What the server meant; crawls often keep the headers of an encoding that they have undone."""
        given = {name.lower(): value.lower() for name, value in headers.items()}
        for name in ("transfer-encoding", "content-encoding"):
            decode = _DECODERS.get(given.get(name, "").strip())
            try:
                body = decode(body) if decode else body
            except (OSError, zlib.error):
                notes.add(
                    f"pages that are not in the {name} they name, read as they are", f"{self.path}, {self.doc_id}"
                )
        return body


def is_warc(path: str | Path) -> bool:
    """Whether a file is a web archive by its name."""
    return Path(path).name.lower().endswith((".warc", ".warc.gz"))


def read_pages(path: str | Path) -> Iterator[Page]:
    """All pages of an archive, streaming; their texts are extracted only where they are asked for."""
    place = check_file(path)
    if importlib.util.find_spec("fastwarc") is None or importlib.util.find_spec("resiliparse") is None:
        raise MissingExtraError("reading WARC files", "warc")
    with open(place, "rb") as file:
        start = file.read(5)
        file.seek(0)
        if start.startswith(b"\x1f\x8b"):
            records = _gzip_records(file, place)
        elif start == b"WARC/":
            records = _plain_records(file, place)
        else:
            raise FormatError("this is no web archive: it begins neither with WARC/ nor as gzip does.", place)
        empty = True
        for record, offset in records:
            empty = False
            if str(record.record_type) in _PAGES:
                yield Page(_doc_id(record, place, offset), place, offset, record)
        if empty:
            raise FormatError("no records in this file.", place)


def read_documents(path: str | Path, notes: Notes, *, main_content: bool = False) -> Iterator[tuple[int, Document]]:
    """The documents of an archive with their numbers, from 1, streaming."""
    for number, page in enumerate(read_pages(path), start=1):
        yield number, page.document(notes, main_content=main_content)


def _gzip_records(file: BinaryIO, path: Path) -> Iterator[tuple[WarcRecord, int]]:
    """The records with the beginnings of their gzip members; the last member has to end with the file."""
    from fastwarc.stream_io import GzipReader

    reader = GzipReader(file)
    yield from _records(reader, path, lambda record: reader.frame_start_position() or 0)
    last = reader.frame_start_position() or 0
    try:
        reader.read()
        whole = _ends_with_file(file, last) if last else _has_length(file, reader.tell())
    except OSError as error:
        raise _damaged(path, last, str(error)) from error
    if not whole:
        raise _damaged(path, last, "the gzip data is cut short or something follows it")


def _plain_records(file: BinaryIO, path: Path) -> Iterator[tuple[WarcRecord, int]]:
    """The records with their beginnings; between them there may be nothing but line ends."""
    end = 0
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for record, start in _records(file, path, lambda record: record.stream_pos):
            _check_gap(data, path, end, start)
            header = _END_OF_HEADER.search(data, start, start + _LONGEST_HEADER)
            if header is None:
                raise _damaged(path, start, "its header has no end")
            end = header.end() + record.content_length
            yield record, start
        _check_gap(data, path, end, len(data))


def _records(
    stream: BinaryIO | GzipReader, path: Path, place: Callable[[WarcRecord], int]
) -> Iterator[tuple[WarcRecord, int]]:
    """All records, each of them whole."""
    from fastwarc.warc import ArchiveIterator

    offset = 0
    try:
        for record in ArchiveIterator(stream, parse_http=False, quirks_mode=True):
            length, offset = record.content_length, place(record)
            if not length and "Content-Length" not in record.headers:
                raise _damaged(path, offset, "it has no Content-Length")
            yield record, offset
            if not record.is_frozen and record.consume() < length:
                raise _damaged(path, offset, _SHORT)
    except OSError as error:
        raise _damaged(path, offset, f"it, or the one after it, cannot be read: {error}") from error


def _damaged(path: Path, offset: int, reason: str) -> FormatError:
    return FormatError(f"the record at byte {offset} is damaged: {reason}; fetch or make the file again.", path)


def _has_length(file: BinaryIO, length: int) -> bool:
    """Whether the only member of a gzip file says in its last four bytes that it has this length."""
    file.seek(-4, os.SEEK_END)
    return int.from_bytes(file.read(4), "little") == length % (1 << 32)


def _ends_with_file(file: BinaryIO, start: int) -> bool:
    """Whether the member at a place is whole and the last thing in the file."""
    file.seek(start)
    member = zlib.decompressobj(wbits=31)
    try:
        while not member.eof and (block := file.read(_BLOCK)):
            while block:
                member.decompress(block, _BLOCK)
                block = member.unconsumed_tail
    except zlib.error as error:
        raise OSError(str(error)) from error
    return member.eof and not member.unused_data.strip(b"\0") and not file.read(1)


def _check_gap(data: mmap.mmap, path: Path, end: int, start: int) -> None:
    """A gap means that a record was passed over because its beginning is damaged."""
    gap = data[end:start]
    if start < end or gap.strip():
        raise _damaged(path, end + len(gap) - len(gap.lstrip()), "what begins there is not WARC/")


def _doc_id(record: WarcRecord, path: Path, offset: int) -> str:
    doc_id = record.headers.get("WARC-TREC-ID") or _UUID.sub("", record.headers.get("WARC-Record-ID") or "")
    if not doc_id:
        raise _damaged(path, offset, "it has neither WARC-TREC-ID nor WARC-Record-ID")
    return doc_id


def _document(doc_id: str, body: bytes, kind: str, charset: str | None, main_content: bool) -> Document:
    """Title and text of a page, white space folded."""
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    text = _text(body, charset)
    if kind.lower().startswith("text/plain"):
        return Document(doc_id, " ".join(text.split()))
    tree = HTMLTree.parse(text)
    plain = extract_plain_text(tree, main_content=main_content, links=False, list_bullets=False)
    return Document(doc_id, " ".join(plain.split()), fold(tree.title or ""))


def _text(body: bytes, charset: str | None) -> str:
    """Decode by the server's word, else as UTF-8 where it is that, else by the page's word or its letters."""
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding, map_encoding_to_html5

    encoding = map_encoding_to_html5(charset, fallback_utf8=False) if charset else None
    if encoding is None and not body.isascii():
        try:
            return body.decode()
        except UnicodeDecodeError:
            pass
    return str(bytes_to_str(body, encoding or detect_encoding(body, from_html_meta=True) or "utf-8"))


def _dechunked(body: bytes) -> bytes:
    from fastwarc.stream_io import ChunkedReader

    return ChunkedReader(io.BytesIO(body)).read()


def _brotli(body: bytes) -> bytes:
    from fastwarc.stream_io import BrotliReader

    return BrotliReader(io.BytesIO(body)).read()


def _inflated(body: bytes) -> bytes:
    return zlib.decompress(body, wbits=47)  # zlib or gzip, told by the first bytes


_DECODERS: Mapping[str, Callable[[bytes], bytes]] = {
    "chunked": _dechunked,
    "gzip": _inflated,
    "x-gzip": _inflated,
    "deflate": _inflated,
    "br": _brotli,
}
