"""Labelled pairs from and to annotation tools: doccano's JSON Lines, Label Studio's JSON, and CSV.

A doccano row that nobody changed is written back as the very line that was read. Label Studio's full export and its
short one are read, the full one is written; CSV is read as both tools export it. The names of the study's files and
our own are both understood: `topic` or `topic_id`, `ms-marco-qid` or `query_id`, `cosine_similarity` or `similarity`,
`data`, `text` or `query`.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ringtrue.data.formats.streams import read_bytes, read_head, read_lines
from ringtrue.data.formats.tables import Shape, read_rows, shape_of, write_csv
from ringtrue.data.notes import Notes
from ringtrue.errors import FormatError, InputError
from ringtrue.leakage.labels import LabelledPair

Cells = dict[str, object]

# The first name that a row has is taken, and no name twice: `text` is the query only where no other name is.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "topic_id": ("topic_id", "topic"),
    "query_id": ("query_id", "ms-marco-qid", "qid"),
    "query": ("query", "data", "text"),
    "title": ("title",),
    "text": ("variant", "text"),
    "similarity": ("similarity", "cosine_similarity"),
    "labels": ("label", "labels"),
    "weight": ("weight",),
}
_WRITTEN = {"query": "text", "labels": "label", "text": "variant"}  # ours where a row has no name of its own
_NEEDED = ("topic_id", "query_id", "query")
_WRITTEN_BETWEEN, _BETWEEN = "|", r"[|#]"


def read_labels(path: str | Path, notes: Notes | None = None) -> tuple[LabelledPair, ...]:
    """All pairs of a file, told by its content; a pair that several people labelled in Label Studio comes for each."""
    notes = Notes() if notes is None else notes
    name = Path(path).name
    if read_head(path).lstrip().startswith("["):
        return tuple(_label_studio_pairs(path, notes))
    shape = shape_of(path)
    if shape is Shape.JSONL:
        return tuple(_doccano_pairs(path, notes))
    if shape not in (Shape.CSV, Shape.TSV, Shape.PARQUET):
        raise FormatError("labels are doccano's JSON Lines, Label Studio's JSON, or CSV with a header.", path)
    return tuple(
        _pair(_typed(dict(cells), path, line), name, path, line)
        for line, cells in read_rows(path, shape, notes, _every_name())
    )


def read_label_files(paths: Iterable[str | Path], notes: Notes | None = None) -> tuple[LabelledPair, ...]:
    """The pairs of several files, one after the other."""
    return tuple(pair for path in paths for pair in read_labels(path, notes))


def write_labels(path: str | Path, pairs: Iterable[LabelledPair]) -> None:
    """Write in the format that the name ends with: .jsonl for doccano, .json for Label Studio, .csv."""
    write = _WRITERS.get(Path(path).suffix.lower())
    if write is None:
        raise InputError(
            f"{path}: labels are written as .jsonl (doccano), .json (Label Studio) or .csv; end the name with one."
        )
    Path(path).write_text(write(list(pairs)), encoding="utf-8", newline="")


def _doccano_pairs(path: str | Path, notes: Notes) -> Iterator[LabelledPair]:
    """One object a line, kept as it is."""
    for number, line in read_lines(path, notes):
        if not line.strip():
            notes.add("blank lines skipped", f"{path}, line {number}")
            continue
        try:
            cells = json.loads(line)
        except ValueError as error:
            raise FormatError(f"not valid JSON: {error}.", path, number) from error
        if not isinstance(cells, dict):
            raise FormatError(f"a JSON object is expected on each line, not {line.strip()[:40]!r}.", path, number)
        yield _pair(cells, Path(path).name, path, number)._replace(row=line)


def _label_studio_pairs(path: str | Path, notes: Notes) -> Iterator[LabelledPair]:
    """One pair for each task and annotation; numbers of tasks stand for lines."""
    try:
        tasks = json.loads(read_bytes(path))
    except ValueError as error:
        raise FormatError(f"not valid JSON: {error}.", path) from error
    for number, task in enumerate(tasks, start=1):
        if not isinstance(task, dict):
            raise FormatError(f"a task should be a JSON object, not {str(task)[:40]!r}.", path, number)
        for labels, who in _annotations(task, f"{path}, task {number}", notes):
            yield _pair(_flat(task, labels), who or Path(path).name, path, number)


def _annotations(task: Mapping[str, object], where: str, notes: Notes) -> Iterator[tuple[list[str], str]]:
    """The labels of each annotation and whose they are; none for a task that nobody did."""
    given = task.get("annotations")
    if not isinstance(given, list):  # the short export has the choices beside the data
        yield _choices(task.get("label", [])), str(task.get("annotator", ""))
        return
    done = [one for one in given if isinstance(one, dict) and not one.get("was_cancelled")]
    if len(done) < len(given):
        notes.add("annotations that were cancelled, skipped", where, len(given) - len(done))
    for one in done:
        results = [result for result in one.get("result", []) if isinstance(result, dict)]
        labels = [label for result in results for label in _choices(result.get("value", {}))]
        who = one.get("completed_by", "")
        yield labels, str(who.get("email", "") if isinstance(who, dict) else who)
    if not done:
        yield [], ""


def _choices(value: object) -> list[str]:
    """The labels of a value: a list, one text, or an object that holds either as its choices."""
    if isinstance(value, dict):
        value = value.get("choices", [])
    return [value] if isinstance(value, str) else [str(one) for one in value] if isinstance(value, list) else []


def _flat(task: Mapping[str, object], labels: list[str]) -> Cells:
    """A task as doccano would have it: id, text and label first, then the rest."""
    data = task.get("data")
    rest = dict(data) if isinstance(data, dict) else {key: value for key, value in task.items() if key != "annotator"}
    known = _found(rest).get("query", "")
    first: Cells = {"id": task["id"]} if "id" in task else {}
    if known:
        first[known] = rest[known]
    return {**first, "label": labels, **{key: value for key, value in rest.items() if key not in (*first, "label")}}


def _typed(cells: Cells, path: str | Path, line: int) -> Cells:
    """A row of texts with its numbers and its list of labels."""
    found = _found(cells)
    labels = cells.get(found.get("labels", ""))
    if isinstance(labels, str) and "labels" in found:
        cells[found["labels"]] = _split(labels)
    for field in ("similarity", "weight"):
        if field in found and isinstance(value := cells[found[field]], str):
            cells[found[field]] = _number(value, field, path, line) if value.strip() else None
    return cells


def _split(labels: str) -> list[str]:
    """The labels of one cell: as written here, as doccano does with `#` between them, or Label Studio's JSON."""
    if labels.lstrip().startswith(("{", "[")):
        try:
            return _choices(json.loads(labels))
        except ValueError:
            pass  # it is told as an unknown label
    return [label.strip() for label in re.split(_BETWEEN, labels) if label.strip()]


