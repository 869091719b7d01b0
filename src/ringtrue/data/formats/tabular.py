"""Queries, documents, judgments and training logs from tables: TSV, CSV, JSON Lines, Parquet, one query a line.

Columns are found by name, under the names that collections in the wild give them; TSV may go without a header.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ringtrue.data.formats import checks
from ringtrue.data.formats.checks import in_columns
from ringtrue.data.formats.columns import LONG
from ringtrue.data.formats.streams import read_head, read_lines
from ringtrue.data.formats.tables import Row, Shape, first_cells, read_rows
from ringtrue.data.notes import Notes
from ringtrue.data.records import Document, LogQuery, Qrel, Query
from ringtrue.errors import FormatError


class _Field(NamedTuple):
    """What a column means, and the names that it goes by, the first found wins."""

    what: str
    names: tuple[str, ...]


QUERY_ID = _Field("query id", ("_id", "query_id", "query-id", "qid", "q_id", "topic_id", "topic", "id"))
QUERY_TEXT = _Field("query text", ("text", "query", "title"))
DOC_ID = _Field("document id", ("_id", "doc_id", "pid", "docid", "docno", "id"))
DOC_TEXT = _Field("document text", ("text", "contents", "body", "passage"))
DOC_COLUMNS = (*DOC_ID.names, *DOC_TEXT.names, "title")
JUDGED_ID = _Field("document id", ("corpus-id", "corpus_id", "doc_id", "docid", "docno", "did", "pid"))
GRADE = _Field("grade", ("score", "relevance", "rel", "label", "grade"))
_FEWEST_LINES = 3  # that two columns can be told apart by
_MORE = ("description", "desc", "narrative", "narr", "variants")


def read_queries(path: str | Path, shape: Shape, notes: Notes) -> tuple[Query, ...]:
    """All queries of a table or of plain lines; without ids a line's number is its query's id."""
    if is_bare(path, shape):
        return checks.distinct_queries(_bare_queries(path, shape, notes), path, notes)
    wanted = (*QUERY_ID.names, *QUERY_TEXT.names, *_MORE)
    return checks.distinct_queries(_named_queries(read_rows(path, shape, notes, wanted), path), path, notes)


def read_documents(path: str | Path, shape: Shape, notes: Notes) -> Iterator[tuple[int, Document]]:
    """The documents of a table with their lines, streaming; TSV without a header is id, text[, title]."""
    if shape is Shape.PLAIN:
        raise FormatError("documents need ids: give TSV (id, text), JSON Lines, Parquet or TREC markup.", path)
    if shape is Shape.TSV and not _has_header(path, DOC_ID, DOC_TEXT):
        for number, values in _bare_cells(path, notes, "id, text[, title]"):
            yield number, Document(*(value.strip() for value in values))
        return
    yield from named_documents(read_rows(path, shape, notes, DOC_COLUMNS), path)


def named_documents(rows: Iterator[Row], path: str | Path) -> Iterator[tuple[int, Document]]:
    """The documents in rows of a table that names its columns, with their lines."""
    for line, cells, doc_id, text in _identified(rows, DOC_ID, DOC_TEXT, path):
        yield line, Document(doc_id, text, _text(cells.get("title")))


def read_qrels(path: str | Path, shape: Shape, notes: Notes) -> Iterator[tuple[int, Qrel]]:
    """The judgments of a table that names its columns, with their lines."""
    rows = read_rows(path, shape, notes, (*QUERY_ID.names, *JUDGED_ID.names, *GRADE.names))
    for line, cells in rows:
        value = cells[_name(line, cells, GRADE, path)]
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        query_id, doc_id = (_id(line, cells, field, path) for field in (QUERY_ID, JUDGED_ID))
        yield line, Qrel(query_id, doc_id, checks.grade(str(value), path, line))


def has_qrel_header(path: str | Path) -> bool:
    """Whether the first line names the columns of judgments."""
    return _has_header(path, QUERY_ID, JUDGED_ID, GRADE)


def read_log(path: str | Path, shape: Shape, notes: Notes) -> Iterator[LogQuery]:
    """A training log, streaming; ids are not checked, for a log may give a query several times.

    Lines without text are counted and skipped, lines over 100,000 characters are counted and kept.
    """
    if is_bare(path, shape):
        return bare_entries(read_lines(path, notes), path, shape, notes)
    wanted = (*QUERY_ID.names, *QUERY_TEXT.names, "source", "doc_ids", "positives")
    return _named_log(read_rows(path, shape, notes, wanted), path, notes)


def is_bare(path: str | Path, shape: Shape) -> bool:
    """Whether queries come as TSV without a header (id, text[, source]) or as plain lines."""
    if shape is Shape.TSV and not _has_header(path, QUERY_ID, QUERY_TEXT):
        _check_no_header(path)
        _check_order(path)
        return True
    return shape is Shape.PLAIN


def _check_no_header(path: str | Path) -> None:
    """The names of columns would be a query."""
    names = first_cells(path)
    if names[0] in QUERY_ID.names:
        _name(1, dict.fromkeys(names), QUERY_TEXT, path)


def _check_order(path: str | Path) -> None:
    """Text before id would be read without a word, and no text would ever be found again."""
    lines = [line.split("\t") for line in read_head(path).splitlines()]
    pairs = [[cell.strip() for cell in cells[:2]] for cells in lines if len(cells) > 1]
    texts = sum(" " in first for first, _ in pairs)
    if len(pairs) >= _FEWEST_LINES and 2 * texts > len(pairs) and not any(" " in second for _, second in pairs):
        message = "the first column has texts and the second ids, as it seems: put the id first, then the text."
        raise FormatError(message, path, 1)


def write_log(path: str | Path, log: Iterable[LogQuery]) -> None:
    """Write JSON Lines that `read_log` reads."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for query_id, text, source, doc_ids in log:
            row = {"_id": query_id, "text": text, "source": source, "doc_ids": list(doc_ids)}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _bare_queries(path: str | Path, shape: Shape, notes: Notes) -> Iterator[tuple[int, Query]]:
    """Queries of TSV without a header (id, text[, source]) or of plain lines."""
    if shape is Shape.TSV:
        for number, cells in _bare_cells(path, notes, "id, text[, source]"):
            yield number, Query(cells[0].strip(), cells[1].strip())
        return
    for number, line in read_lines(path, notes):
        if text := line.strip():
            yield number, Query(str(number), text)
        else:
            notes.add("blank lines skipped", f"{path}, line {number}")


