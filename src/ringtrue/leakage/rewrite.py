"""Training files without some of their queries: what stays is the same, byte for byte and in the same order.

Told apart as elsewhere, by content: TSV of queries (with or without a header), TSV of pairs or triples that begin with
a query id, judgments in TREC's or in BEIR's columns, JSON Lines, CSV, Parquet (same values, not the same bytes), one
query a line (its id is the line's number). Left out: TREC markup, in which nobody keeps training data.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import lzma
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from ringtrue.data.formats.detect import Role, role_of
from ringtrue.data.formats.streams import read_blocks, read_head
from ringtrue.data.formats.tables import Shape, first_cells, shape_of
from ringtrue.data.formats.tabular import QUERY_ID, QUERY_TEXT
from ringtrue.errors import FormatError

Kind = Literal["auto", "pairs"]
# given a query's id, its text and its source (None where the file has none): whether the record goes
Goes = Callable[[str, str | None, str | None], bool]

_BOM = b"\xef\xbb\xbf"
_PARQUET_ROWS = 1 << 16
_SOURCE = "source"


class _Writable(Protocol):
    """What compressing files and plain ones have in common."""

    def write(self, data: bytes, /) -> int:
        """Take some bytes."""


class _Record(NamedTuple):
    """A line or more as they stand in the file; without an id they stay: a header, a blank line."""

    raw: bytes
    query_id: str | None
    text: str | None = None
    source: str | None = None


class _Columns(NamedTuple):
    """Where the id is, and where the text and the source are if there are any."""

    query_id: int
    text: int | None
    source: int | None


def rewrite(path: Path, draft: Path, goes: Goes, *, name: str, kind: Kind = "auto") -> None:
    """Write what stays of a file, compressed as `name` says, which the draft will get.

    `pairs` says that lines without tabs begin with a query id; `auto` takes them as one query each.
    """
    shape = shape_of(path)
    if shape is Shape.MARKUP:
        raise FormatError("TREC markup cannot be rewritten; give the training queries as TSV or JSON Lines.", path)
    if shape is Shape.PARQUET:
        _rewrite_parquet(path, draft, goes)
        return
    with _compressed(draft, name) as file:
        for raw, query_id, text, source in _records(path, shape, kind):
            if query_id is None or not goes(query_id, text, source):
                file.write(raw)


@contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """A place beside a file that becomes the file when all went well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _compressed(draft: Path, name: str) -> Iterator[_Writable]:
    """A file to write to, compressed as its name will say; without a time stamp: same input, same bytes."""
    with open(draft, "wb") as file:
        pack = _PACKERS.get(Path(name).suffix.lower())
        if pack is None:
            yield file
        else:
            with pack(file) as packed:
                yield packed


_PACKERS: Mapping[str, Callable[[BinaryIO], AbstractContextManager[_Writable]]] = {
    ".gz": lambda file: gzip.GzipFile("", "wb", 6, file, mtime=0),
    ".bz2": lambda file: bz2.BZ2File(file, "wb"),
    ".xz": lambda file: lzma.LZMAFile(file, "wb"),
    ".zst": lambda file: zstandard.ZstdCompressor().stream_writer(file, closefd=False),
}


def _records(path: Path, shape: Shape, kind: Kind) -> Iterator[_Record]:
    """The records of a text file, in whatever way it is written."""
    if shape is Shape.JSONL:
        return _json_records(path)
    if shape is Shape.CSV:
        return _csv_records(path)
    if shape is Shape.TSV:
        return _tsv_records(path)
    if kind == "pairs" or role_of(path) is Role.QRELS:
        return _column_records(path)
    return _numbered_records(path)


def _lines(path: Path) -> Iterator[bytes]:
    """All lines with their ends."""
    rest = b""
    for block in read_blocks(path):
        *lines, rest = (rest + block).split(b"\n")
        yield from (line + b"\n" for line in lines)
    if rest:
        yield rest


def _decoded(line: bytes) -> str:
    """A line without its end, as the readers of logs see it."""
    line = line.rstrip(b"\r\n").removeprefix(_BOM)
    for encoding in ("utf-8", "cp1252"):
        try:
            return line.decode(encoding)
        except UnicodeDecodeError:
            continue
    return line.decode("latin-1")


def _json_records(path: Path) -> Iterator[_Record]:
    """One object a line."""
    for number, line in enumerate(_lines(path), start=1):
        text = _decoded(line)
        if not text.strip():
            yield _Record(line, None)
            continue
        try:
            cells = json.loads(text)
        except ValueError as error:
            raise FormatError(f"not valid JSON: {error}.", path, number) from error
        id_name = next((name for name in QUERY_ID.names if isinstance(cells, dict) and name in cells), None)
        if id_name is None:
            raise FormatError(f"an object with {' or '.join(QUERY_ID.names)} is expected.", path, number)
        query = next((cells[name] for name in QUERY_TEXT.names if name in cells), None)
        source = cells.get(_SOURCE)
        yield _Record(line, str(cells[id_name]).strip(), _as_text(query), _as_text(source))


