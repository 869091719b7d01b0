"""What categories of variations cost, with intervals; how far rankings move, and how much of them is judged."""

from __future__ import annotations

import numpy as np
from ir_measures import Measure
from numpy.typing import NDArray

from ringtrue.audit import Interval
from ringtrue.evaluation.measures import direction
from ringtrue.robustness.evaluate import JUDGED, Floats, Values, mean, mean_of_known
from ringtrue.robustness.result import CategoryDrop, Stability


def category_drops(
    values: Values, measure: Measure, *, replicates: int = 10_000, seed: int = 42
) -> tuple[CategoryDrop, ...]:
    """What each category costs, over valid pairs of query and method; queries are resampled for the intervals."""
    count = len(values.task.queries)
    weights = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=replicates)
    categories = tuple(dict.fromkeys(category for category, _ in values.task.methods))
    return tuple(_drop(values, measure, category, weights) for category in categories)


def _drop(values: Values, measure: Measure, category: str, weights: NDArray[np.int64]) -> CategoryDrop:
    row, sign = values.place(measure), direction(measure)
    methods = [place for place, method in enumerate(values.task.methods) if method[0] == category]
    valid = values.valid[methods]
    before = np.where(valid, values.original[row], 0.0)
    after = np.where(valid, values.varied[row, methods], 0.0)
    pairs, known = int(valid.sum()), before > 0
    return CategoryDrop(
        values.system,
        str(measure),
        category,
        int(valid.any(axis=0).sum()),
        pairs,
        float(before.sum() / pairs) if pairs else float("nan"),
        float(after.sum() / pairs) if pairs else float("nan"),
        sign * float(1 - after.sum() / before.sum()) if known.any() else float("nan"),
        _interval(before.sum(axis=0), after.sum(axis=0), weights, sign),
        sign * mean(1 - after[known] / before[known]),
        int((valid & ~known).sum()),
    )


def _interval(before: Floats, after: Floats, weights: NDArray[np.int64], sign: int) -> Interval:
    """The 95 % percentile interval of the loss: 1 less the ratio of two sums over queries, times the sign."""
    sums = weights @ before
    drawn = sign * (1 - (weights @ after)[sums > 0] / sums[sums > 0])
    low, high = np.percentile(drawn, (2.5, 97.5)).tolist() if np.count_nonzero(before) > 1 else (np.nan, np.nan)
    return Interval(low, high, 0.95, "bootstrap over queries")


def stability(values: Values) -> tuple[Stability, ...]:
    """Overlap and judged share of each method's valid variations."""
    judged = values.place(JUDGED)
    rows = []
    for place, (category, method) in enumerate(values.task.methods):
        valid = values.valid[place]
        near = mean_of_known(values.overlap[values.slots_of_method[place]], axis=0)
        rows.append(
            Stability(
                values.system,
                category,
                method,
                int(valid.sum()),
                mean(near[valid]),
                mean(values.original[judged][valid]),
                mean(values.varied[judged, place][valid]),
            )
        )
    return tuple(rows)


def originally_judged(values: Values) -> float:
    """The share of judged documents among the ten best of the original queries."""
    shares = values.original[values.place(JUDGED)]
    return mean(shares[~np.isnan(shares)])