def _pair(cells: Cells, source: str, path: str | Path, line: int) -> LabelledPair:
    """One row, checked; the row itself is kept as JSON."""
    found = _found(cells)
    missing = next((field for field in _NEEDED if field not in found), None)
    if missing:
        expected = " or ".join(_NAMES[missing])
        raise FormatError(f"no {missing}: found {', '.join(cells) or 'nothing'}; expected {expected}.", path, line)
    value = {field: cells[name] for field, name in found.items()}
    similarity, weight = value.get("similarity"), value.get("weight")
    return LabelledPair(
        topic_id=_id(value["topic_id"], "topic id", path, line),
        query_id=_id(value["query_id"], "query id", path, line),
        query=str(value["query"]),
        title=str(value.get("title") or ""),
        text=str(value.get("text") or ""),
        similarity=None if similarity is None else _number(similarity, "similarity", path, line),
        labels=_labels(value.get("labels"), path, line),
        weight=1.0 if weight is None else _number(weight, "weight", path, line),
        source=source,
        row=json.dumps(cells, ensure_ascii=False),
    )


def _found(cells: Mapping[str, object]) -> dict[str, str]:
    """The name that each field has in a row."""
    found: dict[str, str] = {}
    for field, names in _NAMES.items():
        name = next((name for name in names if name in cells and name not in found.values()), None)
        if name is not None:
            found[field] = name
    return found


def _labels(value: object, path: str | Path, line: int) -> tuple[str, ...]:
    """Labels in their order; a row that nobody labelled has none."""
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(label, str) for label in value):
        raise FormatError(f"the labels should be a list of texts, not {str(value)[:40]!r}.", path, line)
    return tuple(value)


def _id(value: object, what: str, path: str | Path, line: int) -> str:
    """An id: text that is not empty, or a whole number."""
    if type(value) is int or (isinstance(value, str) and value.strip()):
        return str(value).strip()
    raise FormatError(f"the {what} should be text or a whole number, not {value!r}.", path, line)


def _number(value: object, what: str, path: str | Path, line: int) -> float:
    """A finite number."""
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise FormatError(f"the {what} should be a number, not {value!r}.", path, line)
    return number


def _every_name() -> tuple[str, ...]:
    return tuple(name for names in _NAMES.values() for name in names)


def _cells(pair: LabelledPair) -> Cells:
    """The row of a pair with its present values, under the names that it had."""
    cells: Cells = json.loads(pair.row) if pair.row else {}
    found = _found(cells)
    old = _pair(cells, pair.source, "", 0) if pair.row else None
    for field in _NAMES:
        value = getattr(pair, field)
        default = LabelledPair._field_defaults.get(field)
        unchanged = value == getattr(old, field) if old else field != "labels" and value == default
        if not unchanged:
            cells[found.get(field, _WRITTEN.get(field, field))] = list(value) if field == "labels" else value
    return cells


def _doccano(pairs: Sequence[LabelledPair]) -> str:
    lines = []
    for pair in pairs:
        cells = _cells(pair)
        is_same = bool(pair.row) and cells == json.loads(pair.row)
        lines.append(pair.row if is_same else json.dumps(cells, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines)


def _label_studio(pairs: Sequence[LabelledPair]) -> str:
    tasks = []
    for pair in pairs:
        cells = _cells(pair)
        own = {_found(cells).get("labels", ""), "id"}
        choice = {"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": list(pair.labels)}}
        task: Cells = {"id": cells["id"]} if "id" in cells else {}
        task["data"] = {name: value for name, value in cells.items() if name not in own}
        task["annotations"] = [{"result": [choice]}] if pair.labels else []
        tasks.append(task)
    return json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"


def _csv(pairs: Sequence[LabelledPair]) -> str:
    rows = []
    for pair in pairs:
        cells = _cells(pair)
        labels = _found(cells).get("labels", "label")
        rows.append({**cells, labels: _WRITTEN_BETWEEN.join(pair.labels)})
    columns = list(dict.fromkeys(name for row in rows for name in row)) or ["topic_id", "query_id", "text", "label"]
    text = io.StringIO(newline="")
    write_csv(text, (columns, *([row.get(name, "") for name in columns] for row in rows)))
    return text.getvalue()


_WRITERS: Mapping[str, Callable[[Sequence[LabelledPair]], str]] = {
    ".jsonl": _doccano,
    ".json": _label_studio,
    ".csv": _csv,
}
