"""Another way to write a query, and files of them.

`variations.csv` has the fields of `Variation` as columns. The study's own files are read as well: their columns `q_id`,
`transformation_type` and `original_query` are its `query_id`, `category` and `original`, and their labels are left to
who asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TextIO

from ringtrue.data.formats.detect import Role, role_of
from ringtrue.data.formats.tables import Row, Shape, first_cells, read_rows, write_csv
from ringtrue.data.notes import Notes
from ringtrue.errors import FormatError


class Variation(NamedTuple):
    """What a method made of a query; `variation` is None where it could make nothing, and `reason` says why.

    A `reason` beside a variation says why there are not as many as were asked for.
    """

    query_id: str
    category: str
    method: str
    original: str
    variation: str | None
    seed: int | None
    reason: str = ""


_OTHER_NAMES = {"query_id": "q_id", "category": "transformation_type", "original": "original_query"}
_NEEDED = ("query_id", "method", "variation")
_COLUMNS = (*Variation._fields, *_OTHER_NAMES.values())


def write_variations(file: TextIO, variations: Iterable[Variation]) -> None:
    """Write CSV with a header; open the file with `newline=""`."""
    write_csv(file, chain((Variation._fields,), variations))


def read_variations(path: str | Path, notes: Notes) -> Iterator[Variation]:
    """The rows of `variations.csv` or of one of the study's files; an empty variation is None."""
    _check_header(path)
    for line, cells in read_rows(path, Shape.CSV, notes, _COLUMNS):
        yield variation_of(path, (line, cells))


def _check_header(path: str | Path) -> None:
    """Say what a file is that has not the columns of variations."""
    found = {name.strip('"') for name in first_cells(path, ",")}
    missing = [name for name in _NEEDED if name not in found and _OTHER_NAMES.get(name) not in found]
    if not missing:
        return
    role = role_of(path)
    what = f"this file holds {role.value}, not variations: " if role else ""
    hint = "; make them variations with `vary --generator Recorded:path=FILE`" if role is Role.VARIANTS else ""
    told = f"no column {missing[0]}; the first line should name the columns {', '.join(_NEEDED)}{hint}."
    raise FormatError(what + told, path)


def variation_of(path: str | Path, row: Row) -> Variation:
    """One row of such a file."""
    line, cells = row
    found = {name: _cell(cells.get(name, cells.get(_OTHER_NAMES.get(name, "")))) for name in Variation._fields}
    for name in _NEEDED:
        if name not in cells and _OTHER_NAMES.get(name) not in cells:
            raise FormatError(f"no column {name}; found {', '.join(cells)}.", path, line)
    if not found["query_id"] or not found["method"]:
        raise FormatError("a row without a query id or without a method.", path, line)
    seed = found.pop("seed")
    if seed and not seed.removeprefix("-").isdecimal():
        raise FormatError(f"the seed should be a whole number, not {seed!r}.", path, line)
    text = found.pop("variation")
    return Variation(**found, variation=text or None, seed=int(seed) if seed else None)


def _cell(value: object) -> str:
    return "" if value is None else str(value).strip()
