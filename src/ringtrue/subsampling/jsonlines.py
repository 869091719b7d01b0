"""Searching JSON Lines for wanted documents without parsing the others.

Nearly all corpora have the document's id as the first key of every line. Where the first line shows that, the id is
cut out of the bytes of each line, and only lines of wanted documents, and any that do not begin that way, are parsed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ringtrue.data.formats.streams import decode, read_head
from ringtrue.data.formats.tables import mended
from ringtrue.data.formats.tabular import DOC_ID, DOC_TEXT
from ringtrue.data.notes import Notes
from ringtrue.data.records import Document
from ringtrue.errors import FormatError
from ringtrue.subsampling.blocks import record_blocks
from ringtrue.subsampling.pieces import FilePiece, Place, Step, Wanted, noted

_BOM = b"\xef\xbb\xbf"
_FIRST_KEY = re.compile(r'\{\s*"(\w+)"\s*:\s*"', re.ASCII)
_PLAIN_ID = rb'([!#-\[\]-~]+)"'  # what needs no second look: printable, no quote, no escape, no blank


@dataclass(frozen=True)
class JsonLinesFile(FilePiece):
    """A file of JSON Lines; a search of one that is not compressed starts wherever it should."""

    def search(self, wanted: Wanted, start: Place) -> Iterator[Step]:
        """Look at one block of lines after the other."""
        notes, finder = noted(start.notes), _Finder(self._begin(), wanted)
        at, read = start.at, start.read
        for lines, ended in record_blocks(self.path, at, lambda block: block.rfind(b"\n") + 1):
            count, likely = finder.find(lines, ended)
            documents = (self._document(line, read + 1 + place, notes) for place, line in likely)
            found = tuple(document for document in documents if document and document.doc_id in wanted)
            at, read = at + len(lines), read + count
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
        if isinstance(text, list | dict):
            raise FormatError(f"the {DOC_TEXT.what} should be text, not {str(text)[:40]!r}.", self.path, number)
        return Document(doc_id.strip(), _text(text), _text(row.get("title")))

    def _row(self, line: bytes, number: int, notes: Notes) -> dict[str, object]:
        """A line as an object; what is not UTF-8 is read as the reader of collections does."""
        text = decode(line, self.path, number, notes)
        try:
            row = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"not valid JSON: {error}.", self.path, number) from error
        if not isinstance(row, dict):
            raise FormatError(f"a JSON object is expected on each line, not {text.strip()[:40]!r}.", self.path, number)
        return mended(row, f"{self.path}, line {number}", notes)


class _Finder:
    """Finds the lines that have to be parsed."""

    def __init__(self, begin: bytes, wanted: Wanted) -> None:
        self._begin = begin
        self._known = frozenset(doc_id.encode() for doc_id in wanted if doc_id.isascii())
        bare = b"(?:%b%b)?" % (re.escape(begin), _PLAIN_ID)
        self._first_id = re.compile(bare).match
        self._next_ids = re.compile(b"\n" + bare).findall

    def find(self, lines: bytes, ended: bool) -> tuple[int, list[tuple[int, bytes]]]:
        """How many lines a block has, and those to be parsed with their places: all where the id of one is hidden."""
        end = len(lines) - ended
        first = self._first_id(lines)
        ids = [(first and first[1]) or b"", *self._next_ids(lines, 0, end)]
        if b"" in ids or not ended:  # a last line without an end may be half a line
            return len(ids), list(enumerate(lines[:end].split(b"\n")))
        return len(ids), list(self._wanted(lines, [place for place, one in enumerate(ids) if one in self._known], ids))

    def _wanted(self, lines: bytes, places: list[int], ids: list[bytes]) -> Iterator[tuple[int, bytes]]:
        end = 0
        for place in places:
            start = lines.index(b'\n%b%b"' % (self._begin, ids[place]), end) + 1 if place else 0
            end = lines.index(b"\n", start)
            yield place, lines[start:end]


def _text(value: object) -> str:
    """A cell as text."""
    return "" if value is None else str(value).strip()
