"""How to train: what decides the weights, and what is kept on the way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import Precision

Schedule = Literal["linear", "constant"]
Choice = Literal["last", "best"]


@dataclass(frozen=True)
class Settings:
    """The study's one epoch by default; `batch` and `validate_every` count triples and updates of the weights.

    `batch` triples go through the network at once, and `accumulate` such batches make one update. Where
    `learning_rate` is None, the model's own is taken. The rate grows over the first `warmup` of all updates; then it
    stays (`constant`) or falls to nothing at the end (`linear`). Biases and scales do not decay. With `select="best"`
    the weights of the best validation are returned instead of the last. `keep_every` (seconds) and `keep_steps`
    (updates) say how often the state is kept for resuming.
    """

    epochs: int = 1
    batch: int = 16
    accumulate: int = 1
    learning_rate: float | None = None
    schedule: Schedule = "linear"
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float | None = 1.0
    precision: Precision = "fp32"
    seed: int = 42
    validate_every: int | None = None
    select: Choice = "last"
    keep_every: float = 120.0
    keep_steps: int | None = None

    def check(self) -> None:
        """Refuse what cannot be trained with."""
        for name in ("epochs", "batch", "accumulate", "validate_every", "keep_steps"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"training: {name} is {value}; it should be 1 or more.")
        for name in ("learning_rate", "clip"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise InputError(f"training: {name} is {value}; it should be above 0.")
        if not 0 <= self.warmup <= 1:
            raise InputError(f"training: warmup is {self.warmup}; it is a share of all updates, from 0 to 1.")
        if not 0 <= self.weight_decay < math.inf:
            raise InputError(f"training: weight_decay is {self.weight_decay}; it should be 0 or more.")
        if self.seed < 0:
            raise InputError(f"training: seed is {self.seed}; it should be 0 or more.")

    def share_of_rate(self, step: int, steps: int) -> float:
        """The learning rate of an update, as a share of the full one; updates count from 0."""
        warm = math.ceil(self.warmup * steps)
        if step < warm:
            return (step + 1) / warm
        return 1.0 if self.schedule == "constant" else (steps - step) / max(steps - warm, 1)
