"""What a cascade keeps of a stream: the highest scores, and a random sample of every narrow range of scores.

Memory is bounded whatever the length of the stream. Whether a line is in the sample depends on its number and the seed
alone (the lines of a range with the smallest hashes), so that a stream in other pieces, or gone on with in another
process, gives the same sample, and any union of ranges has an even sample too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ringtrue.retrieval.neighbours import Floats, Ints
from ringtrue.retrieval.textstore import TextStore

RANGES = 200
_ALL = np.uint64(2**64 - 1)
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


class Sieve:
    """Takes scores from -1 to 1 with their texts; `trim`med, it holds `room` of the highest and the samples."""

    def __init__(self, seed: int, room: int, sample: int) -> None:
        """Start with nothing."""
        self._seed, self.room, self.sample = seed, room, sample
        self.seen = 0
        self.counts = np.zeros(RANGES, np.int64)
        self.texts = TextStore()
        self.numbers, self.scores, self.hashes = np.empty(0, np.int64), np.empty(0, np.float32), np.empty(0, np.uint64)
        self._floor = np.float32(-np.inf)
        self._limits = np.full(RANGES, _ALL)

    def add(self, texts: Sequence[str], ids: Sequence[str], scores: Floats) -> None:
        """Take in a block."""
        numbers = np.arange(self.seen, self.seen + len(texts))
        hashes, ranges = _hashed(numbers, self._seed), range_of(scores)
        self.counts += np.bincount(ranges, minlength=RANGES)
        chosen = np.flatnonzero((scores >= self._floor) | (hashes <= self._limits[ranges]))
        self.texts.add(self.seen, texts, ids, chosen)
        self.numbers = np.concatenate((self.numbers, numbers[chosen]))
        self.scores = np.concatenate((self.scores, scores[chosen]))
        self.hashes = np.concatenate((self.hashes, hashes[chosen]))
        self.seen += len(texts)
        if len(self.numbers) > 2 * (self.room + self.sample * RANGES // 4):
            self.trim()

    def trim(self) -> None:
        """Drop what is neither among the highest nor in a sample; when that is done does not change what is left."""
        order = np.lexsort((self.numbers, -self.scores))
        keep = np.zeros(len(order), bool)
        keep[order[: self.room]] = True
        if len(order) > self.room:
            self._floor = self.scores[order[self.room - 1]]
        ranges = range_of(self.scores)
        order = np.lexsort((self.hashes, ranges))
        starts = np.searchsorted(ranges[order], np.arange(RANGES))
        ranks = np.arange(len(order)) - starts[ranges[order]]
        keep[order[ranks < self.sample]] = True
        last = order[ranks == self.sample - 1]
        self._limits[ranges[last]] = self.hashes[last]
        kept = np.flatnonzero(keep)
        self.numbers, self.scores, self.hashes = self.numbers[kept], self.scores[kept], self.hashes[kept]
        self.texts.keep(self.numbers)

    def drawn(self, low: int, high: int) -> Ints:
        """Places of lines in the ranges from `low` to before `high`; so many of the first are an even sample of all."""
        ranges = range_of(self.scores)
        whole = np.bincount(ranges, minlength=RANGES) == self.counts
        limit = np.where(whole, _ALL, self._limits)[low:high].min()
        even = np.flatnonzero((ranges >= low) & (ranges < high) & (self.hashes <= limit))
        return even[np.argsort(self.hashes[even], kind="stable")]

    def state(self) -> dict[str, NDArray[np.generic]]:
        """All that is needed to go on."""
        self.trim()
        return {
            "seen": np.array([self.seen]),
            "floor": np.array([self._floor]),
            "limits": self._limits,
            "counts": self.counts,
            "numbers": self.numbers,
            "scores": self.scores,
            "hashes": self.hashes,
            **self.texts.arrays(),
        }

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        """Go on from what `state` gave."""
        self.seen, self._floor = int(state["seen"].tolist()[0]), state["floor"].astype(np.float32)[0]
        self._limits, self.counts = state["limits"].astype(np.uint64), state["counts"].astype(np.int64)
        self.numbers, self.scores = state["numbers"].astype(np.int64), state["scores"].astype(np.float32)
        self.hashes = state["hashes"].astype(np.uint64)
        self.texts.load(state)


def range_of(scores: Floats) -> Ints:
    """The number of the range that each score lies in."""
    return np.clip(np.floor((scores.astype(np.float64) + 1) * (RANGES / 2)), 0, RANGES - 1).astype(np.int64)


def _hashed(numbers: Ints, seed: int) -> NDArray[np.uint64]:
    """SplitMix64 of each number and the seed."""
    with np.errstate(over="ignore"):
        mixed = (numbers.astype(np.uint64) + np.uint64(seed % 2**32) * np.uint64(2**32)) * _MIX[0] + _MIX[0]
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX[1]
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX[2]
        return mixed ^ (mixed >> np.uint64(31))
