"""Is a difference more than luck: paired tests over topics, bootstrap intervals, and corrections for many tests.

Fisher's randomization test by sign flips and Student's paired t test, as compared for retrieval by Smucker, Allan &
Carterette 2007; Welch's t test 1947 where two kinds of topics are compared; percentile and BCa intervals of Efron 1987;
Bonferroni and Holm 1979. All tests are two-sided. Left out: one-sided tests, false discovery rates.

Scores must be finite and paired topic by topic; anything else is an InputError, also an empty list. One topic alone
has no variance: the t test gives p = nan and intervals are (nan, nan), while its only sign flip gives p = 1. Where some
topics all have the same difference no t test can tell what chance could do: p is then that of the exact test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from ringtrue.audit import Interval
from ringtrue.errors import InputError, UnknownNameError

Floats = NDArray[np.float64]
Method = Literal["percentile", "bca"]

# Numbers drawn at once, so that memory does not grow with the number of replicates.
_BLOCK = 2**21
# A spread of differences below this share of their mean comes from rounding.
_ROUNDING = 1e-12


class PairedTest(NamedTuple):
    """The outcome of comparing a with b on the same n topics; the difference is a - b, the interval is the t test's."""

    mean_difference: float
    standard_error: float
    statistic: float
    p: float
    n: int
    method: str
    interval: Interval | None = None


