"""What leave-one-group-out says of samplers; field names are those of `reliability.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ringtrue.audit import Interval


@dataclass(frozen=True)
class Agreement:
    """How one view's scores agree with the truth.

    The coefficients are over all systems, or over the best share of them by truth (`…_top`): means over groups, or
    `unpooled_…`, one coefficient in which each system has the value of the cell that leaves out its own group. `delta`
    and `rmse` are of predicted minus true scores of the left-out systems.
    """

    tau_ap_b: float
    tau_ap: float
    tau_b: float
    tau_ap_b_top: float
    tau_ap_top: float
    tau_b_top: float
    unpooled_tau_ap_b: float
    unpooled_tau_ap: float
    unpooled_tau_b: float
    unpooled_tau_ap_b_top: float
    unpooled_tau_ap_top: float
    unpooled_tau_b_top: float
    delta: float
    rmse: float
    delta_mean_over_groups: float
    rmse_mean_over_groups: float


@dataclass(frozen=True)
class Bootstrapped:
    """Intervals from resampling topics and groups, for one view against the pooled truth.

    None for tau_AP unpooled: it knows no ties, and the systems of a group that is drawn twice are tied with themselves.
    """

    tau_ap_b: Interval
    tau_ap: Interval
    tau_b: Interval
    unpooled_tau_ap_b: Interval
    unpooled_tau_b: Interval
    delta: Interval
    rmse: Interval


@dataclass(frozen=True)
class SamplerReliability:
    """One sampler: how large its samples are and what they do to the order of systems.

    `megabytes` are estimated: documents times the mean of one; None where that is not known.
    """

    sampler: str
    corpus_size_mean: float
    corpus_size_min: int
    corpus_size_max: int
    judgments_without: float
    judgments_with: float
    unjudged_without: float
    unjudged_with: float
    agreement: Mapping[str, Mapping[str, Agreement]]
    intervals: Mapping[str, Bootstrapped]
    megabytes: float | None = None

    def lead(self, view: str = "with") -> Agreement:
        """The figures of the study's tables: against the pooled truth."""
        return self.agreement["truth_pool10"][view]


@dataclass(frozen=True)
class Comparison:
    """A sampler against the largest one: tau_AP_b by group, paired, with post judgments."""

    sampler: str
    reference: str
    mean_difference: float
    p: float
    p_holm: float
    groups: int
