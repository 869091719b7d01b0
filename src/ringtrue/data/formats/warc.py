"""Pages of web archives (WARC, ISO 28500), plain or compressed, one record a gzip member or all in one.

FastWARC finds the records and Resiliparse extracts the text (Bevendorff et al., ECIR 2018 and OSSYM 2021). A page's id
is its WARC-TREC-ID, as in the ClueWeb crawls, else the UUID of its WARC-Record-ID. FastWARC passes over damage without
a word; here a file that is damaged or cut short is an error. Left out: archives in LZ4, records that hold no page
(requests, metadata, revisits), and checks of digests.
"""

from __future__ import annotations

import importlib.util
import io
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ringtrue.data.formats.markup import fold
from ringtrue.data.formats.streams import check_file, plain_name, read_blocks, read_blocks_ahead
from ringtrue.data.notes import Notes
from ringtrue.data.records import Document
from ringtrue.errors import FormatError, MissingExtraError

if TYPE_CHECKING:
    from fastwarc.warc import WarcRecord

_LONGEST_HEADER = 1 << 15
_LOOK_BACK = 1 << 18  # FastWARC reads 65,536 bytes at a time, and no record is asked about that ended before its header
_PAGES = frozenset(("response", "resource", "conversion"))
_TEXT_LIKE = re.compile(r"text/|application/(?:xhtml|xml|json|rss|atom)", re.IGNORECASE)
_UUID = re.compile(r"^<?(?:urn:uuid:)?|>$")
_SHORT = "it is shorter than its Content-Length"
_END_OF_HEADER = re.compile(rb"\r?\n\r?\n")
_NOT_BLANK = re.compile(rb"\S")


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
    return plain_name(path).endswith(".warc")


def read_pages(path: str | Path) -> Iterator[Page]:
    """All pages of an archive, streaming; their texts are extracted only where they are asked for."""
    place = check_file(path)
    if importlib.util.find_spec("fastwarc") is None or importlib.util.find_spec("resiliparse") is None:
        raise MissingExtraError("reading WARC files", "warc")
    if not next(read_blocks(place)).startswith(b"WARC/"):
        raise FormatError("this is no web archive: its content does not begin with WARC/.", place)
    empty = True
    for record, offset in _records(place):
        empty = False
        if str(record.record_type) in _PAGES:
            yield Page(_doc_id(record, place, offset), place, offset, record)
    if empty:
        raise FormatError("no records in this file.", place)


def read_documents(path: str | Path, notes: Notes, *, main_content: bool = False) -> Iterator[tuple[int, Document]]:
    """The documents of an archive with their numbers, from 1, streaming."""
    for number, page in enumerate(read_pages(path), start=1):
        yield number, page.document(notes, main_content=main_content)


class _Unpacked(io.BufferedIOBase):
    """The content of an archive for FastWARC to read, and its latest part for us to look at."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        """Read from blocks."""
        self._blocks = blocks
        self._kept = deque[bytes]((b"",))
        self._behind = 0  # where the kept ones begin
        self._last = 0  # where the last of them begins
        self._at = 0  # how much of the last was read

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes, at most so many and at most a block; none at the end."""
        if self._at == len(self._kept[-1]):
            self._keep(next(self._blocks, b""))
        piece = self._kept[-1][self._at : self._at + size if size is not None and size >= 0 else None]
        self._at += len(piece)
        return piece

    def tell(self) -> int:
        """How far it was read."""
        return self._last + self._at

    def header_end(self, start: int) -> int | None:
        """Where the content of the record begins that begins there; None where its header has no end."""
        found = self._search(_END_OF_HEADER, start, _LONGEST_HEADER)
        return None if found is None else start + found

    def not_blank(self, start: int, stop: int) -> int | None:
        """The first place between two that is not blank, if there is one; what is long gone is taken for such."""
        if start < self._behind < stop:
            return start
        found = self._search(_NOT_BLANK, start, stop - start)
        return None if found is None else start + found - 1

    def _search(self, pattern: re.Pattern[bytes], start: int, length: int) -> int | None:
        """How far behind a place the first match ends, of what was read so far."""
        begin = start - self._last
        if begin >= 0:
            found = pattern.search(self._kept[-1], begin, begin + length)
            return found and found.end() - begin
        begin = start - self._behind
        found = pattern.search(b"".join(self._kept)[begin : begin + length])
        return found and found.end()

    def _keep(self, block: bytes) -> None:
        """Take a block, and drop those that nobody looks back at."""
        self._last, self._at = self._last + len(self._kept[-1]), 0
        self._kept.append(block)
        while self._last - self._behind - len(self._kept[0]) > _LOOK_BACK:
            self._behind += len(self._kept.popleft())


def _records(path: Path) -> Iterator[tuple[WarcRecord, int]]:
    """All records, each of them whole, and where they begin; between them there may be nothing but line ends."""
    from fastwarc.warc import ArchiveIterator

    stream, end, start = _Unpacked(read_blocks_ahead(path)), 0, 0
    try:
        for record in ArchiveIterator(stream, parse_http=False, quirks_mode=True):
            length, start = record.content_length, record.stream_pos
            _check_gap(stream, path, end, start)
            if not length and "Content-Length" not in record.headers:
                raise _damaged(path, start, "it has no Content-Length")
            header = stream.header_end(start)
            if header is None:
                raise _damaged(path, start, "its header has no end")
            end = header + length
            yield record, start
            if not record.is_frozen and record.consume() < length:
                raise _damaged(path, start, _SHORT)
    except OSError as error:
        raise _damaged(path, start, f"it, or the one after it, cannot be read: {error}") from error
    _check_gap(stream, path, end, stream.tell())


def _damaged(path: Path, offset: int, reason: str) -> FormatError:
    return FormatError(
        f"the record at byte {offset} of the unpacked archive is damaged: {reason}; fetch or make the file again.", path
    )


def _check_gap(stream: _Unpacked, path: Path, start: int, stop: int) -> None:
    """A gap means that a record was passed over because its beginning is damaged."""
    place = stream.not_blank(start, stop)
    if place is not None:
        raise _damaged(path, place, "what begins there is not WARC/, or is not all there")


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