def paired_t(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> PairedTest:
    """Student's paired t test, with the interval of the mean difference.

    Where all differences are the same there is no variance: p = 1 if they are zero, else t is infinite, p is the share
    of the two sign flips among all, and there is no interval.
    """
    _check_level(level)
    differences = _paired(a, b)
    n, mean, error = len(differences), float(differences.mean()), _standard_error(differences)
    if n < 2:
        nothing = Interval(math.nan, math.nan, level, "t")
        return PairedTest(mean, error, math.nan, math.nan, n, "paired t", nothing)
    t = float(_ratio(np.array(mean), np.array(error)))
    p = float(_two_sided(np.array(t), n - 1, 2.0 ** (1 - n)))
    reach = math.nan if math.isinf(t) else float(stdtrit(n - 1, (1 + level) / 2)) * error
    return PairedTest(mean, error, t, p, n, "paired t", Interval(mean - reach, mean + reach, level, "t"))


def bulk_paired_t(differences: ArrayLike) -> Floats:
    """The p of `paired_t` for each row of differences[tests, topics], for very many rows."""
    values = _finite(differences, 2)
    n = values.shape[1]
    if n < 2:
        return np.full(len(values), np.nan)
    t = _ratio(values.mean(axis=1), values.std(axis=1, ddof=1) / math.sqrt(n))
    return _two_sided(t, n - 1, 2.0 ** (1 - n))


def bulk_welch_t(a: ArrayLike, b: ArrayLike) -> Floats:
    """Whether the means of each row of a[tests, topics] and b[tests, other topics] differ: p of Welch's t test.

    Where neither row has any variance p is 1 for equal means, and for others the share of this choice of topics among
    all; a row of one value gives nan.
    """
    first, second = _finite(a, 2), _finite(b, 2)
    if min(first.shape[1], second.shape[1]) < 2:
        return np.full(len(first), np.nan)
    one, two = (side.var(axis=1, ddof=1) / side.shape[1] for side in (first, second))
    t = _ratio(first.mean(axis=1) - second.mean(axis=1), np.sqrt(one + two))
    spread = one**2 / (first.shape[1] - 1) + two**2 / (second.shape[1] - 1)
    freedom = np.divide((one + two) ** 2, spread, out=np.ones_like(spread), where=spread > 0)
    few, all_topics = first.shape[1], first.shape[1] + second.shape[1]
    return _two_sided(t, freedom, (1 + (2 * few == all_topics)) / math.comb(all_topics, few))


def paired_permutation(a: ArrayLike, b: ArrayLike, permutations: int = 10_000, seed: int = 0) -> PairedTest:
    """Randomization test: the share of sign flips whose mean difference is at least as large as the one seen.

    All sign flips are counted where they are no more than `permutations` (topics with no difference need none);
    otherwise that many are drawn, and the observed one is counted among them, so that p is never 0.
    """
    differences = _paired(a, b)
    if permutations < 1:
        raise InputError(f"the number of permutations is {permutations}; it must be at least 1.")
    moving = differences[differences != 0]
    exact = 2 ** len(moving) <= permutations
    # Flips that give the same sum in another order of adding must count as ties.
    limit = abs(moving.sum()) - 1e-12 * np.abs(moving).sum()
    signs = _all_signs(len(moving)) if exact else _random_signs(len(moving), permutations, seed)
    extreme = sum(int(np.count_nonzero(np.abs(block @ moving) >= limit)) for block in signs)
    p = extreme / 2 ** len(moving) if exact else (extreme + 1) / (permutations + 1)
    method = "all sign flips" if exact else f"{permutations} random sign flips"
    mean = float(differences.mean())
    return PairedTest(mean, _standard_error(differences), mean, p, len(differences), method)


def bootstrap_interval(
    values: ArrayLike,
    statistic: Callable[[Floats], float] | None = None,
    *,
    replicates: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
    method: Method = "percentile",
) -> Interval:
    """Bootstrap interval of a statistic of one list of values; by default of the mean, which is fast.

    The statistic must not depend on the order of the values. BCa is (nan, nan) where its correction is not finite.
    """
    data = _finite(values, 1)
    if statistic is None:
        return bootstrap_means(data[None], replicates=replicates, level=level, seed=seed, method=method)[0]
    drawn = [statistic(np.repeat(data, row)) for block in _draws(len(data), replicates, seed) for row in block]
    left_out = [statistic(np.delete(data, place)) for place in range(len(data))] if method == "bca" else []
    column = np.array(drawn, dtype=np.float64)[:, None]
    jackknife = np.array(left_out, dtype=np.float64)[:, None]
    return _intervals(column, np.array([statistic(data)]), jackknife, len(data), level, method)[0]


def bootstrap_means(
    values: ArrayLike,
    *,
    replicates: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
    method: Method = "percentile",
) -> tuple[Interval, ...]:
    """Bootstrap interval of each system's mean, given values[systems, topics]; all share the resampled topics."""
    data = _finite(values, 2)
    means = resampled_means(data, replicates=replicates, seed=seed)
    topics = data.shape[1]
    left_out = (data.sum(axis=1) - data.T) / max(topics - 1, 1)
    return _intervals(means, data.mean(axis=1), left_out, topics, level, method)


def resampled_means(values: ArrayLike, *, replicates: int = 10_000, seed: int = 0) -> Floats:
    """Means[replicates, systems] of values[systems, topics]: the same seed and topics give the same resamples."""
    data = _finite(values, 2)
    topics = data.shape[1]
    return np.concatenate([block @ data.T / topics for block in _draws(topics, replicates, seed)])


def bonferroni(p: ArrayLike, family: int | None = None) -> Floats:
    """P-values times the size of the family (default: all that are given), at most 1; nan stays nan, not counted."""
    values = _probabilities(p)
    tests = int(np.count_nonzero(~np.isnan(values)))
    if family is not None and family < tests:
        raise InputError(f"a family of {family} tests cannot hold the {tests} p-values given; give its full size.")
    return np.minimum(values * (tests if family is None else family), 1.0)


def holm(p: ArrayLike) -> Floats:
    """P-values adjusted by Holm's step-down rule, in the shape given; nan stays nan and is not counted."""
    values = _probabilities(p)
    given = np.flatnonzero(~np.isnan(values))
    order = given[np.argsort(values.flat[given], kind="stable")]
    adjusted = np.full(values.size, np.nan)
    steps = values.flat[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted.reshape(values.shape)


def _intervals(
    drawn: Floats, seen: Floats, left_out: Floats, n: int, level: float, method: Method
) -> tuple[Interval, ...]:
    """One interval for each column of replicates, from its own quantiles."""
    if method not in get_args(Method):
        raise UnknownNameError("bootstrap method", method, get_args(Method))
    _check_level(level)
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    name = f"{method} bootstrap, {len(drawn)} replicates"
    found = []
    for column in range(drawn.shape[1]):
        asked = _bca(drawn[:, column], seen[column], left_out[:, column], tails) if method == "bca" else tails
        usable = n > 1 and bool(np.isfinite(asked).all())
        low, high = np.quantile(drawn[:, column], asked) if usable else (math.nan, math.nan)
        found.append(Interval(float(low), float(high), level, name))
    return tuple(found)


def _bca(drawn: Floats, seen: float, left_out: Floats, tails: Floats) -> Floats:
    """The quantiles to take instead of `tails`, corrected for bias and for skewness (by the jackknife)."""
    below = (np.count_nonzero(drawn < seen) + np.count_nonzero(drawn <= seen)) / (2 * len(drawn))
    bias = ndtri(below)
    pull = left_out.mean() - left_out
    spread = float(np.sum(pull**2))
    skew = float(np.sum(pull**3)) / (6 * spread**1.5) if spread > 0 else 0.0
    shifted = bias + ndtri(tails)
    corrected: Floats = ndtr(bias + shifted / (1 - skew * shifted)) if np.isfinite(bias) else np.full(2, np.nan)
    return corrected


def _draws(n: int, replicates: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """How often each of n values is in each resample, in blocks of rows; the blocks do not change the numbers."""
    if replicates < 1:
        raise InputError(f"the number of bootstrap replicates is {replicates}; it must be at least 1.")
    rng = np.random.default_rng(seed)
    rows = max(_BLOCK // n, 1)
    for first in range(0, replicates, rows):
        yield rng.multinomial(n, np.full(n, 1 / n), size=min(rows, replicates - first))


def _all_signs(n: int) -> Iterator[Floats]:
    """Every way to put a sign before n numbers, in blocks of rows."""
    rows = max(_BLOCK // max(n, 1), 1)
    for first in range(0, 2**n, rows):
        flips = np.arange(first, min(first + rows, 2**n))[:, None]
        yield np.where(flips >> np.arange(n) & 1, -1.0, 1.0)


def _random_signs(n: int, permutations: int, seed: int) -> Iterator[Floats]:
    """Random signs before n numbers, in blocks of rows."""
    rng = np.random.default_rng(seed)
    rows = max(_BLOCK // n, 1)
    for first in range(0, permutations, rows):
        yield np.where(rng.integers(0, 2, size=(min(rows, permutations - first), n), dtype=np.int8), -1.0, 1.0)


def _ratio(means: Floats, errors: Floats) -> Floats:
    """Means by their standard errors: infinite where there is no error, and 0 where there is neither."""
    limits = np.where(means == 0, 0.0, np.copysign(np.inf, means))
    return np.divide(means, errors, out=limits, where=errors > _ROUNDING * np.abs(means))


def _two_sided(t: Floats, freedom: Floats | int, least: float) -> Floats:
    """How often chance gives a t as large; `least` where it is infinite."""
    return np.where(np.isinf(t), least, 2 * stdtr(freedom, -np.abs(t)))


def _paired(a: ArrayLike, b: ArrayLike) -> Floats:
    """The differences a - b, topic by topic."""
    first, second = _finite(a, 1), _finite(b, 1)
    if len(first) != len(second):
        raise InputError(f"{len(first)} scores cannot be paired with {len(second)}; give both for the same topics.")
    return first - second


def _standard_error(differences: Floats) -> float:
    """Of the mean; one value alone has none."""
    n = len(differences)
    return float(differences.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan


def _finite(values: ArrayLike, dimensions: int) -> Floats:
    """Values as floats, of which there must be some, all finite."""
    data = np.asarray(values, dtype=np.float64)
    if data.ndim != dimensions or data.shape[-1] == 0:
        raise InputError(f"scores have the shape {data.shape}; give {dimensions} dimension(s) and at least one topic.")
    if not np.isfinite(data).all():
        raise InputError("a score is nan or infinite; leave that topic out, or give the score that a miss counts.")
    return data


def _probabilities(p: ArrayLike) -> Floats:
    """P-values as floats; nan is allowed."""
    values = np.asarray(p, dtype=np.float64)
    if ((values < 0) | (values > 1)).any():
        raise InputError("a p-value lies outside 0 to 1; give p-values, not statistics.")
    return values


def _check_level(level: float) -> None:
    """A confidence level lies between 0 and 1."""
    if not 0 < level < 1:
        raise InputError(f"the confidence level is {level}; it must lie between 0 and 1, as 0.95 does.")
