"""What every audit gives: findings with a verdict, and sections of evidence that any report can render.

Reports know `Table`, `Figure` and `Text` and nothing of the pillar that made them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple, Protocol

from ringtrue.provenance import Provenance

Cell = str | int | float | bool | None


class Verdict(StrEnum):
    """How an evaluation stands; UNKNOWN means that what was given cannot answer the question."""

    PASS = "PASS"
    UNKNOWN = "UNKNOWN"
    WARN = "WARN"
    FAIL = "FAIL"


_GRAVITY = {verdict: place for place, verdict in enumerate(Verdict)}


class Interval(NamedTuple):
    """A confidence interval and how it was made."""

    low: float
    high: float
    level: float = 0.95
    method: str = ""


@dataclass(frozen=True)
class Finding:
    """One rule, what was seen, and the verdict that follows."""

    name: str
    verdict: Verdict
    rule: str
    seen: str
    figure: float | None = None
    interval: Interval | None = None


class Column(NamedTuple):
    """A table's column: `name` in data files, `header` for people, `digits` after the point."""

    name: str
    header: str
    digits: int | None = None
    help: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of evidence; `name` is its file's name."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    @classmethod
    def of(cls, name: str, title: str, columns: tuple[Column, ...], records: Iterable[object], note: str = "") -> Table:
        """A table whose columns have the names of the records' attributes."""
        rows = tuple(tuple(getattr(record, column.name) for column in columns) for record in records)
        return cls(name, title, columns, rows, note)


class Point(NamedTuple):
    """One mark of a figure: `x` is a number or a label, `low` and `high` an interval around `y`."""

    x: float | str
    y: float
    low: float | None = None
    high: float | None = None
    label: str = ""


class Series(NamedTuple):
    """Points that belong together."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Figure:
    """A chart: `dots` are labelled rows with intervals, `bars` labelled heights, `lines` curves over numbers.

    `points` are marks over two numbers that no line joins.
    """

    name: str
    title: str
    kind: Literal["dots", "bars", "lines", "points"]
    series: tuple[Series, ...]
    x_label: str = ""
    y_label: str = ""
    note: str = ""


@dataclass(frozen=True)
class Text:
    """A paragraph of explanation."""

    name: str
    title: str
    body: str


Section = Table | Figure | Text


class Audit(Protocol):
    """The result of asking one question."""

    @property
    def name(self) -> str:
        """A short name for files: `leakage`."""

    @property
    def title(self) -> str:
        """The question that was asked."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One per rule; the gravest gives the verdict."""

    @property
    def provenance(self) -> Provenance:
        """What the numbers were made from."""

    def sections(self) -> tuple[Section, ...]:
        """The evidence, in reading order."""


def gravest(findings: Iterable[Finding]) -> Verdict:
    """The verdict over several findings; UNKNOWN where there is none."""
    return max((finding.verdict for finding in findings), key=_GRAVITY.__getitem__, default=Verdict.UNKNOWN)


@dataclass(frozen=True)
class Evidence:
    """Tables and figures that answer no question by themselves: an audit without findings and so without a verdict."""

    name: str
    title: str
    parts: tuple[Section, ...]
    provenance: Provenance
    findings: tuple[Finding, ...] = ()

    def sections(self) -> tuple[Section, ...]:
        """All parts."""
        return self.parts
