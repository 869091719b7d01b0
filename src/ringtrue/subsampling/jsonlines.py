"""Searching JSON Lines for wanted documents without parsing the others.

Nearly all corpora have the document's id as the first key of every line. Where the first line shows that, the id is
cut out of the bytes of each line, and only lines of wanted documents, and any that do not begin that way, are parsed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ringtrue.data.formats.streams import read_blocks, read_head
from ringtrue.data.formats.tabular import DOC_ID, DOC_TEXT
from ringtrue.data.notes import Notes
from ringtrue.data.records import Document
from ringtrue.errors import FormatError
from ringtrue.subsampling.pieces import Place, Step, Wanted, file_identity, noted

_BLOCK = 1 << 18
_BOM = b"\xef\xbb\xbf"
_FIRST_KEY = re.compile(r'\{\s*"(\w+)"\s*:\s*"', re.ASCII)
_PLAIN_ID = rb'([!#-\[\]-~]+)"'  # what needs no second look: printable, no quote, no escape, no blank
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class JsonLinesFile:
    """A file of JSON Lines; a search of one that is not compressed starts wherever it should."""

    path: Path

    @property
    def name(self) -> str:
        """Its path."""
        return str(self.path)

    def identity(self) -> tuple[str, ...]:
        """Path, size and time of change."""
        return file_identity(self.path)

    def search(self, wanted: Wanted, start: Place) -> Iterator[Step]:
        """Look at one block of lines after the other."""
        known = frozenset(doc_id.encode() for doc_id in wanted if doc_id.isascii())
        begin, notes = self._begin(), noted(start.notes)
        find_ids = re.compile(b"\n(?:%b%b)?" % (re.escape(begin), _PLAIN_ID)).findall
        at, read = start.at, start.read
        for lines, ended in _whole_lines(_blocks(self.path, at)):
            ids = find_ids(lines)  # one of each line, empty where it does not begin with one
            if not ended:
                ids[-1] = b""  # the last line of a file, without an end: it may be half a line
            likely = _likely(lines, ids, known, begin)
            documents = (self._document(line, read + 1 + place, notes) for place, line in likely)
            found = tuple(document for document in documents if document and document.doc_id in wanted)
            at, read = at + len(lines) - (not ended), read + len(ids)
            yield Step(Place(at, read, tuple(notes)), found)

    def _begin(self) -> bytes:
        """How the first line goes up to its id; what no line has, where the id is not the first value."""
        line = read_head(self.path).split("\n", 1)[0]
        begins = _FIRST_KEY.match(line)
        names = [name for name in DOC_ID.names if f'"{name}"' in line]
        return begins[0].encode() if begins and begins[1] == next(iter(names), None) else b"\n"

    def _document(self, line: bytes, number: int, notes: Notes) -> Document | None:
        """The document of a line, as the reader of collections has it; None for a blank line."""
        if not line.strip():
            notes.add("blank lines skipped", f"{self.path}, line {number}")
            return None
        row = self._row(line.removeprefix(_BOM) if number == 1 else line, number, notes)
        doc_id, text = (
            next((row[name] for name in names if name in row), None) for names in (DOC_ID.names, DOC_TEXT.names)
        )
        if type(doc_id) is int:
            doc_id = str(doc_id)
        if not isinstance(doc_id, str) or not doc_id.strip():
            expected = " or ".join(DOC_ID.names)
            raise FormatError(f"no document id ({expected}) that is text or a whole number.", self.path, number)
        if text is None and not any(name in row for name in DOC_TEXT.names):
            raise FormatError(f"no document text; expected {' or '.join(DOC_TEXT.names)}.", self.path, number)
        return Document(doc_id.strip(), _text(text), _text(row.get("title")))

    def _row(self, line: bytes, number: int, notes: Notes) -> dict[str, object]:
        """A line as an object; what is not UTF-8 is read as the reader of collections does."""
        where = f"{self.path}, line {number}"
        try:
            text = line.decode()
        except UnicodeDecodeError:
            notes.add("lines that are not UTF-8, read as Windows-1252", where)
            text = _other_encoding(line)
        try:
            row = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"not valid JSON: {error}.", self.path, number) from error
        if not isinstance(row, dict):
            raise FormatError(f"a JSON object is expected on each line, not {text.strip()[:40]!r}.", self.path, number)
        return row


def _likely(lines: bytes, ids: Sequence[bytes], known: frozenset[bytes], begin: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that have to be parsed, with their places: all of them where the id of one is not known."""
    if b"" in ids:
        yield from enumerate(lines[1:].split(b"\n"))
        return
    end = 0
    for place, doc_id in enumerate(ids):
        if doc_id in known:
            start = lines.index(b'\n%b%b"' % (begin, doc_id), end) + 1
            end = lines.find(b"\n", start)
            yield place, lines[start : end if end > 0 else None]


def _blocks(path: Path, at: int) -> Iterator[bytes]:
    """The decompressed content from a byte on; what is not compressed is not read up to there."""
    with open(path, "rb") as file:
        if at and next(read_blocks(path)).startswith(file.read(8)):
            file.seek(at)
            yield from iter(lambda: file.read(_BLOCK), b"")
            return
    for block in read_blocks(path):
        if len(block) > at:
            yield block[at:]
        at = max(at - len(block), 0)


def _whole_lines(blocks: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Pieces of whole lines, each line with a line end before it in place of the one after it.

    The second value is False where the last line had no end.
    """
    rest = [b"\n"]
    for block in blocks:
        cut = block.rfind(b"\n")
        if cut < 0:
            rest.append(block)
        else:
            yield b"".join((*rest, block[:cut])), True
            rest = [block[cut:]]
    last = b"".join(rest)
    if last != b"\n":
        yield last, False


def _other_encoding(line: bytes) -> str:
    try:
        return line.decode("cp1252")
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _text(value: object) -> str:
    """A cell as text that UTF-8 can hold."""
    return _HALF.sub("\ufffd", "" if value is None else str(value)).strip()
