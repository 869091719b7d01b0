"""Read whatever file it is: the format is told by the content; the name only settles what content leaves open."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from enum import Enum
from pathlib import Path

from ringtrue.data.cells import LogBlock, packed, regrouped
from ringtrue.data.formats import checks, tabular, trec
from ringtrue.data.formats.bulk import read_log_pieces
from ringtrue.data.formats.streams import plain_name, read_head
from ringtrue.data.formats.tables import Shape, read_rows, shape_of
from ringtrue.data.formats.variants import VARIANT_LINE
from ringtrue.data.notes import Notes
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Document, LogQuery, Query
from ringtrue.errors import FormatError, InputError


class Role(Enum):
    """What a file is for."""

    DOCUMENTS = "documents"
    QUERIES = "queries"
    QRELS = "judgments"
    VARIANTS = "query variants"
    RUN = "a run"


_NAMES = {
    Role.DOCUMENTS: re.compile(r"doc|passage|corpus|collection"),
    Role.QUERIES: re.compile(r"topic|quer|question|title"),
    Role.QRELS: re.compile(r"qrel|judg"),
}
_LINES = {
    Role.VARIANTS: VARIANT_LINE,
    Role.QRELS: re.compile(r"\s*\S+\s+(?:Q0|\d+(?:\.\d+)?)\s+\S+\s+-?\d+\s*"),
    Role.RUN: re.compile(r"\s*\S+\s+\S+\s+\S+\s+\d+\s+-?[\d.eE+-]+\s+\S+\s*"),
}
_FEWEST_LINES = 3  # "top 10 songs 1990" alone is a query, however much it looks like a judgment
_SURELY_JUDGED = re.compile(r"\s*\S+\s+Q?0\s+\S+\s+-?\d+\s*")
_MOST_LINES = 50
_OF_QUERIES = {*tabular.QUERY_ID.names} - {"_id", "id"}
_OF_DOCUMENTS = {*tabular.DOC_ID.names} - {"_id", "id"}


def read_queries(path: str | Path, notes: Notes | None = None) -> tuple[Query, ...]:
    """Topics or queries in TREC markup, TSV, CSV, JSON Lines, Parquet, or one query a line."""
    notes = Notes() if notes is None else notes
    shape = shape_of(path)
    if shape is Shape.MARKUP:
        return trec.read_topics(path, notes)
    role = _role_of_lines(path) if shape is Shape.PLAIN else None
    if role:
        raise FormatError(f"these lines are {role.value}, not queries.", path)
    return tabular.read_queries(path, shape, notes)


def read_documents(path: str | Path, notes: Notes | None = None) -> Iterator[Document]:
    """Documents in TREC markup, TSV, CSV, JSON Lines or Parquet, streaming, each id once."""
    notes = Notes() if notes is None else notes
    shape = shape_of(path)
    rows = trec.read_documents(path, notes) if shape is Shape.MARKUP else tabular.read_documents(path, shape, notes)
    yield from checks.distinct_documents(rows, path, notes)


def read_qrels(path: str | Path, notes: Notes | None = None) -> Qrels:
    """Judgments in TREC's four columns, or in any table with a header: TSV as in BEIR, CSV, JSON Lines, Parquet."""
    notes = Notes() if notes is None else notes
    shape = shape_of(path)
    if shape is Shape.MARKUP:
        raise FormatError("this is TREC markup; judgments have four columns.", path)
    if shape is Shape.PLAIN or (shape is Shape.TSV and not tabular.has_qrel_header(path)):
        return trec.read_qrels(path, notes)
    return checks.agreeing_qrels(tabular.read_qrels(path, shape, notes), path, notes)


def read_log(path: str | Path, notes: Notes | None = None) -> Iterator[LogQuery]:
    """A training log in any format that queries may have, streaming."""
    notes = Notes() if notes is None else notes
    shape = shape_of(path)
    if shape is Shape.MARKUP:
        yield from (LogQuery(query.query_id, query.title) for query in trec.read_topics(path, notes) if query.title)
        return
    log = tabular.read_log(path, shape, notes)
    first = next(log, None)
    if first is None:
        raise FormatError("no queries in this log.", path)
    yield first
    yield from log


def read_log_blocks(path: str | Path, size: int, notes: Notes) -> Iterator[LogBlock]:
    """The same log in columns, so many lines at a time."""
    shape = shape_of(path)
    bare = shape is not Shape.MARKUP and tabular.is_bare(path, shape)
    pieces = read_log_pieces(path, shape, notes) if bare else packed(read_log(path, notes), size)
    empty = True
    for block in regrouped(pieces, size):
        empty = False
        yield block
    if empty:
        raise FormatError("no queries in this log.", path)


def role_of(path: str | Path, *, by_name: bool = True) -> Role | None:
    """What a file holds, or None where neither content nor name tells; without `by_name` content alone."""
    try:
        shape = shape_of(path)
        if shape is Shape.MARKUP:
            return Role.DOCUMENTS if re.search(r"<doc[\s>]", read_head(path), re.IGNORECASE) else Role.QUERIES
        if shape in (Shape.PLAIN, Shape.TSV) and not tabular.has_qrel_header(path):
            return _role_of_lines(path) or (_role_of_name(path, shape) if by_name else None)
        row = next(read_rows(path, shape, Notes(), ()), None)
        return _role_of_columns(row[1], path if by_name else None) if row else None
    except InputError:
        return None


def _role_of_lines(path: str | Path) -> Role | None:
    """What lines hold that all look alike; of few lines only what nothing else looks like."""
    lines = [line for line in read_head(path).split("\n") if line.strip()][:_MOST_LINES]
    if len(lines) < _FEWEST_LINES:
        return Role.QRELS if len(lines) > 1 and all(map(_SURELY_JUDGED.fullmatch, lines)) else None
    return next((role for role, like in _LINES.items() if all(map(like.fullmatch, lines))), None)


def _role_of_columns(names: Collection[str], path: str | Path | None) -> Role | None:
    """What a table holds by the names of its columns; where they leave it open, by the name at `path`."""
    known = set(names)
    if known & {*tabular.QUERY_ID.names} and known & {*tabular.JUDGED_ID.names} and known & {*tabular.GRADE.names}:
        return Role.QRELS
    text = known & {*tabular.DOC_TEXT.names}
    if text and known & _OF_DOCUMENTS:
        return Role.DOCUMENTS
    if known & _OF_QUERIES and known & {*tabular.QUERY_TEXT.names}:
        return Role.QUERIES
    return _role_of_name(path, Shape.JSONL) if path and text and known & {"_id", "id"} else None


def _role_of_name(path: str | Path, shape: Shape) -> Role | None:
    """What the file's name says; plain lines are never documents, and two roles in one name are none."""
    found = [role for role, like in _NAMES.items() if like.search(plain_name(path))]
    if len(found) != 1 or (shape is Shape.PLAIN and found != [Role.QUERIES]):
        return None
    return found[0]
