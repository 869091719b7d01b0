"""Losses on their way from the device: fetched many at a time, so that a GPU never waits to be read."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import InputError
from ringtrue.retrieval.training.triples import Triples

# isort: split
import torch
from torch import Tensor

_SHOWN = 20


class _Measured(NamedTuple):
    """One update's loss and length of gradients, still on the device."""

    step: int
    triples: NDArray[np.int64]
    figures: Tensor


class Meter:
    """Keeps losses until they are fetched, and stops the training where one is not finite."""

    def __init__(self, triples: Triples, steps: int, every: int) -> None:
        """`every` says after how many updates it is `full`."""
        self._triples, self._steps, self._every = triples, steps, every
        self._waiting: list[_Measured] = []

    @property
    def full(self) -> bool:
        """Whether it is time to fetch."""
        return len(self._waiting) >= self._every

    def add(self, step: int, triples: NDArray[np.int64], loss: Tensor, length: Tensor) -> None:
        """Take one update's figures; nothing is read yet."""
        self._waiting.append(_Measured(step, triples, torch.stack((loss.float(), length.float()))))

    def fetch(self) -> list[float]:
        """The losses since the last time, in order."""
        if not self._waiting:
            return []
        figures = torch.stack([one.figures for one in self._waiting]).tolist()
        for measured, (loss, length) in zip(self._waiting, figures, strict=True):
            if not (math.isfinite(loss) and math.isfinite(length)):
                raise InputError(self._explain(measured, loss, length))
        self._waiting.clear()
        return [loss for loss, _ in figures]

    def _explain(self, measured: _Measured, loss: float, length: float) -> str:
        """Name the batch."""
        what = f"the loss is {loss}" if not math.isfinite(loss) else f"the length of the gradients is {length}"
        numbers = sorted(measured.triples.tolist())
        more = f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else ""
        query = self._triples.texts(numbers[0])[0]
        return (
            f"training stopped at step {measured.step + 1} of {self._steps}: {what}. "
            f"Its batch has the triples {', '.join(map(str, numbers[:_SHOWN]))}{more}; the query of the first is "
            f"{query[:100]!r}. Look at their texts, or try a lower learning rate or fp32."
        )
