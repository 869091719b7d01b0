from __future__ import annotations

import math

import pytest

from ringtrue.audit import Interval, Verdict
from ringtrue.subsampling.plan import Limits, Plan, plan
from ringtrue.subsampling.result import Agreement, Bootstrapped, SamplerReliability


def reliability(sampler: str, docs: float, tau: float, low: float) -> SamplerReliability:
    agreement = Agreement(**dict.fromkeys(Agreement.__dataclass_fields__, tau))
    interval = Interval(low, min(tau + 0.02, 1.0))
    return SamplerReliability(
        sampler=sampler,
        corpus_size_mean=docs,
        corpus_size_min=int(docs),
        corpus_size_max=int(docs),
        judgments_without=1,
        judgments_with=1,
        unjudged_without=0,
        unjudged_with=0,
        agreement={"truth_pool10": {"with": agreement}},
        intervals={"with": Bootstrapped(*[interval] * len(Bootstrapped.__dataclass_fields__))},
    )


RESULTS = [
    reliability("complete", 1000, 1.0, 1.0),
    reliability("pool:10", 100, 0.92, 0.85),
    reliability("pool:50", 500, 0.97, 0.93),
    reliability("loft:100", 100, 0.6, 0.4),
]


def reasons(made: Plan) -> dict[str, str]:
    return {option.sampler: option.reason for option in made.options}


def test_the_smallest_that_reaches_the_target():
    made = plan(RESULTS, Limits())
    assert [option.sampler for option in made.options] == ["loft:100", "pool:10", "pool:50", "complete"]
    assert made.chosen is not None and made.chosen.sampler == "pool:50"
    assert reasons(made) == {
        "loft:100": "its lower bound is below 0.9",
        "pool:10": "its lower bound is below 0.9",
        "pool:50": "the smallest that reaches 0.9",
        "complete": "reliable, but larger",
    }


def test_a_target_within_a_cost():
    made = plan(RESULTS, Limits(0.8, max_docs=200))
    assert made.chosen is not None and made.chosen.sampler == "pool:10"
    assert reasons(made)["pool:50"] == "more than 200 documents"
    assert plan(RESULTS, Limits(0.95, max_docs=600)).chosen is None, "a plan that misses its target is none"


def test_a_cost_alone_takes_the_most_reliable():
    made = plan(RESULTS, Limits(max_docs=200))
    assert made.chosen is not None and made.chosen.sampler == "pool:10"
    assert not made.chosen.reliable
    assert reasons(made)["loft:100"] == "no more reliable than the chosen"
    assert made.chosen.reason == "the most reliable within the cost"
    assert str(made.limits) == "the most reliable sample of at most 200 documents"
    assert plan(RESULTS, Limits(max_docs=50)).chosen is None


def test_energy_is_documents_times_the_rate():
    made = plan(RESULTS, Limits(max_kwh=1.1, kwh_per_doc=0.002))
    assert made.chosen is not None and (made.chosen.sampler, made.chosen.kwh) == ("pool:50", pytest.approx(1.0))
    assert reasons(made)["complete"] == "more than 1.1 kWh"
    assert all(option.kwh is None for option in plan(RESULTS, Limits()).options)


def test_equal_reliability_goes_to_the_smaller_and_nothing_to_what_has_no_value():
    tied = [reliability("b", 10, 0.9, 0.8), reliability("a", 20, 0.9, 0.8), reliability("c", 5, math.nan, math.nan)]
    made = plan(tied, Limits(max_docs=100))
    assert made.chosen is not None and made.chosen.sampler == "b"
    assert plan(tied[2:], Limits(max_docs=100)).chosen is None
    for limits in (Limits(), Limits(max_docs=100)):
        assert reasons(plan(tied, limits))["c"] == "all systems are tied on it"


@pytest.mark.parametrize(
    ("limits", "verdict", "words"),
    [
        (Limits(), Verdict.PASS, "pool:50 keeps 500 of 1,000 documents (50%)"),
        (Limits(0.95), Verdict.WARN, "pool:50 keeps 500 of 1,000 documents (50%) at tau_AP_b 0.970 (0.930 to 0.990): "
         "the best of those that keep less than 95%, but not reliable enough. complete is chosen, which keeps 100%."),
        (Limits(0.99), Verdict.FAIL, "complete is chosen"),
        (Limits(0.95, max_docs=600), Verdict.WARN, "not reliable enough. No sampler is chosen."),
        (Limits(max_docs=200), Verdict.WARN, "pool:10 keeps 100"),
        (Limits(max_docs=50), Verdict.UNKNOWN, "no sampler that was tried is within the limits; loft:100 has 100"),
    ],
)  # fmt: skip
def test_the_verdict_is_on_what_is_chosen(audited, limits, verdict, words):
    (finding,) = audited(plan(RESULTS, limits)).findings
    assert finding.verdict is verdict
    assert words in finding.seen
    assert ("at most" in finding.rule) == bool(limits.cost)


@pytest.fixture
def audited():
    """An audit of the made-up samplers with a plan."""
    from ir_measures import nDCG

    from ringtrue.audit import Table
    from ringtrue.provenance import stamp
    from ringtrue.subsampling.audit import SubsamplingAudit

    def make(made: Plan, *, topics: int = 25, groups: int = 9) -> SubsamplingAudit:
        return SubsamplingAudit(
            samplers=tuple(RESULTS),
            comparisons=(),
            truth={},
            plan=made,
            measure=nDCG @ 10,
            top=0.75,
            systems=9,
            retrieved=1000,
            groups=groups,
            topics=topics,
            account=Table("campaign", "", (), ()),
            provenance=stamp(()),
            planned=True,
        )

    return make


@pytest.mark.parametrize(
    ("topics", "groups", "verdict", "words"),
    [
        (1, 9, Verdict.UNKNOWN, "Only 1 topic has a relevant document"),
        (4, 3, Verdict.UNKNOWN, "Only 4 topics"),
        (25, 3, Verdict.WARN, "Of 3 groups"),
        (25, 4, Verdict.WARN, "Of 4 groups"),
        (5, 5, Verdict.PASS, "tau_AP_b"),
    ],
)
def test_few_topics_or_groups_give_no_pass_however_narrow_the_interval(audited, topics, groups, verdict, words):
    (finding,) = audited(plan(RESULTS, Limits()), topics=topics, groups=groups).findings
    assert finding.verdict is verdict and words in finding.seen


def test_only_the_whole_is_no_answer(audited):
    made = plan(RESULTS[:1], Limits())
    (finding,) = audited(made).findings
    assert finding.verdict is Verdict.UNKNOWN
    assert "no sampler that was tried keeps less than 95% of the 1,000 documents" in finding.seen
