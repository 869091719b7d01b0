from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ir_measures import P, nDCG

from ringtrue.audit import Interval, Verdict
from ringtrue.evaluation.measures import MFR
from ringtrue.evaluation.significance import holm, paired_t
from ringtrue.leakage.experiment import rules
from ringtrue.leakage.experiment.collect import _effects
from ringtrue.leakage.experiment.folds import Chosen
from ringtrue.leakage.experiment.plan import Plan
from ringtrue.leakage.experiment.result import Effect, ExperimentResult, Memory, ModelSwap, Spread
from ringtrue.leakage.experiment.swaps import find_swaps

PLAN = Plan(("a", "b"), ("none", "msm", "test"), (10, 20), (0,))


def _chosen(values: dict[tuple[str, str], list[float]], measure: Any = nDCG @ 10) -> Any:
    return {(measure, *key): Chosen(np.array(one), (0, 1)) for key, one in values.items()}


VALUES = {
    ("a", "none"): [0.2, 0.3, 0.4, 0.5], ("a", "msm"): [0.3, 0.4, 0.5, 0.7], ("a", "test"): [0.2, 0.3, 0.4, 0.5],
    ("b", "none"): [0.3, 0.3, 0.4, 0.6], ("b", "msm"): [0.3, 0.3, 0.4, 0.5], ("b", "test"): [0.1, 0.3, 0.4, 0.5],
}  # fmt: skip


def test_effects_against_plain_tests_and_correction() -> None:
    effects = {(one.model, one.kind): one for one in _effects(PLAN, PLAN.models, nDCG @ 10, _chosen(VALUES))}
    for key, one in effects.items():
        assert one.value == pytest.approx(np.mean(VALUES[key]))
        assert one.sizes == (10, 20)
        if key[1] == "none":
            assert one.p is None
            continue
        p = paired_t(VALUES[key], VALUES[key[0], "none"]).p
        assert one.p == pytest.approx(p)
        assert one.p_bonferroni == pytest.approx(min(4 * p, 1))
        assert p <= one.p_holm <= one.p_bonferroni  # type: ignore[operator]
    assert [effects[model, "msm"].rank for model in "ab"] == [1, 2]
    assert [effects[model, "none"].rank for model in "ab"] == [2, 1]


def test_models_that_are_level_but_for_rounding_share_a_rank() -> None:
    level = {("a", "none"): [0.1, 0.2, 0.3, 0.4], ("b", "none"): [0.2, 0.4, 0.3, 0.1]}
    assert np.diff([np.mean(one) for one in level.values()]) != 0
    plan = Plan(("a", "b"), ("none",), (10, 20), (0,))
    assert [one.rank for one in _effects(plan, plan.models, nDCG @ 10, _chosen(level))] == [1, 1]


def test_swaps_are_found_and_a_lower_mfr_is_better() -> None:
    (first, second) = find_swaps(PLAN.kinds, PLAN.models, nDCG @ 10, _chosen(VALUES))
    assert (first.kind, first.ahead, first.behind) == ("msm", "b", "a")
    assert first.difference > 0 > first.difference_leaked
    assert second.kind == "test"
    turned = find_swaps(PLAN.kinds, PLAN.models, MFR @ 100, _chosen(VALUES, MFR @ 100))
    assert [(one.kind, one.ahead, one.behind) for one in turned] == [("msm", "a", "b"), ("test", "a", "b")]


def test_models_that_are_level_but_for_rounding_do_not_swap() -> None:
    level = {("a", "none"): [0.1, 0.1, 0.2, 0.6], ("b", "none"): [0.1, 0.6, 0.1, 0.2]}
    assert -1e-16 < np.subtract(*level.values()).mean() < 0
    values = {**level, ("a", "msm"): [0.5] * 4, ("b", "msm"): [0.1] * 4}
    assert find_swaps(("none", "msm"), ("a", "b"), nDCG @ 10, _chosen(values)) == []


def test_the_test_of_a_swap_is_of_the_change_and_its_family_are_all_pairs_and_kinds() -> None:
    rng = np.random.default_rng(5)
    models, kinds = ("a", "b", "c"), ("none", "msm", "test")
    values = {(model, kind): rng.random(30).round(2) for model in models for kind in kinds}
    values["b", "none"] = values["a", "none"] - 0.01
    values["b", "msm"] = values["a", "msm"] + 0.2
    found = find_swaps(kinds, models, nDCG @ 10, _chosen(values))  # type: ignore[arg-type]
    raw, names = [], []
    for kind in ("msm", "test"):
        for one, other in (("a", "b"), ("a", "c"), ("b", "c")):
            with_leakage = np.array(values[one, kind]) - values[other, kind]
            without = np.array(values[one, "none"]) - values[other, "none"]
            names.append((kind, {one, other}))
            raw.append(paired_t(with_leakage - without, np.zeros(30)).p)
    corrected = holm(raw)
    assert len(raw) == 6 > len(found)
    for swap in found:
        place = names.index((swap.kind, {swap.ahead, swap.behind}))
        assert swap.p_holm_change == pytest.approx(corrected[place])
        assert swap.change == pytest.approx(swap.difference_leaked - swap.difference)
    (sure,) = [one for one in found if (one.kind, one.ahead, one.behind) == ("msm", "a", "b")]
    assert sure.is_significant(0.05) and sure.change == pytest.approx(-0.21)


