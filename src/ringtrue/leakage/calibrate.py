"""From labels to a threshold: precision and recall over thresholds, and the lowest one that keeps a precision.

Fröbe et al. (SPIRE 2022) label a stratified sample of pairs and take the lowest threshold with a precision of at least
.9. Labels that stand for several pairs count with their weight, so that a stratified sample is read as what it was
drawn from. Recall is of the labelled leaks alone: what was never labelled cannot be missed here. A pair is above a
threshold where its similarity is strictly greater.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from ringtrue.audit import Column, Figure, Interval, Point, Series, Table
from ringtrue.data.notes import Note, Notes
from ringtrue.errors import InputError, UnknownNameError
from ringtrue.leakage.curves import Bools, Floats, GroupBootstrap, average_precision, roc_auc, wilson
from ringtrue.leakage.labels import LabelledPair, distinct, is_leak

Method = Literal["wilson", "bootstrap"]
STEP = 0.01
_Share = Callable[[Bools, Bools], Interval]


class CurvePoint(NamedTuple):
    """One threshold: how many labelled pairs are above it, which share of them and of all labelled leaks is true."""

    threshold: float
    pairs: int
    true: int
    precision: float
    precision_interval: Interval
    recall: float
    recall_interval: Interval


@dataclass(frozen=True)
class Calibration:
    """Precision and recall at each threshold, ascending, and areas under curves."""

    points: tuple[CurvePoint, ...]
    average_precision: float
    auc: float
    pairs: int
    true: int
    notes: tuple[Note, ...]

    def lowest(self, precision: float = 0.9, *, sure: bool = False) -> CurvePoint | None:
        """The lowest threshold that keeps a precision, or whose interval lies above it (`sure`); None without one."""
        if sure:
            return next((one for one in self.points if one.precision_interval.low >= precision), None)
        return next((one for one in self.points if one.precision >= precision), None)

    def tables(self) -> tuple[Table, ...]:
        """The curve as rows."""
        columns = (
            Column("threshold", "Above", 3),
            Column("pairs", "Pairs"),
            Column("true", "True"),
            Column("precision", "Precision", 4),
            Column("precision_low", "Low", 4, "lower end of the 95 % interval"),
            Column("precision_high", "High", 4, "upper end of the 95 % interval"),
            Column("recall", "Recall", 4, "of the labelled leaks"),
            Column("recall_low", "Low", 4, "lower end of the 95 % interval"),
            Column("recall_high", "High", 4, "upper end of the 95 % interval"),
        )
        rows = tuple(
            (*one[:4], *one.precision_interval[:2], one.recall, *one.recall_interval[:2]) for one in self.points
        )
        title = f"Precision and recall on {self.pairs:,} labelled pairs"
        area = "not defined, since all labels are alike" if math.isnan(self.auc) else f"{self.auc:.4f}"
        note = f"Average precision {self.average_precision:.4f}; area under the ROC curve {area}."
        return (Table("calibration", title, columns, rows, note),)

    def figure(self) -> Figure:
        """Both curves over the threshold."""
        precision = tuple(Point(one.threshold, one.precision, *one.precision_interval[:2]) for one in self.points)
        recall = tuple(Point(one.threshold, one.recall, *one.recall_interval[:2]) for one in self.points)
        series = (Series("precision", precision), Series("recall", recall))
        return Figure("calibration", "Precision and recall over thresholds", "lines", series, "similarity above")


def calibrate(
    pairs: Iterable[LabelledPair],
    thresholds: Sequence[float] | None = None,
    *,
    method: Method = "wilson",
    level: float = 0.95,
    replicates: int = 2000,
    seed: int = 0,
) -> Calibration:
    """Measure thresholds (default: every hundredth below the labelled similarities) on labels.

    The pairs of a topic are alike: Wilson's interval counts them for fewer; the bootstrap draws whole topics, but is
    too sure where all pairs have the same label.
    """
    if method not in get_args(Method):
        raise UnknownNameError("kind of interval", method, get_args(Method))
    notes = Notes()
    labelled = _usable(distinct(pairs, notes), notes)
    scores = np.array([pair.similarity for pair in labelled], dtype=np.float64)
    weights = np.array([pair.weight for pair in labelled])
    true = np.array([is_leak(pair.labels) for pair in labelled], dtype=np.bool_)
    if method == "wilson":
        topics = np.unique([pair.topic_id for pair in labelled], return_inverse=True)[1]

        def share(part: Bools, whole: Bools) -> Interval:
            return wilson(part[whole], weights[whole], level, topics[whole])

    else:
        groups = GroupBootstrap([pair.topic_id for pair in labelled], replicates, seed)

        def share(part: Bools, whole: Bools) -> Interval:
            return groups.share(part, whole, weights, level)

    grid = _grid(scores) if thresholds is None else sorted(set(thresholds))
    points = tuple(_point(threshold, scores > threshold, true, weights, share) for threshold in grid)
    areas = average_precision(scores, true, weights), roc_auc(scores, true, weights)
    return Calibration(points, *areas, len(labelled), int(true.sum()), tuple(notes))


def _usable(pairs: Sequence[LabelledPair], notes: Notes) -> list[LabelledPair]:
    """The pairs that can be placed on the curve; having none, or no true one, is an error."""
    found = [pair for pair in pairs if pair.similarity is not None]
    if len(found) < len(pairs):
        notes.add("labelled pairs without a similarity left out", "labels", len(pairs) - len(found))
    if not found:
        raise InputError(
            "no labels to calibrate with: give files of labelled pairs with their similarity "
            "(`leakage sample` draws the pairs that people should label)."
        )
    if not any(is_leak(pair.labels) for pair in found):
        raise InputError(f"none of the {len(found)} labelled pairs is a true leak; no threshold can keep a precision.")
    light = next((pair for pair in found if not pair.weight > 0), None)
    if light:
        where = f"topic {light.topic_id!r}, query {light.query_id!r}"
        raise InputError(f"{where} has the weight {light.weight:g}; weights must be above 0.")
    return found


def _grid(scores: Floats) -> list[float]:
    """Every hundredth from just below the smallest similarity up to the last that has a pair above it."""
    first, last = (math.ceil(min(score, 1.0) / STEP) - 1 for score in (scores.min(), scores.max()))
    return [round(step * STEP, 10) for step in range(first, last + 1)]


def _point(threshold: float, above: Bools, true: Bools, weights: Floats, share: _Share) -> CurvePoint:
    """One threshold; precision is nan where nothing is above."""
    hits, seen = float(weights @ (above & true)), float(weights @ above)
    return CurvePoint(
        threshold=threshold,
        pairs=int(above.sum()),
        true=int((above & true).sum()),
        precision=hits / seen if seen > 0 else math.nan,
        precision_interval=share(true, above),
        recall=hits / float(weights @ true),
        recall_interval=share(above, true),
    )
