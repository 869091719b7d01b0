"""Searching TREC markup for wanted documents without parsing the others.

Most of the time of reading such a file goes into tags that end nowhere. Here a file is cut at the ends of documents,
the number is cut out of each, and only wanted documents, and any whose number is not plain to see, are parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ringtrue.data.formats.markup import without_tags
from ringtrue.data.formats.streams import read_texts
from ringtrue.data.formats.trec import parse_document
from ringtrue.data.notes import Notes
from ringtrue.errors import FormatError
from ringtrue.subsampling.pieces import Place, Step, Wanted, file_identity

_END = re.compile(r"</[dD][oO][cC]\s*>")
_OPEN, _CLOSE = "<DOCNO>", "</DOCNO>"
_PLAIN = re.compile(r"[^\s<&]+")


@dataclass(frozen=True)
class TrecFile:
    """A file of TREC markup; it is read from its beginning wherever a search starts."""

    path: Path

    @property
    def name(self) -> str:
        """Its path."""
        return str(self.path)

    def identity(self) -> tuple[str, ...]:
        """Path, size and time of change."""
        return file_identity(self.path)

    def search(self, wanted: Wanted, start: Place) -> Iterator[Step]:
        """Look at one block of documents after the other; the account of what was tolerated begins anew."""
        notes = Notes()
        rest, line, read = "", 1, 0
        for _, text in read_texts(self.path, notes):
            *pieces, rest = _END.split(rest + text)
            found = []
            for piece in pieces:
                read += 1
                number = _number(piece)
                if read > start.read and (number is None or number in wanted):
                    document = parse_document(piece, self.path, line, notes)[1]
                    found += [document] if document.doc_id in wanted else []
                line += piece.count("\n")
            if read > start.read:
                yield Step(Place(read, read, tuple(notes)), tuple(found))
        if without_tags(rest).strip() or "<doc" in rest.lower():
            line += rest.count("\n", 0, len(rest) - len(rest.lstrip()))
            message = "what begins here has no </DOC>: the file is cut short, or is no TREC file."
            raise FormatError(message, self.path, line)


def _number(piece: str) -> str | None:
    """The number of a document where it is plain to see, else None."""
    start = piece.find(_OPEN)
    end = piece.find(_CLOSE, start)
    if start < 0 or end < 0 or piece.find(_OPEN, end) >= 0:
        return None
    number = piece[start + len(_OPEN) : end].strip()
    return number if _PLAIN.fullmatch(number) else None
