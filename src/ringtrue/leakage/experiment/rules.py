"""The rules by which an experiment is judged; the limits are a convention of this project."""

from __future__ import annotations

import math

from ringtrue.audit import Finding, Verdict
from ringtrue.evaluation.measures import direction
from ringtrue.evaluation.rules import p_words
from ringtrue.evaluation.significance import holm
from ringtrue.leakage.experiment.result import Effect, ExperimentResult
from ringtrue.leakage.trainsets.records import TITLES

ALPHA = 0.05
_NO_LEAKAGE = "only sets without leakage were trained on."


def gain(effect: Effect) -> float:
    """How much better than without leakage."""
    return direction(effect.measure) * effect.difference


def is_gain(effect: Effect) -> bool:
    """Whether leakage helps by more than luck."""
    return gain(effect) > 0 and effect.p_bonferroni is not None and effect.p_bonferroni < ALPHA


def complete(result: ExperimentResult) -> Finding:
    """What is missing may change all else."""
    rule = "every cell of the experiment is done"
    total = sum(1 for _ in result.plan.cells())
    if not result.missing:
        return Finding("cells", Verdict.PASS, rule, f"all {total:,} cells are done.")
    seen = f"{len(result.missing):,} of {total:,} cells are not done, {len(result.failures):,} of them failed"
    if result.left_out:
        seen += f"; left out: {', '.join(result.left_out)}"
    return Finding("cells", Verdict.UNKNOWN, rule, f"{seen}.")


def effect_of_leakage(result: ExperimentResult) -> Finding:
    """A model that gains by a leak is scored for what it has seen."""
    rule = (
        f"no model gains by leakage in any measure (paired t-test against no leakage, p < {ALPHA} after Bonferroni "
        "over the models and kinds of a measure)"
    )
    compared = [one for one in result.effects if one.kind != "none"]
    if not compared:
        return Finding("gain by leakage", Verdict.UNKNOWN, rule, _NO_LEAKAGE)
    gaining = [one for one in compared if is_gain(one)]
    harmed = [one for one in compared if gain(one) < 0 and one.p_bonferroni is not None and one.p_bonferroni < ALPHA]
    first = compared[0].measure
    most = max((one for one in compared if one.measure == first), key=gain)
    assert most.p_bonferroni is not None  # as all have that are compared
    seen = (
        f"{len(gaining) or 'none'} of {len(compared)} comparisons show a significant gain, {len(harmed) or 'none'} a "
        f"significant loss; the {'largest gain' if gain(most) > 0 else 'smallest loss'} in {first} is that of "
        f"{most.model} with {TITLES[most.kind]}, "
        f"{most.difference:+.4f} ({p_words(most.p_bonferroni)}). The test takes topics for the only source of chance; "
    )
    if result.between_seeds is None:
        seen += "how far trainings by other seeds would differ is not known of one seed."
    else:
        seen += f"trainings that differ in their seed alone differ by {result.between_seeds:.4f} (standard deviation)."
    return Finding("gain by leakage", Verdict.WARN if gaining else Verdict.PASS, rule, seen, most.difference)


def order_of_models(result: ExperimentResult) -> Finding:
    """What a comparison claims is the order of its models."""
    rule = (
        "no two models change places by leakage; where what leakage changed between them is significant (paired t-test "
        f"of their differences with and without it, p < {ALPHA} after Holm over all pairs of models and kinds of a "
        "measure) it fails"
    )
    models = {one.model for one in result.effects}
    if len(models) < 2:
        return Finding("order of models", Verdict.UNKNOWN, rule, "only one model was trained.")
    significant = sum(swap.is_significant(ALPHA) for swap in result.swaps)
    verdict = Verdict.FAIL if significant else Verdict.WARN if result.swaps else Verdict.PASS
    pairs = len(models) * (len(models) - 1) // 2
    cases = pairs * len({(one.measure, one.kind) for one in result.effects if one.kind != "none"})
    if not cases:
        return Finding("order of models", Verdict.UNKNOWN, rule, _NO_LEAKAGE)
    seen = f"{len(result.swaps) or 'none'} of {cases} pairs of models swap, {significant or 'none'} significantly."
    return Finding("order of models", verdict, rule, seen, float(len(result.swaps)))


def memorization(result: ExperimentResult) -> Finding:
    """A model that ranks what leaked higher, and its negatives lower, remembers it."""
    rule = (
        "leakage does not put leaked relevant and non-relevant documents farther apart (paired t-test over topics, p < "
        f"{ALPHA} after Holm over models, kinds and sizes)"
    )
    if not result.memory:
        return Finding("memorization", Verdict.UNKNOWN, rule, "no leaked document was scored.")
    if all(math.isnan(one.p) for one in result.memory):
        return Finding("memorization", Verdict.UNKNOWN, rule, "only one topic with leaked documents was scored.")
    adjusted = holm([one.p for one in result.memory])
    remembered = [
        one for one, p in zip(result.memory, adjusted.tolist(), strict=True) if one.growth.mean > 0 and p < ALPHA
    ]
    most = max(result.memory, key=lambda one: one.growth.mean)
    size = "all sizes" if most.size is None else f"{most.size:,} instances"
    seen = (
        f"in {len(remembered) or 'none'} of {len(result.memory)} cases the distance grows significantly; most for "
        f"{most.model} with {TITLES[most.kind]} ({size}): {most.growth.mean:+.2f} ranks."
    )
    verdict = Verdict.WARN if remembered else Verdict.PASS
    return Finding("memorization", verdict, rule, seen, most.growth.mean, most.interval)