def _bare_cells(path: str | Path, notes: Notes, names: str) -> Iterator[tuple[int, list[str]]]:
    """Two or three cells a line, the first of them not empty."""
    for number, line in read_lines(path, notes):
        cells = line.split("\t")
        if 2 <= len(cells) <= 3 and cells[0].strip():
            yield number, cells
        elif line.strip():
            message = f"{in_columns(len(cells))} where {names} are expected, separated by tabs"
            raise FormatError(f"{'an empty id' if not cells[0].strip() else message}.", path, number)
        else:
            notes.add("blank lines skipped", f"{path}, line {number}")


def bare_entries(lines: Iterable[tuple[int, str]], path: str | Path, shape: Shape, notes: Notes) -> Iterator[LogQuery]:
    """Numbered lines as a log's entries; what needs no second look goes a short way."""
    new, tabs = tuple.__new__, shape is Shape.TSV  # LogQuery(…) itself would be half of the work
    for number, line in lines:
        cells = line.split("\t") if tabs else [str(number), line.strip(), ""]
        query_id = cells[0].strip()
        if len(cells) == 3 and query_id and cells[1] and not cells[1].isspace() and len(line) <= LONG:
            yield new(LogQuery, (query_id, cells[1].strip(), cells[2].strip(), ()))
        elif entry := _odd_log_line(number, line, cells, path, notes):
            yield entry


def _odd_log_line(number: int, line: str, cells: list[str], path: str | Path, notes: Notes) -> LogQuery | None:
    """A line of a log without a source, over-long, without text (then None), or broken."""
    if len(line) > LONG:
        notes.add("lines over 100,000 characters", f"{path}, line {number}")
    query_id = cells[0].strip()
    if not line.strip() or (2 <= len(cells) <= 3 and query_id and not cells[1].strip()):
        notes.add("lines without text skipped", f"{path}, line {number}")
        return None
    if not 2 <= len(cells) <= 3:
        message = f"{in_columns(len(cells))} where id, text[, source] are expected, separated by tabs."
        raise FormatError(message, path, number)
    if not query_id:
        raise FormatError("an empty id.", path, number)
    return LogQuery(query_id, cells[1].strip(), "".join(cells[2:]).strip())


