"""How alike two rankings are: of systems by their scores, or of documents in two lists.

Systems: Kendall's tau-b, tau_AP (Yilmaz, Aslam & Robertson 2008) and tau_AP_b (Urbano & Marrero 2017), higher scores
being better; one vector against one, or many against one truth (`bulk_…`). Documents: rank-biased overlap (Webber,
Moffat & Zobel 2010, equation 32) with the three treatments of ties of Corsi & Urbano 2024, and average overlap.
Left out: RBO's bounds and residual; p-values of correlations, which say little where systems share their topics.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtrue.errors import InputError, UnknownNameError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Ranking = Sequence[Hashable | list[Any]]
Ties = Literal["a", "b", "w"]

# Vectors compared at once; the memory taken is about 100 bytes times this times the number of systems.
_BLOCK = 2048


def round_scores(scores: ArrayLike, decimals: int | None = 10) -> Floats:
    """Scores as floats, rounded so that summing topics in another order neither makes nor breaks a tie."""
    values = np.asarray(scores, dtype=np.float64)
    return values if decimals is None else np.round(values, decimals)


def kendall_tau_b(x: ArrayLike, y: ArrayLike, decimals: int | None = 10) -> float:
    """Kendall's tau-b; nan where all of a vector are tied."""
    return float(bulk_tau_b(x, np.expand_dims(y, 0), decimals)[0])


def tau_ap(truth: ArrayLike, other: ArrayLike, decimals: int | None = 10) -> float:
    """tau_AP of the order that `other` gives, judged by `truth`: mistakes at the top of `other` weigh more.

    The paper knows no ties. Here the value is the mean over all ways to break them: tau_AP_a of Urbano & Marrero 2017,
    with a pair that is tied in the truth as half concordant. nan where all of a vector are tied.
    """
    return float(bulk_tau_ap(truth, np.expand_dims(other, 0), decimals)[0])


def tau_ap_b(x: ArrayLike, y: ArrayLike, decimals: int | None = 10) -> float:
    """Symmetric tau_AP for vectors with ties: the mean of both directions.

    A direction is 2c - 1, where c is the mean, over the systems below the top tie group, of the share of those strictly
    above it that are strictly above it in the other vector too: a tie there is not concordant, as in the authors'
    package. nan where all of a vector are tied.
    """
    return float(bulk_tau_ap_b(x, np.expand_dims(y, 0), decimals)[0])


def bulk_tau_b(truth: ArrayLike, others: ArrayLike, decimals: int | None = 10) -> Floats:
    """`kendall_tau_b` of one vector of n systems with each row of `others`, shape [m, n]."""
    values: Floats = _correlate((_tau_b,), truth, others, decimals)[0]
    return values


def bulk_tau_ap(truth: ArrayLike, others: ArrayLike, decimals: int | None = 10) -> Floats:
    """`tau_ap` of each row of `others`, shape [m, n], judged by one truth of n systems."""
    values: Floats = _correlate((_tau_ap,), truth, others, decimals)[0]
    return values


def bulk_tau_ap_b(truth: ArrayLike, others: ArrayLike, decimals: int | None = 10) -> Floats:
    """`tau_ap_b` of one vector of n systems with each row of `others`, shape [m, n]."""
    values: Floats = _correlate((_tau_ap_b,), truth, others, decimals)[0]
    return values


def bulk_taus(truth: ArrayLike, others: ArrayLike, decimals: int | None = 10) -> Floats:
    """`tau_ap_b`, `tau_ap` and `tau_b` of one vector of n systems with each row of `others`: little dearer than one."""
    return _correlate((_tau_ap_b, _tau_ap, _tau_b), truth, others, decimals)


class _Pairs(NamedTuple):
    """For each system (rows, best truth first) and each vector (columns), how many systems are above or level."""

    ahead: Integers  # above it in the truth, whatever the vector
    both: Integers  # above it in the vector and in the truth
    above: Integers  # above it in the vector
    level: Integers  # above it in the vector, tied in the truth
    tied: Integers  # tied in the vector, itself included


