"""What holds for records of every format: ids are distinct, judgments do not contradict each other.

Readers give (line, record) pairs; these functions take the line away and use it to say where something is wrong.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ringtrue.data.notes import Notes
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Document, Qrel, Query
from ringtrue.errors import FormatError

_AHEAD = 4096  # documents that are read before their ids are looked up together
_RECENT = 1 << 18  # ids that are kept in a dictionary before they are packed


def in_columns(count: int) -> str:
    """How wide a line is, in words."""
    return f"{count} column" if count == 1 else f"{count} columns"


def distinct_queries(rows: Iterable[tuple[int, Query]], path: str | Path, notes: Notes) -> tuple[Query, ...]:
    """All queries; two of one id are an error, and so is having none, or none with a text.

    One without a title may still have a description or variants: it is kept and counted, as is one without any text.
    """
    lines: dict[str, int] = {}
    queries = []
    for line, query in rows:
        first = lines.setdefault(query.query_id, line)
        if first != line:
            message = f"query id {query.query_id!r} was used before, in line {first}; ids must be distinct."
            raise FormatError(message, path, line)
        queries.append(query)
        if not query.title:
            what = "a title, with other texts" if _has_text(query) else "any text"
            notes.add(f"queries without {what}", f"{path}, line {line}")
    if not queries:
        raise FormatError("no queries in this file.", path)
    if not any(map(_has_text, queries)):
        query_id, line = next(iter(lines.items()))
        raise FormatError(f"query {query_id!r} has no text, and no other one of this file has.", path, line)
    return tuple(queries)


def _has_text(query: Query) -> bool:
    return any(query.texts(narrative=True))


def agreeing_qrels(rows: Iterable[tuple[int, Qrel]], path: str | Path, notes: Notes) -> Qrels:
    """All judgments; a repeated one is counted, one that contradicts an earlier one is an error."""
    grades: dict[tuple[str, str], int] = {}
    lines = array("q")
    for line, (query_id, doc_id, relevance) in rows:
        key = (query_id, doc_id)
        known = grades.setdefault(key, relevance)
        if len(grades) > len(lines):
            lines.append(line)
        elif known == relevance:
            notes.add("repeated judgments counted once", f"{path}, line {line}")
        else:
            first = lines[list(grades).index(key)]
            message = (
                f"topic {query_id!r}, document {doc_id!r} is judged {relevance} here and {known} in line {first}; "
                "keep one of the two."
            )
            raise FormatError(message, path, line)
    if not grades:
        raise FormatError("no judgments in this file.", path)
    return Qrels.from_records(Qrel(*key, relevance) for key, relevance in grades.items())


def grade(text: str, path: str | Path, line: int) -> int:
    """A relevance grade: a whole number that fits 32 bits."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        raise FormatError(f"the grade should be a whole number, not {text!r}.", path, line)
    return int(text)


def distinct_documents(rows: Iterable[tuple[int, Document]], path: str | Path, notes: Notes) -> Iterator[Document]:
    """Each document once, streaming; the same one again is counted, another text under a known id is an error.

    Sixteen bytes a document are kept: hashes of its id and of its texts.
    """
    seen = _Seen()
    source = iter(rows)
    ahead = 16  # grows, so that the first documents come at once
    empty = True
    while block := list(islice(source, ahead)):
        ahead, empty = min(2 * ahead, _AHEAD), False
        texts = [hash(document) for _, document in block]
        earlier = seen.add([hash(document.doc_id) for _, document in block], texts)
        for before, now, (line, document) in zip(earlier, texts, block, strict=True):
            if before is None:
                if not document.text and not document.title:
                    notes.add("documents without any text, kept", f"{path}, line {line}")
                yield document
            elif before == now:
                notes.add("repeated documents counted once", f"{path}, line {line}")
            else:
                message = f"document id {document.doc_id!r} was used before, for another text; ids must be distinct."
                raise FormatError(message, path, line)
    if empty:
        raise FormatError("no documents in this file.", path)


class _Seen:
    """Hashes of texts by hashes of ids: recent ones in a dictionary, the rest in sorted arrays that double in size."""

    def __init__(self) -> None:
        """Start with nothing seen."""
        self._recent: dict[int, int] = {}
        self._packed: list[NDArray[np.int64]] = []

    def add(self, ids: list[int], texts: list[int]) -> list[int | None]:
        """Take up some documents; for each the texts that its id had before, or None where it is new."""
        earlier = self._look_up(ids)
        for place, (doc_id, text) in enumerate(zip(ids, texts, strict=True)):
            if earlier[place] is None:
                earlier[place] = self._recent.get(doc_id)
                self._recent.setdefault(doc_id, text)
        if len(self._recent) >= _RECENT:
            self._pack()
        return earlier

    def _look_up(self, ids: list[int]) -> list[int | None]:
        """The texts of each id that is in the arrays."""
        found: list[int | None] = [None] * len(ids)
        wanted = np.array(ids, dtype=np.int64)
        for table in self._packed:
            places = np.minimum(np.searchsorted(table[0], wanted), table.shape[1] - 1)
            for hit in np.flatnonzero(table[0, places] == wanted).tolist():
                found[hit] = int(table[1, places[hit]])
        return found

    def _pack(self) -> None:
        """Move the dictionary to the arrays; arrays of like size become one."""
        table = np.array([list(self._recent), list(self._recent.values())], dtype=np.int64)
        self._recent = {}
        while self._packed and self._packed[-1].shape[1] <= 2 * table.shape[1]:
            table = np.concatenate((self._packed.pop(), table), axis=1)
        self._packed.append(np.ascontiguousarray(table[:, np.argsort(table[0], kind="stable")]))
