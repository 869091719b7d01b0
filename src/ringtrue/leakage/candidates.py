"""Training queries that may leak a topic, as records and as files: JSON Lines, CSV and Parquet.

The same columns stand in all three, and what one writes the reader gives back unchanged. Left out: telling candidates
from leaks, which takes a threshold, a probability or people.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from ringtrue.data.formats.streams import check_file, plain_name
from ringtrue.data.formats.tables import Shape, read_rows, shape_of, write_csv
from ringtrue.data.notes import Notes
from ringtrue.errors import FormatError, InputError

TYPES = ("identical", "generalization", "specialization", "reformulation", "different-topic")
_ROUNDING = 1e-3  # cosines of half-precision vectors may come out that much above 1
_BATCH = 1 << 16


class Candidate(NamedTuple):
    """A topic and a training query that is near to one of its texts.

    `field` and `text` say which text won. `type`, one of `TYPES`, and `probability` (of a true leak) are predictions,
    None where nothing was predicted.
    """

    topic_id: str
    field: str
    text: str
    query_id: str
    query: str
    similarity: float
    type: str | None = None
    probability: float | None = None
    source: str = ""

    @property
    def identity(self) -> tuple[str, str, str]:
        """What tells the training query from all others: two sources may give the same id to two queries."""
        return self.query_id, self.source, self.query


def folded(text: str) -> str:
    """A text without blanks around it, and with one between words: files differ in them."""
    return " ".join(text.split())


def read_candidates(path: str | Path, notes: Notes | None = None) -> tuple[Candidate, ...]:
    """All candidates of a file in any of the formats; the same row again is counted, a contradicting one an error."""
    notes = Notes() if notes is None else notes
    if check_file(path).stat().st_size == 0:  # JSON Lines of a search that found nothing
        return ()
    shape = shape_of(path)
    if shape in (Shape.MARKUP, Shape.PLAIN):
        raise FormatError(f"{shape.value} where candidates are expected: JSON Lines, CSV, TSV or Parquet.", path)
    found: dict[tuple[str, ...], Candidate] = {}
    for line, cells in read_rows(path, shape, notes, Candidate._fields):
        candidate = _candidate(cells, path, line)
        key = (candidate.topic_id, *candidate.identity, candidate.field)
        before = found.setdefault(key, candidate)
        if before is not candidate:
            if before != candidate:
                message = f"topic {key[0]!r} and query {key[1]!r} were given before, with other values; keep one row."
                raise FormatError(message, path, line)
            notes.add("repeated candidates counted once", f"{path}, line {line}")
    return tuple(found.values())


def write_candidates(path: str | Path, candidates: Iterable[Candidate]) -> None:
    """Write in the format that the name ends with: .jsonl, .csv or .parquet."""
    ending = Path(plain_name(path)).suffix
    write = _WRITERS.get(ending)
    if write is None or not str(path).lower().endswith(ending):
        raise InputError(f"{path}: candidates are written as {', '.join(_WRITERS)}; end the name with one of these.")
    write(Path(path), candidates)


def _candidate(cells: Mapping[str, object], path: str | Path, line: int) -> Candidate:
    """One row, checked."""
    missing = [name for name in Candidate._fields[:6] if cells.get(name) is None]
    if missing:
        raise FormatError(f"no {missing[0]!r}: found {', '.join(map(str, cells)) or 'nothing'}.", path, line)
    similarity = _number(cells["similarity"], "similarity", path, line)
    if abs(similarity) > 1 + _ROUNDING:
        raise FormatError(f"the similarity should be a cosine, from -1 to 1, not {similarity:g}.", path, line)
    kind, chance = cells.get("type") or None, cells.get("probability")
    if kind not in (None, *TYPES):
        raise FormatError(f"the type should be one of {', '.join(TYPES)}, not {kind!r}.", path, line)
    probability = None if chance in (None, "") else _number(chance, "probability", path, line)
    if probability is not None and not 0 <= probability <= 1:
        raise FormatError(f"the probability should lie between 0 and 1, not {probability:g}.", path, line)
    topic_id, field, text, query_id, query = (str(cells[name]) for name in Candidate._fields[:5])
    if not (topic_id and query_id):
        raise FormatError("an empty id.", path, line)
    source = str(cells.get("source") or "")
    return Candidate(
        topic_id, field, text, query_id, query, similarity, None if kind is None else str(kind), probability, source
    )


def _number(value: object, name: str, path: str | Path, line: int) -> float:
    """A finite number, from JSON or as text."""
    try:
        number = math.nan if isinstance(value, bool) else float(str(value))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise FormatError(f"the {name} should be a number, not {value!r}.", path, line)
    return number


def _plain(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """With Python's own numbers, since searches give numpy's."""
    for one in candidates:
        probability = None if one.probability is None else float(one.probability)
        yield one._replace(similarity=float(one.similarity), probability=probability)


def _write_jsonl(path: Path, candidates: Iterable[Candidate]) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for candidate in _plain(candidates):
            file.write(json.dumps(candidate._asdict(), ensure_ascii=False) + "\n")


def _write_csv(path: Path, candidates: Iterable[Candidate]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        write_csv(file, (Candidate._fields, *_plain(candidates)))


def _write_parquet(path: Path, candidates: Iterable[Candidate]) -> None:
    numbers = ("similarity", "probability")
    schema = pa.schema([(name, pa.float64() if name in numbers else pa.string()) for name in Candidate._fields])
    rows = [candidate._asdict() for candidate in _plain(candidates)]
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, len(rows), _BATCH):
            writer.write_table(pa.Table.from_pylist(rows[first : first + _BATCH], schema))


_WRITERS: Mapping[str, Callable[[Path, Iterable[Candidate]], None]] = {
    ".jsonl": _write_jsonl,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