def _tau_b(pairs: _Pairs) -> Floats:
    """Concordant less discordant pairs, over the geometric mean of the pairs that either ranking decides."""
    opposed = pairs.above - pairs.both - pairs.level
    untied = pairs.ahead.sum(axis=0) * pairs.above.sum(axis=0)
    return _divide((pairs.both - opposed).sum(axis=0), np.sqrt(untied))


def _tau_ap(pairs: _Pairs) -> Floats:
    """Expected share of those above a system that belong there, over all systems but the first."""
    n, above, tied = len(pairs.ahead), pairs.above, pairs.tied
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, n + 1))])
    # A system takes each place of its tie group with equal chance; `last` is how many are above the group's last place.
    last = above + tied - 1
    weight = (harmonic[last] - harmonic[np.maximum(above - 1, 0)]) / tied
    within = (tied - 1 - above * (harmonic[last] - harmonic[above])) / (2 * tied)
    concordant = ((pairs.both + pairs.level / 2) * weight + within).sum(axis=0)
    ranked = above.any(axis=0) & pairs.ahead.any()
    return _divide(2 * concordant, (n - 1) * ranked) - 1


def _tau_ap_b(pairs: _Pairs) -> Floats:
    """Mean of the two directions, each 2c - 1."""
    return _mean_share(pairs.both, pairs.ahead) + _mean_share(pairs.both, pairs.above) - 1


def _mean_share(both: Integers, above: Integers) -> Floats:
    """Mean share of those above a system that are above it in both vectors, over the systems that have any."""
    return _divide(_divide(both, above, empty=0.0).sum(axis=0), (above > 0).sum(axis=0))


def _divide(number: ArrayLike, by: ArrayLike, empty: float = np.nan) -> Floats:
    """Division in which x / 0 is `empty`."""
    divisor = np.asarray(by, dtype=np.float64)
    result: Floats = np.divide(number, divisor, out=np.full(divisor.shape, empty), where=divisor > 0)
    return result


def _correlate(
    measures: Sequence[Callable[[_Pairs], Floats]], truth: ArrayLike, others: ArrayLike, decimals: int | None
) -> Floats:
    """Check and round the scores, put the best truth first, and measure a block of vectors at a time.

    A row of the result is a measure, a column a vector.
    """
    reference, vectors = round_scores(truth, decimals), round_scores(others, decimals)
    if reference.ndim != 1 or vectors.ndim != 2 or vectors.shape[1] != len(reference):
        raise InputError(
            f"scores of shapes {reference.shape} and {vectors.shape} cannot be correlated; "
            "give the same systems, in the same order, in both."
        )
    if np.isnan(reference).any() or np.isnan(vectors).any():
        raise InputError("a score is nan and has no rank; leave that system out of all vectors.")
    order = np.argsort(-reference, kind="stable")
    values = np.empty((len(measures), len(vectors)))
    for first in range(0, len(vectors), _BLOCK):
        block = np.ascontiguousarray(vectors[first : first + _BLOCK, order].T)
        pairs = _count_pairs(reference[order], block)
        values[:, first : first + _BLOCK] = [measure(pairs) for measure in measures]
    return values


def _count_pairs(truth: Floats, block: Floats) -> _Pairs:
    """Compare all pairs of systems; `truth` falls, so that those above a system in it are the rows before its ties.

    Ranks in the smallest integers that hold them make comparing and counting several times faster than scores do.
    """
    starts, stops = np.searchsorted(-truth, -truth, "left"), np.searchsorted(-truth, -truth, "right")
    ranks, above, tied = _ranks(block)
    both, level = np.zeros_like(ranks), np.zeros_like(ranks)
    for row, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        both[row] = _count(ranks[:start] > ranks[row])
        if stop - start > 1:
            level[row] = _count(ranks[start:stop] > ranks[row])
    ahead = np.broadcast_to(starts[:, None], block.shape)
    return _Pairs(ahead, both.astype(np.int64), above, level.astype(np.int64), tied)


