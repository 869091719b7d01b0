"""Numbers of a ranking that is held against labels: areas under curves, and intervals of shares.

Cases may have weights, for labels of a stratified sample stand for more than themselves, and come in groups of cases
that are alike. Wilson's interval (1927) is taken with an effective number of cases: Kish's for weights, that of Rao and
Scott (Biometrics 1992) for groups. The bootstrap draws whole groups.
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


def wilson(part: Bools, weights: Floats, level: float = 0.95, groups: NDArray[np.int64] | None = None) -> Interval:
    """The interval of the share that `part` has of some cases; nan without any.

    `groups` are the numbers of the groups that cases are in, without which each case is one by itself.
    """
    if not len(part):
        return Interval(math.nan, math.nan, level, "Wilson")
    share = float(weights @ part / weights.sum())
    n = float(weights.sum() ** 2 / np.sum(weights**2))
    if groups is not None:
        n = min(n, _effective(part, weights, share, groups))
    z = float(ndtri((1 + level) / 2))
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return Interval(max(middle - reach, 0.0), min(middle + reach, 1.0), level, "Wilson")


def _effective(part: Bools, weights: Floats, share: float, groups: NDArray[np.int64]) -> float:
    """How many independent cases tell as much; as many as there are groups where these cannot be seen to differ."""
    sums = np.bincount(groups, weights * (part - share))
    number = len(np.unique(groups))
    if number < 2 or not 0 < share < 1:
        return float(number)
    variance = number / (number - 1) * float(np.sum(sums**2)) / float(weights.sum()) ** 2
    return share * (1 - share) / variance if variance > 0 else math.inf


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