def _csv_records(path: Path) -> Iterator[_Record]:
    """Rows below a header; one row may be several lines."""
    taken: list[bytes] = []

    def lines() -> Iterator[str]:
        for line in _lines(path):
            taken.append(line)
            yield f"{_decoded(line)}\n"

    reader = csv.reader(lines(), strict=True)
    columns: _Columns | None = None
    try:
        for cells in reader:
            raw = b"".join(taken)
            taken.clear()
            if columns is None and not cells:
                yield _Record(raw, None)
            elif columns is None:
                columns = _named_columns([cell.strip().lower() for cell in cells], path)
                yield _Record(raw, None)
            else:
                yield _of_cells(raw, cells, columns)
    except csv.Error as error:
        raise FormatError(f"not valid CSV: {error}; is a quote missing?", path, reader.line_num) from error


def _tsv_records(path: Path) -> Iterator[_Record]:
    """Cells between tabs; without a header the id is first, a second with blanks in it the text, a third the source."""
    header = first_cells(path)
    named = header[0] in QUERY_ID.names or (_has(header, QUERY_ID.names) and _has(header, QUERY_TEXT.names))
    seconds = ("".join(line.split("\t")[1:2]) for line in read_head(path).split("\n"))
    bare = _Columns(0, 1, 2) if any(" " in cell for cell in seconds) else _Columns(0, None, None)
    columns = _named_columns(header, path) if named else bare
    for number, line in enumerate(_lines(path)):
        yield _Record(line, None) if named and not number else _of_cells(line, _decoded(line).split("\t"), columns)


def _column_records(path: Path) -> Iterator[_Record]:
    """Columns between blanks, the first of them the query id."""
    for line in _lines(path):
        cells = _decoded(line).split(None, 1)
        yield _Record(line, cells[0] if cells else None)


def is_plain(path: Path) -> bool:
    """Whether lines are without tabs, and no judgments: queries, or pairs between blanks."""
    return shape_of(path) is Shape.PLAIN and role_of(path) is not Role.QRELS


def numbered(path: Path) -> Iterator[tuple[str, str]]:
    """The lines that are not blank, with their numbers."""
    return ((one.query_id, one.text or "") for one in _numbered_records(path) if one.query_id is not None)


def _numbered_records(path: Path) -> Iterator[_Record]:
    """One query a line."""
    for number, line in enumerate(_lines(path), start=1):
        text = _decoded(line).strip()
        yield _Record(line, str(number), text) if text else _Record(line, None)


def _has(header: Sequence[str], names: Sequence[str]) -> bool:
    return any(name in header for name in names)


def _as_text(value: object) -> str | None:
    return None if value is None else str(value)


def _named_columns(header: Sequence[str], path: Path) -> _Columns:
    """The places of the columns by their names."""
    if not _has(header, QUERY_ID.names):
        raise FormatError(f"no {QUERY_ID.what}: found {', '.join(header)}; rename a column to query_id.", path, 1)
    query_id, text, source = (
        next((header.index(name) for name in names if name in header), None)
        for names in (QUERY_ID.names, QUERY_TEXT.names, (_SOURCE,))
    )
    assert query_id is not None
    return _Columns(query_id, text, source)


def _of_cells(raw: bytes, cells: Sequence[str], columns: _Columns) -> _Record:
    """A record by its cells; one that is too short has no id and stays."""
    query_id, text, source = (None if place is None or len(cells) <= place else cells[place] for place in columns)
    if query_id is None or not query_id.strip():
        return _Record(raw, None)
    return _Record(raw, query_id.strip(), text, source)


def _rewrite_parquet(path: Path, draft: Path, goes: Goes) -> None:
    """Filter the rows of a Parquet file, some thousand at a time; the schema stays."""
    with pq.ParquetFile(path) as file:
        columns = _named_columns([name.lower() for name in file.schema_arrow.names], path)
        with pq.ParquetWriter(draft, file.schema_arrow) as writer:
            for batch in file.iter_batches(batch_size=_PARQUET_ROWS):
                ids, texts, sources = (
                    [None] * len(batch) if place is None else batch.column(place).to_pylist() for place in columns
                )
                kept = [
                    not goes(str(query_id).strip(), _as_text(query), _as_text(origin))
                    for query_id, query, origin in zip(ids, texts, sources, strict=True)
                ]
                writer.write_batch(batch.filter(pa.array(kept, pa.bool_())))
