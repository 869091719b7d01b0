"""Does a smaller corpus still rank the systems as the full one does, and how small can it be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from ir_measures import Measure, nDCG

from ringtrue.audit import Finding, Section, Table, Verdict
from ringtrue.provenance import Provenance, stamp
from ringtrue.subsampling import sections
from ringtrue.subsampling.account import account, check
from ringtrue.subsampling.campaign import Campaign
from ringtrue.subsampling.holdout import why_not
from ringtrue.subsampling.plan import Limits, Option, Plan, plan
from ringtrue.subsampling.reliability import FEWEST_GROUPS, Experiment, MeanOver, reliability
from ringtrue.subsampling.result import Comparison, SamplerReliability

STUDY_SAMPLERS = (
    "pool:10", "pool:25", "pool:50", "pool:100", "pool:1000", "judged", "loft:1000", "loft:10000", "complete",
)  # fmt: skip
SMALL_SAMPLERS = ("pool:1", "pool:2", "pool:3", "pool:5", "pool:10", "judged", "loft:50", "loft:100", "complete")
SMALL = 10_000
SMALLER = 0.95
FEW_TOPICS = FEW_GROUPS = 5  # with fewer most resamples are alike, and the interval is narrow for want of data


@dataclass(frozen=True, eq=False)
class SubsamplingAudit:
    """Samplers held against the truth by leave-one-group-out.

    `truth` has the true score of each system by name of the truth; where there is no plan, `why_not` says why nothing
    was tried. `topics` are those with a relevant document.
    """

    samplers: tuple[SamplerReliability, ...]
    comparisons: tuple[Comparison, ...]
    truth: Mapping[str, Mapping[str, float]]
    plan: Plan | None
    measure: Measure
    top: float
    systems: int
    retrieved: int
    groups: int
    topics: int
    account: Table
    provenance: Provenance
    planned: bool = False
    why_not: str = ""

    name = "subsampling"
    title = "Does a smaller corpus still rank the systems as the full one does?"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Whether a sample that is smaller than the union of all runs is reliable enough."""
        return (self._finding(),)

    def _finding(self) -> Finding:
        limits = Limits() if self.plan is None else self.plan.limits
        cost = f" and {limits.cost}" if limits.cost else ""
        rule = (
            f"for some sample of less than {SMALLER:.0%} of all retrieved documents{cost}, the lower end of the 95 % "
            "interval of tau_AP_b, each system as predicted without its group, is at least "
            f"{limits.bound:g}; a warning where the coefficient itself is"
        )
        if self.plan is None:
            return Finding("reliable sample", Verdict.UNKNOWN, rule, f"{self.why_not}.")
        smaller = [option for option in self.plan.options if option.docs < SMALLER * self.retrieved]
        within = [option for option in smaller if option.affordable]
        known = [option for option in within if not math.isnan(option.tau)]
        if not known:
            return Finding("reliable sample", Verdict.UNKNOWN, rule, self._why_unknown(smaller, within))
        return self._judge(self.plan, known, rule)

    def _why_unknown(self, smaller: Sequence[Option], within: Sequence[Option]) -> str:
        if within:
            return "all systems are tied, so that no order can be compared."
        if smaller:
            least = smaller[0]
            return f"no sampler that was tried is within the limits; {least.sampler} has {least.docs:,.0f} documents."
        return f"no sampler that was tried keeps less than {SMALLER:.0%} of the {self.retrieved:,} documents."

    def _judge(self, plan: Plan, known: Sequence[Option], rule: str) -> Finding:
        """The verdict on what the plan takes, or where that is no smaller corpus on what comes nearest to it."""
        chosen = plan.chosen
        shown = chosen if chosen in known else max(known, key=lambda option: option.low)
        assert shown is not None
        near = Verdict.WARN if shown.tau >= plan.limits.bound else Verdict.FAIL
        seen = (
            f"{shown.sampler} keeps {shown.docs:,.0f} of {self.retrieved:,} documents "
            f"({shown.docs / self.retrieved:.0%}) at tau_AP_b {shown.tau:.3f} ({shown.low:.3f} to {shown.high:.3f})"
        )
        seen += (
            "."
            if shown.reliable
            else f": the best of those that keep less than {SMALLER:.0%}, but not reliable enough."
        )
        if chosen is None:
            seen += " No sampler is chosen."
        elif chosen is not shown:
            seen += f" {chosen.sampler} is chosen, which keeps {chosen.docs / self.retrieved:.0%}."
        one = next(found for found in self.samplers if found.sampler == shown.sampler)
        interval = one.intervals[plan.limits.view].unpooled_tau_ap_b
        verdict = Verdict.PASS if shown.reliable else near
        if self.topics < FEW_TOPICS:
            verdict = Verdict.UNKNOWN
            topics = "1 topic has" if self.topics == 1 else f"{self.topics} topics have"
            seen += f" Only {topics} a relevant document: too few to tell of others."
        elif self.groups < FEW_GROUPS and verdict is Verdict.PASS:
            verdict = Verdict.WARN
            seen += f" Of {self.groups} groups all resamples are much alike: the interval is narrow for want of data."
        return Finding("reliable sample", verdict, rule, seen, shown.tau, interval)

    def sections(self) -> tuple[Section, ...]:
        """The table of samplers, the curve, and the tests between samplers; of a plan, what it rests on alone."""
        if self.plan is None:
            return (self.account,)
        if self.planned:
            return (
                sections.plan_table(self.plan),
                sections.curve(self.samplers),
                sections.reliability_table(self.samplers, self.measure),
                sections.sizes_table(self.samplers, self.measure),
                self.account,
                sections.definitions(self.measure),
            )
        return (
            sections.reliability_table(self.samplers, self.measure),
            sections.curve(self.samplers),
            sections.plan_table(self.plan),
            sections.sizes_table(self.samplers, self.measure),
            sections.details_table(self.samplers, self.top),
            sections.intervals_table(self.samplers),
            sections.comparisons_table(self.comparisons),
            self.account,
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
    bytes_per_doc: float | None = None,
    inputs: Mapping[str, str] | None = None,
    say: Callable[[str], None] = lambda message: None,
) -> SubsamplingAudit:
    """Leave each group out once for each sampler; UNKNOWN with fewer than three groups or an unusable measure.

    `inputs` are keys for the content of what was given, by name.
    """
    check(campaign)
    groups = len(campaign.group_names)
    tried = samplers or default_samplers(campaign)
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
        "bytes_per_doc": bytes_per_doc,
    }
    results: tuple[SamplerReliability, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    truth: Mapping[str, Mapping[str, float]] = {}
    reason = _too_few(campaign) or why_not(measure)
    if not reason:
        experiment = Experiment(campaign, measure, mean, top, replicates, seed)
        skipped = None if samplers else campaign.notes  # what nobody asked for must not stand in the way
        results, comparisons = reliability(experiment, tried, say, skipped=skipped)
        truth = experiment.true_scores
        if bytes_per_doc is not None:
            results = tuple(replace(one, megabytes=one.corpus_size_mean * bytes_per_doc / 1e6) for one in results)
        reason = "" if results else "no usual sampler has documents whichever group is left out"
    return SubsamplingAudit(
        samplers=results,
        comparisons=comparisons,
        truth=truth,
        plan=plan(results, limits or Limits()) if results else None,
        measure=measure,
        top=top,
        systems=len(campaign.runs),
        retrieved=len(campaign.runs.docs),
        groups=groups,
        topics=len(np.unique(campaign.qrels.topic[campaign.qrels.relevance > 0])),
        account=account(campaign),
        provenance=stamp(tried, inputs, settings),
        planned=limits is not None,
        why_not=reason,
    )


def _too_few(campaign: Campaign) -> str:
    """Why the groups are too few; empty where they are not."""
    groups, systems = len(campaign.group_names), len(campaign.runs)
    if groups >= FEWEST_GROUPS:
        return ""
    count = "1 group is" if groups == 1 else f"{groups} groups are"
    return f"{count} too few for {systems} systems: leaving one out needs at least {FEWEST_GROUPS}"
