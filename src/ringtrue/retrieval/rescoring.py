"""After screening: the pairs that could be wanted, encoded and compared in full.

First the best of each row by the screened similarities; their exact ones give a bound that the rest must be able to
reach. Each distinct text is encoded once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ringtrue.retrieval.encoders import Encoder, stream, usual_block
from ringtrue.retrieval.neighbours import Floats, Neighbours, Pairs, Wanted
from ringtrue.retrieval.scan import scanner_for

_SMALLEST = 16_384
_PIECES = 4  # of a usual block: there is less to do than in the stream, and it should begin and end soon


@dataclass(frozen=True)
class Rescored:
    """How the screening went.

    `deviation` is the largest difference between a screened and an exact similarity that was seen; as long as it is
    well below the margin, nothing was missed. `broken` items have exact vectors that are not finite, which their
    screened ones did not show: they are similar to nothing.
    """

    margin: float
    deviation: float
    texts: int
    pairs: int
    broken: int = 0

    @property
    def certain(self) -> bool:
        """Whether no similarity was off by more than three quarters of what was allowed for."""
        return self.deviation <= 0.75 * self.margin


def rescore(
    encoder: Encoder, rows: Floats, pairs: Pairs, texts: Mapping[int, str], wanted: Wanted, margin: float
) -> tuple[Pairs, Rescored]:
    """The wanted pairs with exact similarities, of pairs that are sorted by row, the best first."""
    exact = Neighbours(len(rows), wanted)
    starts = np.searchsorted(pairs.rows, np.arange(len(rows) + 1))
    best = np.arange(len(pairs.rows)) - starts[pairs.rows] < wanted.k
    told = Rescored(margin, 0.0, 0, 0)
    chosen = np.isin(pairs.items, pairs.items[best])  # whatever else is paired with what is encoded costs nothing more
    left = ~chosen
    for _ in range(2):
        part = pairs.take(chosen)
        scores, encoded = _similarities(encoder, rows, part, texts)
        lost = ~np.isfinite(scores)
        broken = len(np.unique(part.items[lost & (part.scores != 0)]))
        scores[lost] = 0.0
        exact.add(part._replace(scores=scores))
        exact.best()
        deviation = max(told.deviation, float(np.abs(scores - part.scores)[~lost].max(initial=0.0)))
        told = Rescored(margin, deviation, told.texts + encoded, told.pairs + len(scores), told.broken + broken)
        chosen = left & (pairs.scores >= exact.floor[pairs.rows] - np.float32(margin))
    return exact.best(), told


def _similarities(encoder: Encoder, rows: Floats, pairs: Pairs, texts: Mapping[int, str]) -> tuple[Floats, int]:
    """The exact similarity of each pair (no number where a vector has none), and how many texts were encoded for it."""
    number_of: dict[str, int] = {}
    items, places = np.unique(pairs.items, return_inverse=True)
    numbers = np.array([number_of.setdefault(texts[item], len(number_of)) for item in items.tolist()], np.int64)[places]
    order = np.argsort(numbers, kind="stable")
    result = np.empty(len(order), np.float32)
    distinct = list(number_of)
    size = max(_SMALLEST, usual_block(encoder) // _PIECES)
    starts = range(0, len(distinct), size)
    blocks = (distinct[start : start + size] for start in starts)
    for start, vectors in zip(starts, stream(encoder, blocks), strict=True):
        low, high = np.searchsorted(numbers, [start, start + size], sorter=order)
        part = order[low:high]
        among = Pairs(pairs.rows[part], numbers[part] - start, pairs.scores[part])
        result[part] = scanner_for(vectors, rows).similarities(vectors, among)
    return result, len(distinct)
