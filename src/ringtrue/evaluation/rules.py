"""The rules by which an evaluation's ground is judged; each gives a finding with the figure behind it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ir_measures import Measure
from scipy import stats

from ringtrue.audit import Finding, Verdict
from ringtrue.errors import brief
from ringtrue.evaluation.facts import CollectionFacts, JudgmentFacts

if TYPE_CHECKING:
    from ringtrue.evaluation.audit import SystemRow

ALPHA = 0.05
POWER = 0.8
FEW_TOPICS = 25
TOO_FEW_TOPICS = 10
UNJUDGED_WARN = 0.10
UNJUDGED_FAIL = 0.30
TIE_SHIFT_WARN = 0.001


def enough_topics(
    judgments: JudgmentFacts, systems: Sequence[SystemRow], collection: CollectionFacts | None = None
) -> Finding:
    """Topics with a relevant document are what a mean rests on."""
    usable = len(judgments.relevant) - len(judgments.topics_without_relevant)
    verdict = Verdict.PASS if usable >= FEW_TOPICS else Verdict.WARN if usable >= TOO_FEW_TOPICS else Verdict.UNKNOWN
    detectable = detectable_difference(systems)
    seen = f"{usable} topics have a relevant document"
    if judgments.topics_without_relevant:
        seen += f", {len(judgments.topics_without_relevant)} have none and give every system the same score"
    if detectable is not None:
        seen += f"; a difference of {detectable:.3f} between neighbours would be found four times in five"
    strange, lacking = (collection.judged_not_a_topic, collection.topics_not_judged) if collection else ((), ())
    if strange and lacking:
        seen += (
            f"; {len(strange)} judged topics have no query ({brief(strange)}) and {len(lacking)} queries no judgments "
            f"({brief(lacking)}): check that both number the topics alike"
        )
    rule = f"at least {FEW_TOPICS} topics with a relevant document; below {TOO_FEW_TOPICS} nothing can be said"
    return Finding("topics", verdict, rule, f"{seen}.", float(usable))


def detectable_difference(systems: Sequence[SystemRow]) -> float | None:
    """The mean difference that a paired t-test finds with a power of .8, for the median pair of neighbours.

    The test is Holm's first step: with more neighbours in the table it takes more to tell two of them apart.
    """
    errors = sorted(
        error
        for row in systems
        if row.next_test and row.next_test.n > 1 and math.isfinite(error := row.next_test.standard_error) and error > 0
    )
    if not errors:
        return None
    tests = [row.next_test for row in systems if row.next_test]
    freedom = tests[0].n - 1
    factor = stats.t.ppf(1 - ALPHA / len(tests) / 2, freedom) + stats.t.ppf(POWER, freedom)
    return float(factor * errors[len(errors) // 2])


def all_judged(systems: Sequence[SystemRow], depth: int) -> Finding:
    """Unjudged documents count as not relevant, which punishes systems that were not pooled."""
    worst = max(systems, key=lambda row: row.unjudged)
    verdict = (
        Verdict.PASS
        if worst.unjudged <= UNJUDGED_WARN
        else Verdict.WARN
        if worst.unjudged <= UNJUDGED_FAIL
        else Verdict.FAIL
    )
    over = sum(row.unjudged > UNJUDGED_WARN for row in systems)
    seen = f"at most {worst.unjudged:.1%} of a system's top {depth} is unjudged ({worst.run})"
    seen += f"; {over} of {len(systems)} systems are above {UNJUDGED_WARN:.0%}." if over else "."
    if not worst.unjudged:
        seen = f"every document in every system's top {depth} is judged."
    rule = f"no system's top {depth} is more than {UNJUDGED_WARN:.0%} unjudged; above {UNJUDGED_FAIL:.0%} it fails"
    return Finding("unjudged", verdict, rule, seen, worst.unjudged)


def order_without_ties(systems: Sequence[SystemRow], tau: float) -> Finding:
    """Where equal scores are common, the tie rule is part of the result."""
    most = max(systems, key=lambda row: row.tie_shift)
    same_order = math.isnan(tau) or tau >= 1 - 1e-12
    verdict = Verdict.PASS if same_order and most.tie_shift <= TIE_SHIFT_WARN else Verdict.WARN
    seen = (
        f"turning the tie rule round moves a mean by {most.tie_shift:.4f} at most ({most.run}) and "
        + (
            "leaves the order of systems as it is."
            if same_order
            else f"changes the order of systems (tau-b {_below_one(tau)})."
        )
        if most.tie_shift > 0
        else "no tie changes a mean."
    )
    rule = f"the order does not depend on ties and no mean moves by more than {TIE_SHIFT_WARN}"
    return Finding("ties", verdict, rule, seen, most.tie_shift)


def _below_one(tau: float) -> str:
    """A coefficient of two orders that are not the same: never `1.000`."""
    return f"{tau:.3f}" if round(tau, 3) < 1 else "above 0.999"


def p_words(p: float) -> str:
    """A p-value for people: never `0.000`."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def best_is_better(systems: Sequence[SystemRow], measure: Measure) -> Finding:
    """A leaderboard's first claim is that its best system is better than the next."""
    rule = f"the best system beats the second in {measure} (paired t-test, p < {ALPHA} after Holm over all neighbours)"
    best = systems[0]
    if best.next_test is None or best.next_p is None:
        return Finding("differences", Verdict.UNKNOWN, rule, "only one system was given.")
    apart = sum(bool(row.told_apart) for row in systems)
    gap = best.next_test
    seen = (
        f"{best.run} leads {systems[1].run} by {gap.mean_difference:.4f} ({p_words(best.next_p)}); "
        f"{apart} of {len(systems) - 1} neighbouring pairs can be told apart."
    )
    verdict = Verdict.PASS if best.told_apart else Verdict.WARN
    return Finding("differences", verdict, rule, seen, gap.mean_difference, gap.interval)
