"""Run files, read fast: six columns a line, split at white space; the rank column is not used.

A clean file goes through Arrow's CSV reader. Anything that it does not take is read again line by line, which
either finds the fault and says where it is, or reads what Arrow was too strict for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from ringtrue.data.formats.checks import in_columns
from ringtrue.data.formats.streams import read_bytes
from ringtrue.data.notes import Notes
from ringtrue.errors import FormatError

_COLUMNS = ("query_id", "iteration", "doc_id", "rank", "score", "tag")
_READ = pa.csv.ReadOptions(column_names=list(_COLUMNS), use_threads=False, block_size=1 << 26)
_CONVERT = pa.csv.ConvertOptions(
    include_columns=["query_id", "doc_id", "score"],
    column_types={
        "query_id": pa.dictionary(pa.int32(), pa.string()),
        "doc_id": pa.dictionary(pa.int32(), pa.string()),
        "score": pa.float64(),
    },
    null_values=[],
    strings_can_be_null=False,
)
_DENSE = 20_000_000  # up to this many (topic, document) pairs, repetition is found by counting


class RunColumns(NamedTuple):
    """One run file in columns: codes into the file's own lists of topics and documents."""

    tag: str
    topics: pa.Array
    docs: pa.Array
    topic: NDArray[np.int32]
    doc: NDArray[np.int32]
    score: NDArray[np.float64]


def read_run_columns(path: Path, notes: Notes) -> RunColumns:
    """Read one run; whatever is wrong with it raises FormatError with the line."""
    raw = read_bytes(path)
    if b"\0" in raw:
        line = raw.count(b"\n", 0, raw.index(b"\0")) + 1
        raise FormatError("a NUL byte: this is not a run in text form, or it was damaged.", path, line)
    raw = _as_utf8(raw, path, notes)
    columns = _fast(raw, b"\t" if b"\t" in raw[:4096] else b" ") or _fast(_tabbed(raw), b"\t") or _slow(raw, path)
    if not len(columns.score):
        raise FormatError("no lines: a run needs at least one (query_id Q0 doc_id rank score tag).", path)
    _check_repeats(columns, raw, path)
    blank = raw.count(b"\n") + (not raw.endswith(b"\n")) - len(columns.score)
    if blank:
        notes.add("blank lines in run files skipped", str(path), blank)
    return columns


def _as_utf8(raw: bytes, path: Path, notes: Notes) -> bytes:
    """The text as UTF-8 without a byte order mark; other bytes are taken as Windows-1252."""
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        notes.add("run files that are not UTF-8, read as Windows-1252", str(path))
        return raw.decode("cp1252", errors="replace").encode()
    return raw


def _tabbed(raw: bytes) -> bytes:
    """The same lines with exactly one tab between fields and nothing around them."""
    raw = re.sub(rb"[ \t\r\f\v]+", b"\t", raw)
    return re.sub(rb"\t?\n\t?", b"\n", raw).strip(b"\t")


def _fast(raw: bytes, separator: bytes) -> RunColumns | None:
    """Arrow's reading, or None where it refuses the file, an id holds white space or a score is not finite."""
    parse = pa.csv.ParseOptions(delimiter=separator.decode(), quote_char=False, double_quote=False, escape_char=False)
    try:
        table = pa.csv.read_csv(pa.BufferReader(raw), _READ, parse, _CONVERT)
    except pa.ArrowInvalid:
        return None
    query, doc = table["query_id"].combine_chunks(), table["doc_id"].combine_chunks()
    score = table["score"].combine_chunks().to_numpy(zero_copy_only=False)
    if not len(score) or not np.isfinite(score).all():
        return None
    if (b" " if separator == b"\t" else b"\t") in raw and _has_odd_id(query.dictionary, doc.dictionary):
        return None
    tag = raw.lstrip(b"\r\n").split(b"\n", 1)[0].rsplit(separator, 1)[-1].decode().strip()
    return RunColumns(tag, query.dictionary, doc.dictionary, query.indices.to_numpy(), doc.indices.to_numpy(), score)


def _has_odd_id(*names: pa.Array) -> bool:
    """Whether an id is empty or holds white space: then the file does not have one separator throughout."""
    return any(pc.any(pc.match_substring_regex(some, r"^$|[ \t\r\f\v]")).as_py() for some in names)


def _slow(raw: bytes, path: Path) -> RunColumns:
    """Line by line: raises at the first fault."""
    topics: dict[str, int] = {}
    docs: dict[str, int] = {}
    rows: list[tuple[int, int, float]] = []
    tag = ""
    for line, fields in _fields(raw):
        if len(fields) != len(_COLUMNS):
            seen = " ".join(fields)[:80]
            message = f"{in_columns(len(fields))}, a run has six (query_id Q0 doc_id rank score tag): {seen!r}."
            raise FormatError(message, path, line)
        score = _score(fields[4], path, line)
        tag = tag or fields[5]
        rows.append((topics.setdefault(fields[0], len(topics)), docs.setdefault(fields[2], len(docs)), score))
    topic, doc, scores = zip(*rows, strict=True) if rows else ((), (), ())
    return RunColumns(
        tag,
        pa.array(list(topics), pa.string()),
        pa.array(list(docs), pa.string()),
        np.array(topic, np.int32),
        np.array(doc, np.int32),
        np.array(scores, np.float64),
    )


def _fields(raw: bytes) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each line that is not blank."""
    for line, text in enumerate(raw.split(b"\n"), start=1):
        fields = [field.decode() for field in text.split()]
        if fields:
            yield line, fields


def _score(text: str, path: Path, line: int) -> float:
    """A finite number or an error."""
    try:
        score = float(text)
    except ValueError as error:
        raise FormatError(f"the score {text!r} is not a number.", path, line) from error
    if not math.isfinite(score):
        raise FormatError(f"the score {text!r} is not finite, so it cannot be ranked.", path, line)
    return score


def _check_repeats(columns: RunColumns, raw: bytes, path: Path) -> None:
    """The same document twice for a topic is an error: no rule says which score counts."""
    pair = columns.topic.astype(np.int64) * len(columns.docs) + columns.doc
    if len(columns.topics) * len(columns.docs) <= _DENSE:
        repeated = np.bincount(pair).max() > 1
    else:
        repeated = len(np.unique(pair)) < len(pair)
    if not repeated:
        return
    seen: dict[tuple[str, str], int] = {}
    for line, fields in _fields(raw):
        first = seen.setdefault((fields[0], fields[2]), line)
        if first != line:
            raise FormatError(
                f"document {fields[2]!r} twice for topic {fields[0]!r} (first in line {first}); remove one.", path, line
            )
