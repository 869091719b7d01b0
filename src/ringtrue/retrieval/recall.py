"""How many items above a threshold a screening missed, from a stratified sample of what it screened out.

Of each sampled item the exact similarity is known, not only whether it is above the threshold. Few or none are; how the
largest of them fall off tells how many more are to be expected beyond. Close to a text, the number of items within a
distance is taken to grow as a power of it, the local dimension (Levina and Bickel, NIPS 2004): the logarithm of the
cosine distance then falls off exponentially above a high quantile of its stratum (peaks over a threshold: Pickands,
Annals of Statistics 1975), at one rate in all strata. On real logs this foretells how many of a stratum are above any
similarity; cosines that fall off exponentially themselves foretell too many. A stratum with more hits than that allows
goes by its hits. The number that may be missed at most has the uncertainty of the sample in it, and that it is a whole
number; at least missed is what the sampled hits alone tell.

This cannot see items of another kind, near in truth and far by the screening, that are too rare for the sample. The
same model is therefore tried on strata that were scored in full. Where it fails there, and beside it everywhere, stands
the bound that assumes nothing: hits in the sample alone, by Clopper and Pearson (Biometrika 1934).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

_DRAWS = 4000
_TAIL, _FARTHER = (0.05, 10), (0.015, 5)  # the share of a sample that is its tail, and how many at least
_HEAVY = 2
_NEAREST = 1e-9  # a distance; rounding makes some of exact copies negative
_REFUTED = 0.95
_SURPRISE = 0.95


class Stratum(NamedTuple):
    """Items in a range of scores: how many were not scored, and the exact similarities of an even sample of them."""

    unscored: int
    sampled: NDArray[np.floating]


class Missed(NamedTuple):
    """How many of the items above the threshold were not scored: expected, and the ends of a 95 % interval."""

    expected: float
    low: int
    high: int


class Tail(NamedTuple):
    """The largest similarities of a sample: how many of how many exceed `start`, and by how much on average."""

    above: int
    of: int
    start: float
    mean_excess: float

    @classmethod
    def of_sample(cls, sampled: NDArray[np.floating], threshold: float, share: float, fewest: int) -> Tail:
        """The upper share; it starts at the threshold where that many are above it already, or few were drawn."""
        falling = np.sort(sampled.astype(np.float64))[::-1]
        above = max(fewest, int(np.ceil(share * len(falling))))
        start = float(falling[above]) if above < len(falling) else threshold
        if start >= threshold:
            return cls(int(np.count_nonzero(falling > threshold)), len(falling), threshold, 0.0)
        return cls(above, len(falling), start, float((falling[:above] - start).mean()))


def count_missed(strata: Iterable[Stratum], threshold: float, seed: int, *, tails: bool = True) -> Missed:
    """By the tails of the strata, or by the hits in the sample alone."""
    given = [_by_depth(stratum) for stratum in strata if stratum.unscored]
    threshold = float(_depth(np.float64(threshold)))
    generator = np.random.default_rng(seed)
    low = sum((_drawn_hits(stratum, threshold, generator, 0) for stratum in given), np.zeros(_DRAWS, np.int64))
    expected, draws = _predicted(given, threshold, generator, _TAIL if tails else None)
    if tails:
        # a tail that falls off more slowly farther out is no exponential one, but a mixture: go by its outer part
        farther = _predicted(given, threshold, generator, _FARTHER)
        expected, draws = farther if farther[0] > _HEAVY * expected else (expected, draws)
    return Missed(expected, _quantile(low, 0.025), _quantile(draws, 0.975))


def is_refuted(strata: Sequence[Stratum], hits: int, threshold: float, seed: int) -> bool:
    """Whether there are more hits than the tails allow, among items of which all is known.

    These are strata that were scored in full, beside their samples; or the samples themselves.
    """
    generator, depth = np.random.default_rng(seed), float(_depth(np.float64(threshold)))
    return hits > _quantile(_predicted([*map(_by_depth, strata)], depth, generator, _TAIL)[1], _REFUTED)


def _depth(similarities: NDArray[np.floating] | np.float64) -> NDArray[np.float64]:
    """How near, on a scale on which tails are exponential."""
    return np.asarray(-np.log(np.maximum(1 - np.asarray(similarities, np.float64), _NEAREST)))


def _by_depth(stratum: Stratum) -> Stratum:
    return Stratum(stratum.unscored, _depth(stratum.sampled))


def _predicted(
    strata: Sequence[Stratum], threshold: float, generator: np.random.Generator, tails: tuple[float, int] | None
) -> tuple[float, Counts]:
    """The hits among the unscored: expected, and drawn with the uncertainty of the sample."""
    fitted = [Tail.of_sample(stratum.sampled, threshold, *(tails or _TAIL)) for stratum in strata]
    falling = [tail for tail in fitted if tail.start < threshold]
    number, total = sum(tail.above for tail in falling), sum(tail.above * tail.mean_excess for tail in falling)
    scales = total / generator.gamma(max(number, 1), 1.0, _DRAWS)
    expected, draws = 0.0, np.zeros(_DRAWS, np.int64)
    for stratum, tail in zip(strata, fitted, strict=True):
        hits, size = int(np.count_nonzero(stratum.sampled > threshold)), len(stratum.sampled)
        if tails and size and total > 0:  # without any excess all are alike, and tell nothing
            fall, falls = (np.exp((tail.start - threshold) / scale) for scale in (total / number, scales))
            shares = generator.beta(tail.above + 0.5, size - tail.above + 0.5, _DRAWS) * falls
            if hits <= _quantile(generator.poisson(size * shares), _SURPRISE):
                expected += stratum.unscored * tail.above / size * float(fall)
                draws = draws + generator.poisson(stratum.unscored * shares)
                continue
        expected += stratum.unscored * (hits / size if size else 1.0)
        draws = draws + _drawn_hits(stratum, threshold, generator, 1)
    return expected, draws


def _drawn_hits(stratum: Stratum, threshold: float, generator: np.random.Generator, more: int) -> Counts:
    """Hits among the unscored, by the sampled hits alone; `more` is 1 for the upper, 0 for the lower bound."""
    size, hits = len(stratum.sampled), int(np.count_nonzero(stratum.sampled > threshold))
    if hits + more == 0:
        return np.zeros(_DRAWS, np.int64)
    return generator.poisson(stratum.unscored * generator.beta(hits + more, size - hits + 1 - more or 1e-9, _DRAWS))


def _quantile(draws: Counts, share: float) -> int:
    return int(np.quantile(draws, share, method="higher"))