def _named_log(rows: Iterator[Row], path: str | Path, notes: Notes) -> Iterator[LogQuery]:
    """The log of a table that names its columns."""
    for line, cells, query_id, text in _identified(rows, QUERY_ID, QUERY_TEXT, path):
        if len(text) > LONG:
            notes.add("lines over 100,000 characters", f"{path}, line {line}")
        if text:
            positives = cells.get("doc_ids") or cells.get("positives") or ()
            doc_ids = tuple(positives.split()) if isinstance(positives, str) else _texts(positives, path, line)
            yield LogQuery(query_id, text, _text(cells.get("source")), doc_ids)
        else:
            notes.add("lines without text skipped", f"{path}, line {line}")


def _named_queries(rows: Iterator[Row], path: str | Path) -> Iterator[tuple[int, Query]]:
    """The queries of a table that names its columns."""
    for line, cells, query_id, text in _identified(map(_titled, rows), QUERY_ID, QUERY_TEXT, path):
        description = _text(cells.get("description") or cells.get("desc"))
        narrative = _text(cells.get("narrative") or cells.get("narr"))
        variants = _texts(cells.get("variants") or (), path, line)
        yield line, Query(query_id, text, description, narrative, variants)


def _titled(row: Row) -> Row:
    """The same row; one that has other texts alone gets an empty title."""
    line, cells = row
    bare = cells.keys().isdisjoint(QUERY_TEXT.names) and not cells.keys().isdisjoint(_MORE)
    return (line, {**cells, QUERY_TEXT.names[0]: ""}) if bare else row


def _has_header(path: str | Path, *fields: _Field) -> bool:
    """Whether the first line holds a name for each of these columns."""
    cells = first_cells(path)
    return all(any(name in cells for name in field.names) for field in fields)


def _identified(
    rows: Iterator[Row], id_field: _Field, text_field: _Field, path: str | Path
) -> Iterator[tuple[int, Mapping[str, object], str, str]]:
    """Rows with their id and text; names are looked up again only where the last ones do not do."""
    id_name = text_name = ""
    for line, cells in rows:
        found, text = cells.get(id_name), cells.get(text_name)
        if type(found) is str and type(text) is str and (known := found.strip()):
            yield line, cells, known, text.strip()
        else:
            id_name, text_name = (_name(line, cells, field, path) for field in (id_field, text_field))
            value = cells[text_name]
            if isinstance(value, list | dict):
                raise FormatError(f"the {text_field.what} should be text, not {str(value)[:40]!r}.", path, line)
            yield line, cells, _id(line, cells, id_field, path), _text(value)


def _name(line: int, cells: Mapping[str, object], field: _Field, path: str | Path) -> str:
    """The first of a field's names that a row has."""
    for name in field.names:
        if name in cells:
            return name
    found = ", ".join(map(str, cells)) or "nothing"
    raise FormatError(f"no {field.what}: found {found}; expected {' or '.join(field.names)}.", path, line)


def _id(line: int, cells: Mapping[str, object], field: _Field, path: str | Path) -> str:
    """An id: text that is not empty, or a whole number."""
    value = cells[_name(line, cells, field, path)]
    if type(value) is int:
        return str(value)
    if isinstance(value, str) and (text := value.strip()):
        return text
    raise FormatError(f"the {field.what} should be text or a whole number, not {value!r}.", path, line)


def _text(value: object) -> str:
    """A cell as text; missing is empty."""
    return value.strip() if isinstance(value, str) else "" if value is None else str(value)


def _texts(values: object, path: str | Path, line: int) -> tuple[str, ...]:
    """A cell that holds a list, as texts; null is none."""
    if not isinstance(values, list | tuple):
        raise FormatError(f"a list is expected, not {str(values)[:40]!r}.", path, line)
    return tuple(str(value) for value in values if value is not None)
