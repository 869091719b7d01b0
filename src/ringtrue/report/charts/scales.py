"""From values to places on an axis, with ticks at round numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ringtrue.report.cells import typeset

_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True)
class Scale:
    """Values from `low` to `high` lie from `start` to `end`; `decimals` is what tick labels need."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    decimals: int = 0
    log: bool = False

    def at(self, value: float) -> float:
        """Where a value lies."""
        low, high = self.low, self.high
        if self.log:
            value, low, high = math.log10(value), math.log10(low), math.log10(high)
        return self.start + (self.end - self.start) * (value - low) / (high - low)

    def labels(self) -> tuple[str, ...]:
        """The ticks as text, large and tiny ones short (`10k`, `5e-07`) where that tells them apart."""
        short = [_compact(tick) for tick in self.ticks]
        wordy = max(map(abs, self.ticks)) >= 10_000 or self.decimals > 5
        if self.log or (wordy and len(set(short)) == len(short)):
            return tuple(typeset(text) for text in short)
        return tuple(typeset(f"{tick:z,.{self.decimals}f}") for tick in self.ticks)


def linear(values: Sequence[float], start: float, end: float, most: int) -> Scale:
    """A scale over finite values with at most about `most` ticks; its ends are ticks."""
    low, high = min(values), max(values)
    if math.isclose(low, high):
        room = abs(low) * 0.1 or 1.0
        low, high = low - room, high + room
    whole = all(value == int(value) for value in values)
    step = _step((high - low) / max(most - 1, 1), whole)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(place * step for place in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], start, end, ticks, _decimals(step))


def logarithmic(values: Sequence[float], start: float, end: float) -> Scale:
    """A scale over positive values with ticks at powers of ten, and between them where there are few."""
    low, high = min(values), max(values)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    inner = (1, 2, 5) if last - first <= 3 else (1,)
    ticks = [digit * 10.0**power for power in range(first, last + 1) for digit in inner]
    return Scale(low, high, start, end, tuple(tick for tick in ticks if low <= tick <= high), log=True)


def wants_log(values: Sequence[float]) -> bool:
    """Whether positive values span more than a hundred times."""
    return bool(values) and min(values) > 0 and max(values) / min(values) > 100


def _step(rough: float, whole: bool) -> float:
    """The least round step that is not below a rough one."""
    power = 10.0 ** math.floor(math.log10(rough))
    choices = [digit for digit in _ROUND if not (whole and digit == 2.5 and power <= 1)]
    step = next(digit for digit in choices if digit * power >= rough * (1 - 1e-9)) * power
    return max(step, 1.0) if whole else step


def _decimals(step: float) -> int:
    """Digits after the point that tell multiples of `step` apart."""
    exact = max(0, -math.floor(math.log10(step) + 1e-9))
    return exact if math.isclose(step * 10**exact, round(step * 10**exact)) else exact + 1


def _compact(value: float) -> str:
    """A number with a unit sign."""
    for unit, sign in _UNITS:
        if abs(value) >= unit:
            return f"{value / unit:.4g}{sign}"
    return f"{value:.4g}"
