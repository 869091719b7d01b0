"""The cheapest sampler that is reliable enough, before anything expensive runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ringtrue.subsampling.result import SamplerReliability


@dataclass(frozen=True)
class Limits:
    """What is asked of a sample: a lower bound of unpooled tau_AP_b, and what it may cost."""

    target_tau: float = 0.9
    max_docs: float | None = None
    max_kwh: float | None = None
    kwh_per_doc: float | None = None
    view: str = "with"

    def kwh(self, docs: float) -> float | None:
        """The energy for that many documents, by the given rate; None where no rate is known."""
        return None if self.kwh_per_doc is None else docs * self.kwh_per_doc


@dataclass(frozen=True)
class Option:
    """One sampler under the limits."""

    sampler: str
    docs: float
    kwh: float | None
    tau: float
    low: float
    high: float
    reliable: bool
    affordable: bool


@dataclass(frozen=True)
class Plan:
    """All samplers from the smallest to the largest, and the one to take; None where none will do."""

    limits: Limits
    options: tuple[Option, ...]
    chosen: Option | None


def plan(results: Sequence[SamplerReliability], limits: Limits) -> Plan:
    """Take the smallest sample whose lower bound reaches the target and whose cost is within the limits.

    With a limit on cost and no sampler that reaches the target, the most reliable affordable one is not taken: a plan
    that misses its target is none. The table shows it.
    """
    options = tuple(sorted((_option(one, limits) for one in results), key=lambda option: (option.docs, option.sampler)))
    return Plan(limits, options, next((option for option in options if option.reliable and option.affordable), None))


def _option(one: SamplerReliability, limits: Limits) -> Option:
    interval = one.intervals[limits.view].unpooled_tau_ap_b
    kwh = limits.kwh(one.corpus_size_mean)
    affordable = (limits.max_docs is None or one.corpus_size_mean <= limits.max_docs) and (
        limits.max_kwh is None or (kwh is not None and kwh <= limits.max_kwh)
    )
    return Option(
        sampler=one.sampler,
        docs=one.corpus_size_mean,
        kwh=kwh,
        tau=one.lead(limits.view).unpooled_tau_ap_b,
        low=interval.low,
        high=interval.high,
        reliable=interval.low >= limits.target_tau,
        affordable=affordable,
    )
