"""Rows with named cells from JSON Lines, CSV, TSV with a header, and Parquet; and telling such files apart.

Which names mean what is decided elsewhere. Column names are compared in lower case.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from ringtrue.data.formats.streams import check_file, plain_name, read_blocks, read_head, read_lines, read_texts
from ringtrue.data.notes import Notes
from ringtrue.errors import FormatError

_PARQUET = b"PAR1"
_PARQUET_ROWS = 1 << 14
_MARKUP = re.compile(r"<(?:top|topic|doc|docno)[\s>]", re.IGNORECASE)
_OBJECT = re.compile(r'\{\s*(?:"|\}|$)')
_CSV_HEADER = re.compile(r'"?(?:\w+[_-]id|_?id|[qp]id|docid|docno|topic)"?(?:,[\w "-]+)+')
_BROKEN = re.compile("[\x00\ud800-\udfff]")

csv.field_size_limit(1 << 30)  # a document is one cell, and the module's own limit is 131,072 characters


class Shape(Enum):
    """How a file is written, whatever it holds."""

    PARQUET = "Parquet"
    MARKUP = "TREC markup"
    JSONL = "JSON Lines"
    CSV = "CSV"
    TSV = "TSV"
    PLAIN = "plain lines"


# the line that a row begins in (in Parquet its number), and its cells by name
Row = tuple[int, Mapping[str, object]]


def shape_of(path: str | Path) -> Shape:
    """Tell by the first bytes; CSV against plain lines by the name, or by a header line."""
    if next(read_blocks(check_file(path))).startswith(_PARQUET):
        return Shape.PARQUET
    head = read_head(path).lstrip()
    first = head.split("\n", 1)[0]
    if head.startswith("<") and _MARKUP.search(head):
        return Shape.MARKUP
    if _OBJECT.match(head):
        return Shape.JSONL
    if re.match(r"<\?xml|\[\s*\{", head):
        raise FormatError("neither TREC topics nor one JSON object a line; for a JSON array: jq -c '.[]'.", path)
    if "\t" in first:
        return Shape.TSV
    name = plain_name(path)
    if name.endswith(".csv") or _CSV_HEADER.fullmatch(first.lower()):
        return Shape.CSV
    return Shape.TSV if name.endswith(".tsv") else Shape.PLAIN


def read_rows(path: str | Path, shape: Shape, notes: Notes, wanted: Collection[str]) -> Iterator[Row]:
    """The rows of a table that names its columns; only columns named in `wanted` need to be there."""
    if shape is Shape.PARQUET:
        return _parquet_rows(path, wanted)
    if shape is Shape.JSONL:
        return _json_rows(path, notes)
    return _delimited_rows(path, shape, notes)


def write_csv(file: TextIO, rows: Iterable[Sequence[object]]) -> None:
    """Rows between commas, which `read_rows` reads; open the file with `newline=""`."""
    plain = csv.writer(file, lineterminator="\n")
    quoted = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)  # a CR alone is no reason for `plain`
    for row in rows:
        writer = quoted if any(isinstance(cell, str) and "\r" in cell for cell in row) else plain
        writer.writerow(row)


def first_cells(path: str | Path, separator: str | None = "\t") -> list[str]:
    """The cells of the first line that is not empty, in lower case, whether or not they are names."""
    return [cell.strip().lower() for cell in read_head(path).lstrip("\n").split("\n", 1)[0].split(separator)]


def _json_rows(path: str | Path, notes: Notes) -> Iterator[Row]:
    """One object a line; a piece of the file is parsed at once, which is three times as fast as line by line."""
    for first, text in read_texts(path, notes):
        found = _objects(text.removesuffix("\n"))
        rows = enumerate(found, first) if found is not None else _objects_by_line(text, first, path, notes)
        if "\\ud" in text or "\\uD" in text or "\\u0000" in text:
            rows = ((number, mended(cells, f"{path}, line {number}", notes)) for number, cells in rows)
        yield from rows


def _objects(lines: str) -> list[dict[str, object]] | None:
    """All lines as objects, or None where anything is wrong with one of them."""
    breaks = lines.count("\n")
    if lines.count("}\n{") != breaks:  # a line that does not begin and end an object
        return None
    try:
        found = json.loads(f"[{lines.replace(chr(10), ',')}]")
    except (ValueError, RecursionError):
        return None
    return found if len(found) == breaks + 1 and all(type(one) is dict for one in found) else None


def _objects_by_line(text: str, first: int, path: str | Path, notes: Notes) -> Iterator[tuple[int, dict[str, object]]]:
    """Line by line, where one of them is blank or broken."""
    for number, line in enumerate(text.removesuffix("\n").split("\n"), first):
        if line.strip():
            yield number, _object(line, path, number)
        else:
            notes.add("blank lines skipped", f"{path}, line {number}")


def _object(line: str, path: str | Path, number: int) -> dict[str, object]:
    """One line as an object, or the fault in it."""
    try:
        found = json.loads(line)
    except json.JSONDecodeError as error:
        raise FormatError(f"not valid JSON: {error.msg} at character {error.colno}.", path, number) from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not usable JSON: {error}.", path, number) from error
    if not isinstance(found, dict):
        raise FormatError(f"a JSON object is expected on each line, not {line.strip()[:40]!r}.", path, number)
    return found


def mended(cells: dict[str, object], where: str, notes: Notes) -> dict[str, object]:
    """The object with U+FFFD for what JSON can hold and other text files cannot: halves of characters, NUL."""
    whole = {str(_whole(name)): _whole(value) for name, value in cells.items()}
    if whole == cells:
        return cells
    notes.add("rows with halves of characters or NUL, replaced", where)
    return whole


def _whole(value: object) -> object:
    """The same with all its texts mended."""
    if isinstance(value, str):
        return _BROKEN.sub("\ufffd", value)
    if isinstance(value, list):
        return [_whole(one) for one in value]
    return {_whole(name): _whole(one) for name, one in value.items()} if isinstance(value, dict) else value


def _delimited_rows(path: str | Path, shape: Shape, notes: Notes) -> Iterator[Row]:
    """Rows below a first line that names the columns."""
    cells = _tsv_cells(path, notes) if shape is Shape.TSV else _csv_cells(path, notes)
    names = next((values for _, values in cells if any(values)), None)
    if names is None:
        raise FormatError("the file has no line, so that no columns are named.", path)
    header = [name.strip().lower() for name in names]
    for number, values in cells:
        if not any(values):
            notes.add("blank lines skipped", f"{path}, line {number}")
        elif len(values) != len(header):
            raise FormatError(f"{len(values)} columns where the header has {len(header)}.", path, number)
        else:
            yield number, dict(zip(header, values, strict=True))


def _tsv_cells(path: str | Path, notes: Notes) -> Iterator[tuple[int, list[str]]]:
    """Cells between tabs; a quote is a character like any other."""
    return ((number, line.split("\t")) for number, line in read_lines(path, notes))


def _csv_cells(path: str | Path, notes: Notes) -> Iterator[tuple[int, list[str]]]:
    """Cells between commas, in quotes where they hold commas or line ends."""
    reader = csv.reader((f"{text}\n" for _, text in read_lines(path, notes)), strict=True)
    number = 1
    try:
        for cells in reader:
            yield number, cells
            number = reader.line_num + 1
    except csv.Error as error:
        raise FormatError(f"not valid CSV: {error}; is a quote missing?", path, number) from error


def _parquet_rows(path: str | Path, wanted: Collection[str]) -> Iterator[Row]:
    """The wanted columns of a Parquet file, some thousand rows at a time."""
    try:
        with pq.ParquetFile(path) as file:
            names = {name: name.lower() for name in file.schema_arrow.names}
            columns = [name for name, known in names.items() if known in wanted] or list(names)
            number = 1
            for batch in file.iter_batches(batch_size=_PARQUET_ROWS, columns=columns):
                keys = [names[name] for name in batch.schema.names]
                for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    yield number, dict(zip(keys, cells, strict=True))
                    number += 1
    except (pa.ArrowException, OSError) as error:
        raise FormatError(f"damaged Parquet, or compressed once more ({error}).", path) from error
