"""The time of a training: what was spent on it in this and earlier processes, and what is left."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Starts when it is made."""

    def __init__(self, spent: float, step: int, steps: int) -> None:
        """`spent` seconds went into the first `step` of all updates before."""
        self._spent, self._step, self._steps = spent, step, steps
        self._begin, self._paused = time.perf_counter(), 0.0

    @property
    def seconds(self) -> float:
        """Of training, without pauses."""
        return self._spent + time.perf_counter() - self._begin - self._paused

    def left(self, step: int) -> float:
        """An estimate from the updates of this process, pauses included."""
        took = time.perf_counter() - self._begin
        return took / max(step - self._step, 1) * (self._steps - step)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """What happens inside is not training."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self._paused += time.perf_counter() - begin
