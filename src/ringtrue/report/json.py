"""Audits as JSON: the whole content, the same bytes each time.

JSON has no nan and no infinity: both become null. `SCHEMA` rises when a key changes its meaning or goes away.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ringtrue.audit import Audit, Figure, Finding, Point, Section, Table, Text
from ringtrue.provenance import Provenance
from ringtrue.report.cells import is_finite, is_number
from ringtrue.report.chapters import Chapter, chapters, overall

SCHEMA = 1


def as_json(audits: Iterable[Audit]) -> str:
    """One JSON object for all audits; tables are lists of records keyed by column name."""
    parts = chapters(audits)
    content = {"schema": SCHEMA, "verdict": overall(parts).value, "audits": [_audit(part) for part in parts]}
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _audit(chapter: Chapter) -> dict[str, Any]:
    """An audit with its verdict."""
    return {
        "name": chapter.name,
        "title": chapter.title,
        "verdict": chapter.verdict.value,
        "findings": [_finding(finding) for finding in chapter.findings],
        "sections": [_section(part.section) for part in chapter.parts],
        "provenance": _provenance(chapter.provenance),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    """A finding with its figure and interval."""
    return {
        "name": finding.name,
        "verdict": finding.verdict.value,
        "rule": finding.rule,
        "seen": finding.seen,
        "figure": _plain(finding.figure),
        "interval": None if finding.interval is None else _record(finding.interval._asdict()),
    }


def _section(section: Section) -> dict[str, Any]:
    """A section, told apart by `kind`."""
    if isinstance(section, Table):
        return _table(section)
    if isinstance(section, Figure):
        return _figure(section)
    assert isinstance(section, Text)
    return {"kind": "text", "name": section.name, "title": section.title, "body": section.body}


def _table(table: Table) -> dict[str, Any]:
    """A table as records."""
    names = [column.name for column in table.columns]
    assert len(set(names)) == len(names), f"table {table.name!r} has two columns of one name"
    return {
        "kind": "table",
        "name": table.name,
        "title": table.title,
        "note": table.note,
        "columns": [column._asdict() for column in table.columns],
        "rows": [_record(dict(zip(names, row, strict=True))) for row in table.rows],
    }


def _figure(figure: Figure) -> dict[str, Any]:
    """A figure's data; `chart` says how it is drawn."""
    return {
        "kind": "figure",
        "name": figure.name,
        "title": figure.title,
        "note": figure.note,
        "chart": figure.kind,
        "x_label": figure.x_label,
        "y_label": figure.y_label,
        "series": [{"name": name, "points": [_point(point) for point in points]} for name, points in figure.series],
    }


def _point(point: Point) -> dict[str, Any]:
    """A point of a figure."""
    return _record(point._asdict())


def _provenance(provenance: Provenance) -> dict[str, Any]:
    """Where the numbers come from, with names in alphabetical order."""
    return {
        "ringtrue": provenance.ringtrue,
        "python": provenance.python,
        "packages": _record(dict(sorted(provenance.packages.items()))),
        "components": list(provenance.components),
        "inputs": _record(dict(sorted(provenance.inputs.items()))),
        "settings": _record(dict(sorted(provenance.settings.items()))),
    }


def _record(values: Mapping[str, object]) -> dict[str, Any]:
    """Named values as JSON knows them."""
    return {key: _plain(value) for key, value in values.items()}


def _plain(value: object) -> object:
    """A value as JSON knows it; scalars of numpy become Python's own."""
    value = value.item() if hasattr(value, "item") else value
    return None if is_number(value) and not is_finite(value) else value
