"""Batches on their way to the device: made in a thread of their own while a GPU computes, in place on a CPU."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtrue.data.ahead import Ahead
from ringtrue.retrieval.neural.network import Batch, Network, Prepared
from ringtrue.retrieval.neural.scoring import HOST
from ringtrue.retrieval.training.batching import pairs_of

# isort: split
import torch
from torch import Tensor

_AHEAD = 4


class Update(NamedTuple):
    """What one update of the weights is computed from; each batch with its share of the update's triples."""

    step: int
    triples: NDArray[np.int64]
    batches: tuple[tuple[float, Batch], ...]


def feed(
    network: Network,
    prepared: Prepared,
    rows: NDArray[np.int64],
    updates: Iterable[tuple[int, NDArray[np.int64]]],
    size: int,
) -> Generator[Update]:
    """Turn the triples of each update into batches of at most `size` triples, on the network's device."""
    device = network.device
    works_ahead = _is_gpu(device)

    def collate(update: tuple[int, NDArray[np.int64]]) -> Update:
        step, triples = update
        batches = []
        for start in range(0, len(triples), size):
            part = triples[start : start + size]
            batch = network.collate(prepared, pairs_of(rows[part]))
            batches.append((len(part) / len(triples), _pinned(batch) if works_ahead else batch))
        return Update(step, triples, tuple(batches))

    made = map(collate, updates)
    with Ahead(made, _AHEAD) if works_ahead else nullcontext(made) as waiting:
        for update in waiting:
            yield update._replace(batches=tuple((share, _move(batch, device)) for share, batch in update.batches))


def _is_gpu(device: torch.device) -> bool:
    return bool(device.type == "cuda")


def _pinned(batch: Batch) -> Batch:
    """In memory that a GPU can copy from while it computes."""
    if not torch.cuda.is_available():
        return batch
    return {name: tensor if name.startswith(HOST) else tensor.pin_memory() for name, tensor in batch.items()}


def _move(batch: Batch, device: torch.device) -> dict[str, Tensor]:
    return {
        name: tensor if name.startswith(HOST) else tensor.to(device, non_blocking=True)
        for name, tensor in batch.items()
    }