def _count(over: NDArray[np.bool_]) -> NDArray[np.unsignedinteger]:
    """How many are true in each column; there are never more than the type holds."""
    kind: type[np.unsignedinteger] = np.uint8 if len(over) < 1 << 8 else np.uint16 if len(over) < 1 << 16 else np.uint32
    counted: NDArray[np.unsignedinteger] = over.view(np.uint8).sum(axis=0, dtype=kind)
    return counted


def _ranks(block: Floats) -> tuple[NDArray[np.unsignedinteger], Integers, Integers]:
    """For each column the rank of each entry from the lowest, how many are above it, and how many level with it."""
    n = len(block)
    order = np.argsort(block, axis=0)
    rising = np.take_along_axis(block, order, axis=0)
    fresh = np.ones(block.shape, dtype=np.bool_)
    fresh[1:] = rising[1:] != rising[:-1]
    place = np.broadcast_to(np.arange(n)[:, None], block.shape)
    first = np.maximum.accumulate(np.where(fresh, place, 0), axis=0)
    last = np.full(block.shape, n - 1)
    last[:-1] = np.where(fresh[1:], place[:-1], n - 1)
    last = np.minimum.accumulate(last[::-1], axis=0)[::-1]
    kind = np.uint8 if n < 1 << 8 else np.uint16 if n < 1 << 16 else np.uint32
    ranks, above, tied = np.empty(block.shape, dtype=kind), np.empty_like(last), np.empty_like(last)
    for found, values in ((ranks, first.astype(kind)), (above, n - 1 - last), (tied, last - first + 1)):
        np.put_along_axis(found, order, values, axis=0)
    return ranks, above, tied


def tie_groups(ids: Sequence[Hashable], scores: ArrayLike) -> list[list[Hashable]]:
    """Rank ids by falling score for `rbo`; those of equal score form a group, in the order given."""
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != (len(ids),):
        raise InputError(f"{len(ids)} ids but scores of shape {values.shape}; give one score for each id.")
    if np.isnan(values).any():
        raise InputError(f"the score of {ids[int(np.isnan(values).argmax())]!r} is nan and has no rank; leave it out.")
    groups: dict[float, list[Hashable]] = {}
    for place in np.argsort(-values, kind="stable").tolist():
        groups.setdefault(float(values[place]), []).append(ids[place])
    return list(groups.values())


def rbo(first: Ranking, second: Ranking, p: float = 0.9, ties: Ties = "a") -> float:
    """Extrapolated rank-biased overlap of two lists of ids; an element that is a list is a group of tied ids.

    Ties: `w` puts tied ids at one rank (Webber), `a` is the mean over all ways to break the ties (exactly so for lists
    of one length), `b` is `a` corrected for the information that ties lose, so that a ranking is wholly like itself.
    Without ties all three are equation 32; what the shorter list leaves unseen is extrapolated as in the papers.
    One empty list gives 0, two give nan.
    """
    if not 0 < p < 1:
        raise InputError(f"p of rank-biased overlap is {p}; it must lie between 0 and 1, both excluded.")
    if ties not in _NORMS:
        raise UnknownNameError("treatment of ties", ties, _NORMS)
    sides = sorted([(_positions(first), first), (_positions(second), second)], key=lambda side: len(side[0]))
    s, longest = (len(ids) for ids, _ in sides)
    if s == 0:
        return 0.0 if longest else float("nan")
    short, long = (_levels(ids, ranking, longest, ties) for ids, ranking in sides)
    depths = np.arange(1, longest + 1)
    overlap, norm = _overlap(short, long), _NORMS[ties](short, long)
    # What the shorter list leaves unseen is taken to agree as far as its seen part does at its end.
    agreed = overlap[s - 1] / norm[s - 1]
    overlap = overlap + agreed * np.maximum(depths - s, 0) * _presence_of_unmatched(short, long)
    return float((1 - p) * np.sum(overlap / norm * p ** (depths - 1)) + overlap[-1] / longest * p**longest)


