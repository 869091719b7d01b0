"""The cheapest sampler that is reliable enough, before anything expensive runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ringtrue.subsampling.result import SamplerReliability

TARGET_TAU = 0.9


@dataclass(frozen=True)
class Limits:
    """What is asked of a sample: a lower bound of unpooled tau_AP_b, and what it may cost.

    Without a target the most reliable sample within the cost is asked for; without a cost either, the target is .9.
    """

    target_tau: float | None = None
    max_docs: float | None = None
    max_kwh: float | None = None
    kwh_per_doc: float | None = None
    view: str = "with"

    @property
    def by_cost(self) -> bool:
        """Whether the cost alone is limited."""
        return self.target_tau is None and (self.max_docs is not None or self.max_kwh is not None)

    @property
    def bound(self) -> float:
        """What a reliable sample's lower bound reaches."""
        return TARGET_TAU if self.target_tau is None else self.target_tau

    def kwh(self, docs: float) -> float | None:
        """The energy for that many documents, by the given rate; None where no rate is known."""
        return None if self.kwh_per_doc is None else docs * self.kwh_per_doc

    def too_dear(self, docs: float) -> str:
        """Why that many documents are too many; empty where they are not."""
        if self.max_docs is not None and docs > self.max_docs:
            return f"more than {self.max_docs:,.0f} documents"
        kwh = self.kwh(docs)
        if self.max_kwh is not None and kwh is not None and kwh > self.max_kwh:
            return f"more than {self.max_kwh:g} kWh"
        return ""

    @property
    def cost(self) -> str:
        """What a sample may cost, in words; empty where that is not limited."""
        words = [] if self.max_docs is None else [f"at most {self.max_docs:,.0f} documents"]
        words += [] if self.max_kwh is None else [f"at most {self.max_kwh:g} kWh"]
        return " and ".join(words)

    def __str__(self) -> str:
        """What is asked, in words."""
        if self.by_cost:
            return f"the most reliable sample of {self.cost}"
        of = f", of {self.cost}" if self.cost else ""
        return f"the smallest sample whose lower bound reaches {self.bound:g}{of}"


@dataclass(frozen=True)
class Option:
    """One sampler under the limits; `reason` says why it is taken or not."""

    sampler: str
    docs: float
    kwh: float | None
    tau: float
    low: float
    high: float
    reliable: bool
    affordable: bool
    chosen: bool
    reason: str


@dataclass(frozen=True)
class Plan:
    """All samplers from the smallest to the largest, one of them chosen unless none will do."""

    limits: Limits
    options: tuple[Option, ...]

    @property
    def chosen(self) -> Option | None:
        """The one to take."""
        return next((option for option in self.options if option.chosen), None)


def plan(results: Sequence[SamplerReliability], limits: Limits) -> Plan:
    """Take the smallest sample that reaches the target within the cost, or without a target the most reliable one.

    With a target that no sampler reaches within the cost, none is taken: a plan that misses its target is none. The
    table shows what comes near.
    """
    ordered = sorted(results, key=lambda one: (one.corpus_size_mean, one.sampler))
    low = [one.intervals[limits.view].unpooled_tau_ap_b.low for one in ordered]
    dear = [limits.too_dear(one.corpus_size_mean) for one in ordered]
    within = [place for place in range(len(ordered)) if not dear[place]]
    if limits.by_cost:
        taken = max((place for place in within if not math.isnan(low[place])), key=low.__getitem__, default=None)
    else:
        taken = next((place for place in within if low[place] >= limits.bound), None)
    return Plan(limits, tuple(_option(one, limits, dear[place], place, taken) for place, one in enumerate(ordered)))


def _option(one: SamplerReliability, limits: Limits, dear: str, place: int, taken: int | None) -> Option:
    interval = one.intervals[limits.view].unpooled_tau_ap_b
    reliable = interval.low >= limits.bound
    if place == taken:
        reason = (
            "the most reliable within the cost" if limits.by_cost else f"the smallest that reaches {limits.bound:g}"
        )
    elif dear:
        reason = dear
    elif math.isnan(interval.low):
        reason = "all systems are tied on it"
    elif limits.by_cost:
        reason = "no more reliable than the chosen"
    else:
        reason = "reliable, but larger" if reliable else f"its lower bound is below {limits.bound:g}"
    return Option(
        sampler=one.sampler,
        docs=one.corpus_size_mean,
        kwh=limits.kwh(one.corpus_size_mean),
        tau=one.lead(limits.view).unpooled_tau_ap_b,
        low=interval.low,
        high=interval.high,
        reliable=reliable,
        affordable=not dear,
        chosen=place == taken,
        reason=reason,
    )
