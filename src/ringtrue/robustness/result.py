"""What variations do to rankers, in records that answer questions without another run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from ringtrue.audit import Interval

ALPHA = 0.05


def _mark(difference: float, p: float, higher_is_better: bool) -> str:
    if not p < ALPHA:
        return ""
    return "▲" if (difference > 0) == higher_is_better else "▼"


@dataclass(frozen=True)
class Comparison:
    """One system and measure, with the variations of one method and without: a cell of the study's Table 4.

    `queries` are compared, `valid` of them with a variation; the others have the original's value in both means
    (`replaced`), unless only valid ones are looked at. Queries on which the system failed are left out.
    """

    system: str
    measure: str
    category: str
    method: str
    queries: int
    valid: int
    replaced: int
    failed: int
    original: float
    varied: float
    p: float
    p_corrected: float
    family: int
    higher_is_better: bool = True

    @property
    def difference(self) -> float:
        """Varied minus original: negative where the variations lower the measure."""
        return self.varied - self.original

    @property
    def relative(self) -> float:
        """The difference as a share of the original; nan where that is zero."""
        return self.difference / self.original if self.original else math.nan

    @property
    def mark(self) -> str:
        """A significant loss or gain, else nothing."""
        return _mark(self.difference, self.p_corrected, self.higher_is_better)


@dataclass(frozen=True)
class CategoryDrop:
    """What valid variations of one category cost: `drop` is 1 less the ratio of the two sums over valid pairs.

    Of a measure that is the better the lower it is, such as MFR, it is the ratio less 1, so that a loss is above 0.
    `drop_by_query` is the study's figure, the mean of each pair's own drop, over pairs whose original is not zero;
    `zeros` counts the others.
    """

    system: str
    measure: str
    category: str
    queries: int
    pairs: int
    original: float
    varied: float
    drop: float
    interval: Interval
    drop_by_query: float
    zeros: int

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.interval.low

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.interval.high


class Stability(NamedTuple):
    """How far the top of the rankings moves with one method's valid variations, and how much of it is judged."""

    system: str
    category: str
    method: str
    queries: int
    overlap: float
    judged_before: float
    judged_after: float


@dataclass(frozen=True)
class Consistency:
    """One system over all ways to write each query, the original among them; means are over queries.

    `within` is the standard deviation over the ways to write a query, `between` that of the queries' own means;
    `worst` and `best` are means of each query's extremes, `overlap` is that with the original's ranking.
    `risk_adjusted` is the mean, worse by `aversion` times the variance within queries; `gain_less_risk` is the mean of
    the variations' gains over the original, losses weighing 1 + `aversion` times as much.
    """

    system: str
    measure: str
    queries: int
    variations: int
    original: float
    mean: float
    within: float
    between: float
    worst: float
    best: float
    overlap: float
    aversion: float
    risk_adjusted: float
    gain_less_risk: float


class CaseLine(NamedTuple):
    """One rank of two rankings side by side; a grade is None where the document is not judged."""

    rank: int
    doc_before: str
    grade_before: int | None
    doc_after: str
    grade_after: int | None


@dataclass(frozen=True)
class Case:
    """A query that a variation hurts, with the tops of both rankings."""

    system: str
    query_id: str
    method: str
    original: str
    variation: str
    before: float
    after: float
    overlap: float
    lines: tuple[CaseLine, ...]


class Swap(NamedTuple):
    """Two systems that change places when queries are written by a method; p is of what changes between them."""

    measure: str
    category: str
    method: str
    ahead_before: str
    ahead_after: str
    lead_before: float
    lead_after: float
    p: float
    p_corrected: float


class Correlation(NamedTuple):
    """How far two systems lose on the same variations, or one where the meaning moves; nan where nothing changes."""

    category: str
    first: str
    second: str
    pairs: int
    correlation: float


class DepthRow(NamedTuple):
    """What a category costs a pipeline that re-ranks so many documents."""

    system: str
    depth: int
    category: str
    original: float
    varied: float
    drop: float
    low: float
    high: float


class FusionRow(NamedTuple):
    """Rankings of all ways to write a query, made into one."""

    system: str
    measure: str
    scope: str
    method: str
    with_original: bool
    rankings: int
    replaced: int
    original: float
    value: float
    p: float
    p_corrected: float
    family: int
    higher_is_better: bool = True

    @property
    def mark(self) -> str:
        """A significant loss or gain, else nothing."""
        return _mark(self.value - self.original, self.p_corrected, self.higher_is_better)


class OracleRow(NamedTuple):
    """How many queries gain most from a method, and by how much; a query that several win counts in parts."""

    system: str
    measure: str
    method: str
    wins: float
    gain: float


@dataclass(frozen=True)
class Oracle:
    """The best way to write each query, the original among them."""

    system: str
    measure: str
    queries: int
    original: float
    value: float
    gaining: int
    winners: tuple[OracleRow, ...]
