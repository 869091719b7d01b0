"""Does a smaller corpus still rank the systems as the full one does, and how small can it be."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ir_measures import Measure, nDCG

from ringtrue.audit import Finding, Section, Verdict
from ringtrue.provenance import Provenance, stamp
from ringtrue.subsampling import sections
from ringtrue.subsampling.campaign import Campaign
from ringtrue.subsampling.plan import Limits, Plan, plan
from ringtrue.subsampling.reliability import FEWEST_GROUPS, Experiment, MeanOver, reliability
from ringtrue.subsampling.result import Comparison, SamplerReliability

STUDY_SAMPLERS = (
    "pool:10", "pool:25", "pool:50", "pool:100", "pool:1000", "judged", "loft:1000", "loft:10000", "complete",
)  # fmt: skip
SMALL_SAMPLERS = ("pool:1", "pool:2", "pool:3", "pool:5", "pool:10", "judged", "loft:50", "loft:100", "complete")
SMALL = 10_000
TARGET_TAU = 0.9
SMALLER = 0.95


@dataclass(frozen=True, eq=False)
class SubsamplingAudit:
    """Samplers held against the truth by leave-one-group-out."""

    samplers: tuple[SamplerReliability, ...]
    comparisons: tuple[Comparison, ...]
    plan: Plan | None
    measure: Measure
    top: float
    systems: int
    retrieved: int
    groups: int
    provenance: Provenance

    name = "subsampling"
    title = "Does a smaller corpus still rank the systems as the full one does?"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Whether a sample that is smaller than the union of all runs is reliable enough."""
        return (self._finding(),)

    @property
    def _target(self) -> float:
        return TARGET_TAU if self.plan is None else self.plan.limits.target_tau

    def _finding(self) -> Finding:
        rule = (
            f"for some sample of less than {SMALLER:.0%} of all retrieved documents, the lower end of the 95 % "
            f"interval of tau_AP_b, each system as predicted without its group, is at least {self._target}; "
            "a warning where the coefficient itself is"
        )
        if self.plan is None:
            seen = f"{self.groups} groups are too few: leaving one out needs at least {FEWEST_GROUPS}."
            return Finding("reliable sample", Verdict.UNKNOWN, rule, seen)
        smaller = [option for option in self.plan.options if option.docs < SMALLER * self.retrieved]
        chosen = next((option for option in smaller if option.reliable), None)
        shown = chosen or max(smaller, key=lambda option: option.low, default=self.plan.options[-1])
        if math.isnan(shown.tau):
            seen = "all systems are tied, so that no order can be compared."
            return Finding("reliable sample", Verdict.UNKNOWN, rule, seen)
        near = shown.tau >= self._target
        verdict = Verdict.PASS if chosen else Verdict.WARN if near else Verdict.FAIL
        seen = (
            f"{shown.sampler} keeps {shown.docs:,.0f} of {self.retrieved:,} documents "
            f"({shown.docs / self.retrieved:.0%}) at tau_AP_b {shown.tau:.3f} ({shown.low:.3f} to {shown.high:.3f})"
        )
        seen += "." if chosen else ": the nearest to it, but not reliable enough."
        one = next(found for found in self.samplers if found.sampler == shown.sampler)
        return Finding(
            "reliable sample", verdict, rule, seen, shown.tau, one.intervals[self.plan.limits.view].unpooled_tau_ap_b
        )

    def sections(self) -> tuple[Section, ...]:
        """The table of samplers, the curve, and the tests between samplers."""
        if self.plan is None:
            return ()
        return (
            sections.reliability_table(self.samplers, self.measure),
            sections.curve(self.samplers),
            sections.plan_table(self.plan),
            sections.details_table(self.samplers, self.top),
            sections.comparisons_table(self.comparisons),
            sections.definitions(self.measure),
        )


def default_samplers(campaign: Campaign) -> tuple[str, ...]:
    """The study's nine, or shallower ones where all runs together retrieve fewer than 10,000 documents."""
    return STUDY_SAMPLERS if len(campaign.runs.docs) >= SMALL else SMALL_SAMPLERS


def audit_subsampling(
    campaign: Campaign,
    samplers: Sequence[str] | None = None,
    *,
    measure: Measure = nDCG @ 10,
    mean: MeanOver = "qrels",
    top: float = 0.75,
    limits: Limits | None = None,
    replicates: int = 1000,
    seed: int = 42,
    say: Callable[[str], None] = lambda message: None,
) -> SubsamplingAudit:
    """Leave each group out once for each sampler; with fewer than three groups the answer is UNKNOWN."""
    groups = len(campaign.group_names)
    samplers = samplers or default_samplers(campaign)
    settings: dict[str, str | int | float | bool | None] = {
        "measure": str(measure),
        "ties": campaign.runs.ties.rule,
        "mean": f"over the topics of the {mean}",
        "judging": campaign.judging,
        "top": top,
        "replicates": replicates,
        "seed": seed,
        "systems": len(campaign.runs),
        "groups": groups,
    }
    results: tuple[SamplerReliability, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    if groups >= FEWEST_GROUPS:
        experiment = Experiment(campaign, measure, mean, top, replicates, seed)
        results, comparisons = reliability(experiment, samplers, say)
    return SubsamplingAudit(
        samplers=results,
        comparisons=comparisons,
        plan=plan(results, limits or Limits(TARGET_TAU)) if results else None,
        measure=measure,
        top=top,
        systems=len(campaign.runs),
        retrieved=len(campaign.runs.docs),
        groups=groups,
        provenance=stamp(samplers, settings=settings),
    )
