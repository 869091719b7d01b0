"""Numbers of a ranking that is held against labels: areas under curves, and intervals of shares.

Cases may have weights, for labels of a stratified sample stand for more than themselves. Wilson's interval (1927) is
taken with Kish's effective number of cases; the bootstrap draws groups of cases that belong together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ringtrue.audit import Interval

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def average_precision(scores: Floats, true: Bools, weights: Floats | None = None) -> float:
    """The area under the precision-recall curve, by steps; equal scores come together. nan without a true case."""
    weights = np.ones(len(scores)) if weights is None else weights
    order = np.argsort(-scores, kind="stable")
    last = np.flatnonzero(np.diff(scores[order], append=-np.inf))
    hits, seen = np.cumsum((weights * true)[order])[last], np.cumsum(weights[order])[last]
    return float(np.sum(np.diff(hits, prepend=0) * hits / seen) / hits[-1]) if true.any() else math.nan


def roc_auc(scores: Floats, true: Bools, weights: Floats | None = None) -> float:
    """The chance that a true case scores above a false one, equal scores counted half; nan without both kinds."""
    weights = np.ones(len(scores)) if weights is None else weights
    values, place = np.unique(scores, return_inverse=True)
    positive, negative = (np.bincount(place, weights * kind, len(values)) for kind in (true, ~true))
    below = np.cumsum(negative) - negative / 2
    total = positive.sum() * negative.sum()
    return float(np.sum(positive * below) / total) if total > 0 else math.nan


def wilson(part: Bools, weights: Floats, level: float = 0.95) -> Interval:
    """The interval of the share that `part` has of some cases; nan without any."""
    if not len(part):
        return Interval(math.nan, math.nan, level, "Wilson")
    share = float(weights @ part / weights.sum())
    n = float(weights.sum() ** 2 / np.sum(weights**2))
    z = float(ndtri((1 + level) / 2))
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return Interval(max(middle - reach, 0.0), min(middle + reach, 1.0), level, "Wilson")


class GroupBootstrap:
    """Resamples of whole groups, the same for every share that is asked for."""

    def __init__(self, groups: Sequence[str], replicates: int, seed: int) -> None:
        """Draw how often each group is in each resample."""
        names, self._group = np.unique(np.asarray(groups), return_inverse=True)
        n = len(names)
        self._drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=replicates)
        self._name = f"bootstrap over {n} topics, {replicates} replicates"

    def share(self, part: Bools, whole: Bools, weights: Floats, level: float = 0.95) -> Interval:
        """The interval of the share that `part` has of `whole`; resamples without any of it do not count."""
        groups = self._drawn.shape[1]
        hits, seen = (np.bincount(self._group, weights * rows, groups) for rows in (part & whole, whole))
        drawn = self._drawn @ seen
        shares = (self._drawn @ hits)[drawn > 0] / drawn[drawn > 0]
        if not len(shares):
            return Interval(math.nan, math.nan, level, self._name)
        low, high = np.quantile(shares, [(1 - level) / 2, (1 + level) / 2])
        return Interval(float(low), float(high), level, self._name)