def test_a_significant_order_that_leakage_hardly_changed_is_no_significant_swap() -> None:
    rng = np.random.default_rng(0)
    base, noise = rng.random(20), rng.normal(size=20) * 0.3
    values = {
        ("a", "none"): base + 0.01 + noise - noise.mean(), ("b", "none"): base,
        ("a", "msm"): base, ("b", "msm"): base + 0.01,  # each topic alike: this order is certain
    }  # fmt: skip
    (swap,) = find_swaps(("none", "msm"), ("a", "b"), nDCG @ 10, _chosen(values))  # type: ignore[arg-type]
    assert swap.p_holm_leaked < 0.05 < swap.p_holm_change
    assert not swap.is_significant(0.05)


def test_a_gain_counts_in_the_direction_of_its_measure() -> None:
    up = Effect(P @ 1, "m", "msm", 0.5, 0.1, 0.01, 0.02, 0.02, (1,), 1)
    assert rules.is_gain(up)
    assert not rules.is_gain(up._replace(measure=MFR @ 100))
    assert rules.is_gain(up._replace(measure=MFR @ 100, difference=-0.1))
    assert not rules.is_gain(up._replace(p_bonferroni=0.06))


def _result(**given: Any) -> ExperimentResult:
    parts: dict[str, Any] = {
        "plan": PLAN, "trainsets": None, "topics": ("1", "2"), "leaked": ("1",), "effects": (),
        "swaps": (), "sizes": (), "memory": (), "between_seeds": 0.0142, "costs": (), "first_stage": {},
        "missing": (), "failures": (), "left_out": (),
    }  # fmt: skip
    return ExperimentResult(**{**parts, **given})


EFFECT = Effect(nDCG @ 10, "a", "msm", 0.5, 0.1, 0.01, 0.02, 0.02, (10,), 1)
MEMORY = Memory(
    "a", "msm", 10, 2, 3, Spread(9, 1), Spread(5, 1), Spread(0, 1), Spread(1, 1), Spread(4, 1), Interval(2, 6), 0.001
)


def test_verdicts() -> None:
    assert rules.effect_of_leakage(_result()).verdict is Verdict.UNKNOWN
    assert rules.effect_of_leakage(_result(effects=(EFFECT,))).verdict is Verdict.WARN
    assert "differ in their seed alone differ by 0.0142" in rules.effect_of_leakage(_result(effects=(EFFECT,))).seen
    alone = _result(effects=(EFFECT,), between_seeds=None)
    assert "is not known of one seed" in rules.effect_of_leakage(alone).seen
    calm = EFFECT._replace(p_bonferroni=0.2)
    assert rules.effect_of_leakage(_result(effects=(calm,))).verdict is Verdict.PASS
    assert rules.order_of_models(_result(effects=(EFFECT,))).verdict is Verdict.UNKNOWN
    two = (EFFECT, EFFECT._replace(model="b"))
    assert rules.order_of_models(_result(effects=two)).verdict is Verdict.PASS
    without = tuple(one._replace(kind="none") for one in two)
    assert rules.order_of_models(_result(effects=without)).verdict is Verdict.UNKNOWN
    swap = ModelSwap(nDCG @ 10, "msm", "a", "b", 0.1, 0.03, -0.1, 0.02, -0.2, 0.06)
    assert rules.order_of_models(_result(effects=two, swaps=(swap,))).verdict is Verdict.WARN
    sure = swap._replace(p_holm_change=0.01)
    assert rules.order_of_models(_result(effects=two, swaps=(sure,))).verdict is Verdict.FAIL
    assert rules.memorization(_result()).verdict is Verdict.UNKNOWN
    assert rules.memorization(_result(memory=(MEMORY,))).verdict is Verdict.WARN
    one_topic = MEMORY._replace(p=float("nan"))
    assert rules.memorization(_result(memory=(one_topic,))).verdict is Verdict.UNKNOWN
    back = MEMORY._replace(growth=Spread(-4, 1))
    assert rules.memorization(_result(memory=(back,))).verdict is Verdict.PASS
    assert rules.complete(_result(missing=("x",))).verdict is Verdict.UNKNOWN
