"""The nearest items of some rows, kept while more and more pairs come in.

Memory is bounded by the number of rows times k and the pairs above the threshold, whatever the number of items.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

_SPARE = 3  # sort again when this many times what must be kept has come in


class Pairs(NamedTuple):
    """Rows and items that belong together, and how similar they are."""

    rows: Ints
    items: Ints
    scores: Floats

    def take(self, chosen: NDArray[np.bool_] | Ints) -> Pairs:
        """Some of the pairs."""
        return Pairs(self.rows[chosen], self.items[chosen], self.scores[chosen])

    @classmethod
    def joined(cls, parts: list[Pairs]) -> Pairs:
        """Pairs one after the other."""
        if not parts:
            return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class Wanted(NamedTuple):
    """The k best of each row and all above the threshold, by scores that may be off by the margin."""

    k: int
    threshold: float | None
    margin: float = 0.0

    def floor(self, kth: Floats) -> Floats:
        """Below it, a pair can be neither of both; `kth` is the k-th best score of each row so far."""
        lowest = kth - np.float32(2 * self.margin) if self.k else np.full_like(kth, np.inf)
        if self.threshold is not None:
            lowest = np.minimum(lowest, np.float32(self.threshold - self.margin))
        return lowest


class Neighbours:
    """What is wanted of the pairs that came in so far; `floor` tells which scores of each row are still of use."""

    def __init__(self, rows: int, wanted: Wanted, floor: Floats | None = None) -> None:
        """Start with nothing; a floor that is known already spares work."""
        self.wanted = wanted
        none_yet = wanted.floor(np.full(rows, -np.inf, np.float32))
        self.floor = none_yet if floor is None else np.maximum(none_yet, floor)
        self._parts: list[Pairs] = []
        self._size = 0
        self._limit = _SPARE * max(rows * wanted.k, 10_000)

    def add(self, pairs: Pairs) -> None:
        """Take in more pairs."""
        self._parts.append(pairs)
        self._size += len(pairs.rows)
        if self._size > self._limit:
            # what is above the threshold stays, however much it is: leave room beside it
            self._limit = max(self._limit, _SPARE * len(self.best().rows))

    def best(self) -> Pairs:
        """What is wanted, by row, the most similar first, those as similar in the order of the items."""
        pairs = _sorted(Pairs.joined(self._parts))
        starts = np.searchsorted(pairs.rows, np.arange(len(self.floor) + 1))
        ranks = np.arange(len(pairs.rows)) - starts[pairs.rows]
        kth = np.full(len(self.floor), -np.inf, np.float32)
        if self.wanted.k:
            full = np.flatnonzero(np.diff(starts) >= self.wanted.k)
            kth[full] = pairs.scores[starts[full] + self.wanted.k - 1]
        self.floor = np.maximum(self.floor, self.wanted.floor(kth))
        pairs = pairs.take((ranks < self.wanted.k) | (pairs.scores > self.floor[pairs.rows]))
        self._parts, self._size = [pairs], len(pairs.rows)
        return pairs

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """All that is needed to go on later."""
        pairs = self.best()
        return {"rows": pairs.rows, "items": pairs.items, "scores": pairs.scores, "floor": self.floor}

    def load(self, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        """Go on from what `arrays` gave."""
        pairs = Pairs(
            arrays["rows"].astype(np.int64), arrays["items"].astype(np.int64), arrays["scores"].astype(np.float32)
        )
        self.floor = arrays["floor"].astype(np.float32)
        self._parts, self._size = [pairs], len(pairs.rows)


def _sorted(pairs: Pairs) -> Pairs:
    """By row, falling score and item; two stable sorts of whole numbers are several times faster than `lexsort`."""
    pairs = pairs.take(np.argsort(pairs.items, kind="stable"))
    bits = (pairs.scores + np.float32(0)).view(np.uint32).astype(np.int64)  # there is a zero below zero: make it one
    falling = np.where(bits >> 31, bits, ~bits & 0x7FFFFFFF)  # the bits of a float ascend with it, or fall below zero
    return pairs.take(np.argsort((pairs.rows << 32) | falling, kind="stable"))