def average_overlap(first: Sequence[Hashable], second: Sequence[Hashable], depth: int | None = None) -> float:
    """Mean, over the depths down to the shorter list's end or `depth`, of the share of ids in common; no ties.

    It is what the package `rbo` gives by default (p = 1). One empty list gives 0, two give nan.
    """
    if depth is not None and depth < 1:
        raise InputError(f"the depth of average overlap is {depth}; it must be at least 1.")
    if any(isinstance(element, list) for element in (*first, *second)):
        raise InputError("average overlap knows no ties; break them, or use rbo.")
    one, two = _positions(first), _positions(second)
    k = min(len(one), len(two), depth or len(one))
    if k == 0:
        return 0.0 if one or two else float("nan")
    entered = [max(place, two[doc]) for doc, place in one.items() if doc in two]
    overlap = np.bincount(np.array(entered, dtype=np.int64), minlength=k).cumsum()[:k]
    return float(np.mean(overlap / np.arange(1, k + 1)))


class _Levels(NamedTuple):
    """A ranking at each depth (from 0): the first and last place of the tie group there, and how much of it is in."""

    ids: dict[Hashable, int]
    tops: Integers
    bottoms: Integers
    fill: Floats


def _levels(ids: dict[Hashable, int], ranking: Ranking, depth: int, ties: Ties) -> _Levels:
    """Lay a ranking out, and fill it up to `depth` with places that nothing holds and nothing ties."""
    groups = [len(element) if isinstance(element, list) else 1 for element in ranking]
    sizes = np.array(groups + [1] * (depth - len(ids)), dtype=np.int64)
    ends = np.cumsum(sizes)
    tops, bottoms = np.repeat(ends - sizes, sizes), np.repeat(ends - 1, sizes)
    fill = np.ones(depth) if ties == "w" else (np.arange(1, depth + 1) - tops) / (bottoms - tops + 1)
    return _Levels(ids, tops, bottoms, fill)


def _positions(ranking: Ranking) -> dict[Hashable, int]:
    """The place of each id, from 0, tied or not."""
    flat = [one for element in ranking for one in (element if isinstance(element, list) else (element,))]
    ids = {one: place for place, one in enumerate(flat)}
    if len(ids) < len(flat):
        twice = next(one for place, one in enumerate(flat) if ids[one] != place)
        raise InputError(f"id {twice!r} stands twice in a ranking; remove one of them.")
    return ids


def _overlap(short: _Levels, long: _Levels) -> Floats:
    """At each depth, the sum over the shared ids of the product of how much of each is in.

    Only one tie group of each list is partly in at a depth, so the sum is bilinear in the two fills: four counts.
    """
    shared = [(place, long.ids[one]) for one, place in short.ids.items() if one in long.ids]
    here, there = np.array(shared, dtype=np.int64).reshape(-1, 2).T

    def entered(ours: Integers, theirs: Integers) -> Integers:
        """How many shared ids have reached both places at each depth."""
        return np.bincount(np.maximum(ours[here], theirs[there]), minlength=len(long.fill)).cumsum()

    full, part = entered(short.bottoms, long.bottoms), entered(short.tops, long.tops)
    ours, theirs = entered(short.tops, long.bottoms), entered(short.bottoms, long.tops)
    f, g = short.fill, long.fill
    return (1 - f) * (1 - g) * full + f * (1 - g) * ours + (1 - f) * g * theirs + f * g * part


def _presence_of_unmatched(short: _Levels, long: _Levels) -> Floats:
    """At each depth, the mean of how much is in of the longer list's own ids that have begun to enter."""
    own = np.array([place for one, place in long.ids.items() if one not in short.ids], dtype=np.int64)
    begun = np.bincount(long.tops[own], minlength=len(long.fill)).cumsum()
    full = np.bincount(long.bottoms[own], minlength=len(long.fill)).cumsum()
    return _divide(full + (begun - full) * long.fill, begun, empty=1.0)


def _mass(side: _Levels) -> Floats:
    """At each depth, the sum of squares of how much of each id is in."""
    return side.tops + (side.bottoms - side.tops + 1) * side.fill**2


_NORMS: Mapping[str, Callable[[_Levels, _Levels], Floats]] = {
    "a": lambda short, long: np.arange(1.0, len(long.fill) + 1),
    "b": lambda short, long: np.sqrt(_mass(short) * _mass(long)),
    "w": lambda short, long: (short.bottoms + long.bottoms) / 2 + 1,
}
