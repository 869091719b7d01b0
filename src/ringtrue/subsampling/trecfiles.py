"""Searching TREC markup for wanted documents without parsing the others.

Most of the time of reading such a file goes into tags that end nowhere. Here the numbers and the ends of documents are
found in the bytes; where they take turns, only wanted documents are cut out and parsed, else also any whose number is
not plain to see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ringtrue.data.formats.markup import without_tags
from ringtrue.data.formats.streams import decode
from ringtrue.data.formats.trec import parse_document
from ringtrue.errors import FormatError
from ringtrue.subsampling.blocks import content_before, record_blocks
from ringtrue.subsampling.pieces import FilePiece, Place, Step, Wanted, noted

_BOM = b"\xef\xbb\xbf"
_OPEN, _USUAL_END = b"<DOCNO>", b"</DOC>"
_USUAL_NUMBERS = (b"<DOCNO>%s</DOCNO>", b"<DOCNO> %s </DOCNO>")
_END = re.compile(rb"</[dD][oO][cC]\s*>")
# a number that needs no second look is printable and has no tag, entity or blank
_MARKS = re.compile(rb"</[dD][oO][cC]\s*>|<DOCNO>\s*([!-%'-;=-~]+)\s*</DOCNO>")


@dataclass(frozen=True)
class TrecFile(FilePiece):
    """A file of TREC markup; a search of one that is not compressed starts wherever it should."""

    def search(self, wanted: Wanted, start: Place) -> Iterator[Step]:
        """Look at one block of documents after the other."""
        known = frozenset(doc_id.encode() for doc_id in wanted if doc_id.isascii())
        notes, (at, read, _) = noted(start.notes), start
        line = 1 + sum(block.count(b"\n") for block in content_before(self.path, at))
        for data, ended in record_blocks(self.path, at, _last_end):
            text = data if at else data.removeprefix(_BOM)
            count, likely = _find(text, known)
            documents, counted = [], 0
            for place, piece in likely:
                line, counted = line + text.count(b"\n", counted, place), place
                documents.append(parse_document(decode(piece, self.path, line, notes), self.path, line, notes)[1])
            if not ended:
                self._check_rest(text, line, counted)
            at, read, line = at + len(data), read + count, line + text.count(b"\n", counted)
            yield Step(Place(at, read, tuple(notes)), tuple(one for one in documents if one.doc_id in wanted))

    def _check_rest(self, text: bytes, line: int, counted: int) -> None:
        """What follows the last document may not be one that is cut short; `line` is that of the place `counted`."""
        rest = _END.split(text)[-1]
        plain = rest.decode(errors="replace")
        if without_tags(plain).strip() or "<doc" in plain.lower():
            line += text.count(b"\n", counted, len(text) - len(rest.lstrip()))
            message = "what begins here has no </DOC>: the file is cut short, or is no TREC file."
            raise FormatError(message, self.path, line)


def _last_end(block: bytes) -> int:
    """Where the last document of a block ends, 0 where none does."""
    usual = block.rfind(_USUAL_END)
    if usual >= 0:
        return usual + len(_USUAL_END)
    return max((end.end() for end in _END.finditer(block)), default=0)


def _find(data: bytes, known: frozenset[bytes]) -> tuple[int, list[tuple[int, bytes]]]:
    """How many documents a block has, and those to be parsed with their places in it."""
    marks = _MARKS.findall(data)  # a number, an end, a number, an end …
    numbers, ends = marks[::2], marks[1::2]
    regular = len(numbers) == len(ends) and b"" not in numbers and not any(ends)
    if regular and known.isdisjoint(numbers):
        return len(ends), []
    if regular and data.count(_USUAL_END) == len(ends):
        spans = _spans(data, [number for number in numbers if number in known])
        if spans is not None:
            return len(ends), [(start, data[start:end]) for start, end in spans]
    pieces = list(_pieces(data))
    if not regular:
        numbers = ends = [_number(data[start:end]) for start, end in pieces]
    wanted = (piece for number, piece in zip(numbers, pieces, strict=True) if number is None or number in known)
    return len(ends), [(start, data[start:end]) for start, end in wanted]


def _spans(data: bytes, numbers: Sequence[bytes]) -> list[tuple[int, int]] | None:
    """Where the documents with these numbers begin and end; None where a number is not written in a usual way."""
    spans, cursor = [], 0
    for number in numbers:
        found = (data.find(form % number, cursor) for form in _USUAL_NUMBERS)
        at = next((place for place in found if place >= 0), -1)
        if at < 0:
            return None
        start, cursor = data.rfind(_USUAL_END, 0, at), data.find(_USUAL_END, at)
        spans.append((start + len(_USUAL_END) if start >= 0 else 0, cursor))
    return spans


def _pieces(data: bytes) -> Iterator[tuple[int, int]]:
    """Where documents begin and end, without their last tag."""
    start = 0
    for end in _END.finditer(data):
        yield start, end.start()
        start = end.end()


def _number(piece: bytes) -> bytes | None:
    """The number of a document where it is plain to see, else None."""
    numbers: list[bytes] = _MARKS.findall(piece)
    return numbers[0] if len(numbers) == 1 and piece.count(_OPEN) == 1 else None
