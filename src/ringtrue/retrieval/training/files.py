"""Triples on disk: JSON Lines, CSV, TSV with a header or Parquet, by text or by id; and MS MARCO's bare TSV.

Columns are `query`, `relevant` and `non_relevant` for texts, the same with `_id` for ids of a collection's queries
and documents. TSV without a header has the three texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ringtrue.data.collection import Collection
from ringtrue.data.formats.streams import check_file, read_head, read_lines
from ringtrue.data.formats.tables import Shape, first_cells, read_rows, shape_of
from ringtrue.data.notes import Notes
from ringtrue.errors import FormatError
from ringtrue.retrieval.training.triples import Triples

_COLUMNS = ("query", "relevant", "non_relevant")
_FEWEST_LINES = 3  # that ids can be told from texts by
_WANTED = (*_COLUMNS, *(f"{name}_id" for name in _COLUMNS))


def read_triples(path: str | Path, notes: Notes, collection: Collection | None = None) -> Triples:
    """All triples of a file; ids are looked up in `collection`, a text in the file comes before its id."""
    check_file(path)
    shape = shape_of(path)
    if shape in (Shape.MARKUP, Shape.PLAIN):
        raise FormatError(f"triples are JSON Lines, CSV, TSV or Parquet with {', '.join(_COLUMNS)}.", path)
    if shape is Shape.TSV and not set(first_cells(path)) & set(_WANTED):
        _check_texts(path)
        return Triples.from_texts(_bare(path, notes))
    texts = _Texts(path, collection)
    rows = (
        (line, tuple(texts.of(column, cells, line) for column in _COLUMNS))
        for line, cells in read_rows(path, shape, notes, _WANTED)
    )
    return Triples.from_texts(_checked(rows, path))


def write_triples(path: str | Path, triples: Triples) -> None:
    """Write JSON Lines with texts, which `read_triples` reads."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for number in range(len(triples)):
            row = dict(zip(_COLUMNS, triples.texts(number), strict=True))
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _check_texts(path: str | Path) -> None:
    """A log, or ids without names for their columns, would be trained on as if they were texts."""
    rows = [line.split("\t") for line in read_head(path).splitlines()]
    others = [cells[2].strip() for cells in rows if len(cells) == 3]
    if len(others) >= _FEWEST_LINES and not any(" " in other for other in others):
        message = (
            "the third column has single words, as ids and sources are, where the texts of documents that are not "
            f"relevant are expected; where these are ids, name the columns in a first line: {', '.join(_WANTED[3:])}."
        )
        raise FormatError(message, path, 1)


def _bare(path: str | Path, notes: Notes) -> Iterator[tuple[str, str, str]]:
    """Three texts a line."""
    for number, line in read_lines(path, notes):
        cells = line.split("\t")
        if len(cells) == 3:
            yield cells[0], cells[1], cells[2]
        elif line.strip():
            raise FormatError(f"{len(cells)} columns where three are expected: {', '.join(_COLUMNS)}.", path, number)
        else:
            notes.add("blank lines skipped", f"{path}, line {number}")


def _checked(rows: Iterator[tuple[int, tuple[str, ...]]], path: str | Path) -> Iterator[tuple[str, str, str]]:
    """Queries must have a relevant document: an empty cell there is an error, other blank texts are counted later."""
    for line, (query, relevant, other) in rows:
        if not relevant.strip():
            raise FormatError(f"the query {query!r} has no relevant document.", path, line)
        yield query, relevant, other


@dataclass
class _Texts:
    """The texts of cells, by themselves or by id; the collection is read when the first id comes."""

    path: str | Path
    collection: Collection | None
    _known: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def of(self, column: str, cells: Mapping[str, object], line: int) -> str:
        text = cells.get(column)
        if isinstance(text, str):
            return text
        one = cells.get(f"{column}_id")
        if one is None:
            raise FormatError(f"there is neither {column!r} nor '{column}_id'.", self.path, line)
        if self.collection is None:
            raise FormatError(f"'{column}_id' is {one!r}; name the collection that has its text.", self.path, line)
        found = self._texts("query" if column == "query" else "document").get(str(one))
        if found is None:
            raise FormatError(f"'{column}_id' {one!r} is not in {self.collection.name!r}.", self.path, line)
        return found

    def _texts(self, kind: str) -> Mapping[str, str]:
        assert self.collection is not None
        if kind not in self._known:
            log = self.collection.log() if self.collection.has_log else ()
            topics = self.collection.queries if self.collection.has_queries else ()
            self._known[kind] = (
                {document.doc_id: document.body for document in self.collection.documents()}
                if kind == "document"
                else {entry.query_id: entry.text for entry in log} | {topic.query_id: topic.title for topic in topics}
            )
        return self._known[kind]
