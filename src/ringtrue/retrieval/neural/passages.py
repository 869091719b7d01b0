"""Long documents as passages, of which the best counts: MaxP of Dai and Callan (SIGIR 2019).

Passages are windows of words, which is the same for every network. Deviation: the title, which the paper puts before
each passage, is in the first alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtrue.retrieval.neural.network import PairRows


class Passages(NamedTuple):
    """Passages of some documents, and the pairs with each passage in place of its document."""

    texts: list[str]
    pairs: PairRows
    starts: NDArray[np.int64]

    def best(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """For each of the first pairs the score of its best passage."""
        return np.maximum.reduceat(scores, self.starts) if len(self.starts) else scores


def split(text: str, window: int, stride: int) -> list[str]:
    """Windows of words, each `stride` further than the one before; the last reaches the end, one is always there."""
    words = text.split()
    if len(words) <= window:
        return [text]
    last = -(-(len(words) - window) // stride) * stride
    return [" ".join(words[start : start + window]) for start in range(0, last + 1, stride)]


def into_passages(documents: Sequence[str], pairs: PairRows, window: int, stride: int) -> Passages:
    """Exchange documents for their passages."""
    parts = [split(text, window, stride) for text in documents]
    counts = np.fromiter(map(len, parts), np.int64, len(parts))
    firsts = np.cumsum(counts) - counts
    repeats = counts[pairs[:, 1]]
    starts = np.cumsum(repeats) - repeats
    numbers = np.arange(int(repeats.sum())) - np.repeat(starts - firsts[pairs[:, 1]], repeats)
    expanded = np.column_stack((np.repeat(pairs[:, 0], repeats), numbers))
    return Passages([text for part in parts for text in part], expanded, starts)
