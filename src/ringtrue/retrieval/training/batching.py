"""Which triples make each update of the weights: shuffled, but with those of similar length together.

All triples are shuffled, cut into windows, sorted by length inside each window and cut into updates, whose order in
the window is shuffled again. Padding is little, and no order of lengths is left over an epoch.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ringtrue.retrieval.neural.network import Network, PairRows, Prepared

_WINDOW = 64  # updates

Numbers = NDArray[np.int64]


def pairs_of(rows: NDArray[np.int64]) -> PairRows:
    """The pairs of triples, relevant and non-relevant of each side by side."""
    return np.stack((rows[:, [0, 1]], rows[:, [0, 2]]), axis=1).reshape(-1, 2)


def lengths_of(network: Network, prepared: Prepared, rows: NDArray[np.int64]) -> Numbers:
    """The length of each triple: that of its longer pair, to which the other is padded."""
    return np.asarray(network.lengths(prepared, pairs_of(rows)).reshape(-1, 2).max(1), np.int64)


def count_updates(triples: int, size: int) -> int:
    """How many updates an epoch has; the last of them may be smaller."""
    return -(-triples // size)


def epoch_updates(lengths: Numbers, size: int, seed: int, epoch: int) -> list[Numbers]:
    """The triples of each update of an epoch, the longest of each update first."""
    rng = np.random.default_rng((seed, epoch))
    order = rng.permutation(len(lengths))
    updates: list[Numbers] = []
    for start in range(0, len(order), size * _WINDOW):
        window = order[start : start + size * _WINDOW]
        window = window[np.argsort(-lengths[window], kind="stable")]
        parts = [window[begin : begin + size] for begin in range(0, len(window), size)]
        updates += [parts[place] for place in rng.permutation(len(parts))]
    return updates


def updates_from(step: int, lengths: Numbers, size: int, seed: int, epochs: int) -> Iterator[tuple[int, Numbers]]:
    """All updates from one on, each with its number; the same whether or not the earlier ones were asked for."""
    an_epoch = count_updates(len(lengths), size)
    for epoch in range(step // an_epoch, epochs):
        updates = epoch_updates(lengths, size, seed, epoch)
        for place in range(step - epoch * an_epoch, an_epoch):
            yield step, updates[place]
            step += 1
