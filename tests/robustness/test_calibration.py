"""Fitting and measuring probabilities of being valid."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.errors import InputError
from ringtrue.robustness.calibration import (
    PENALTY,
    Examples,
    area_under_curve,
    cross_validate,
    fingerprint,
    fit,
    judged_by_people,
    quality,
)
from ringtrue.robustness.labels import Label
from ringtrue.robustness.variations import Variation


def made_up(count: int = 200, seed: int = 1) -> Examples:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(count, 4)) * [1, 5, 0.1, 0]
    methods = tuple("ab"[place % 2] for place in range(count))
    logit = features[:, 0] - 0.2 * features[:, 1] + np.array([method == "a" for method in methods])
    valid = rng.random(count) < 1 / (1 + np.exp(-logit))
    return Examples(features, methods, tuple(f"q{place // 4}" for place in range(count)), valid)


def test_area_under_curve_by_hand():
    assert area_under_curve(np.array([True, False, True, False]), np.array([0.9, 0.8, 0.5, 0.5])) == 2.5 / 4
    assert np.isnan(area_under_curve(np.array([True, True]), np.array([0.1, 0.2])))


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=1, max_size=30))
def test_area_under_curve_is_the_share_of_pairs_in_order(rows):
    valid, scores = np.array([row[0] for row in rows]), np.array([float(row[1]) for row in rows])
    pairs = [(a > b) + (a == b) / 2 for a in scores[valid] for b in scores[~valid]]
    assert area_under_curve(valid, scores) == pytest.approx(np.mean(pairs) if pairs else np.nan, nan_ok=True)


def test_the_fit_is_where_the_penalised_likelihood_has_no_slope():
    data = made_up()
    model = fit(data, "strings")
    error = model.probabilities(data.features, data.methods) - data.valid
    standard = (data.features - model.means) / model.scales
    assert error.sum() == pytest.approx(0, abs=1e-3)
    np.testing.assert_allclose(standard.T @ error + PENALTY * np.array(model.weights), 0, atol=1e-3)
    assert sum(weight for _, weight in model.methods) == pytest.approx(0)
    assert dict(model.methods)["a"] > 0 > dict(model.methods)["b"]


def test_the_fit_is_sklearns():
    linear_model = pytest.importorskip("sklearn.linear_model")
    data = made_up()._replace(methods=("a",) * 200)
    theirs = linear_model.LogisticRegression(C=1 / PENALTY, tol=1e-8)
    standard = (data.features - data.features.mean(axis=0)) / np.where(data.features.std(axis=0) > 0, 1, 1)
    scale = np.where(data.features.std(axis=0) > 1e-9, data.features.std(axis=0), 1)
    theirs.fit(standard / scale, data.valid)
    ours = fit(data, "strings").probabilities(data.features, data.methods)
    np.testing.assert_allclose(ours, theirs.predict_proba(standard / scale)[:, 1], atol=1e-4)


def test_an_unknown_method_adds_nothing():
    data = made_up()
    model = fit(data, "strings")
    a, b, other = (model.probabilities(data.features[:1], [name])[0] for name in ("a", "b", "new"))
    assert b < other < a


def test_cross_validation_is_worse_than_what_was_learnt_and_better_than_chance():
    data = made_up()
    seen = quality(data, fit(data, "strings").probabilities(data.features, data.methods))
    unseen = cross_validate(data, "strings", repeats=5)
    assert 0.6 < unseen.auc < seen.auc
    assert unseen.auc_low < unseen.auc < unseen.auc_high
    assert (unseen.pairs, unseen.queries) == (200, 50)
    assert unseen == cross_validate(data, "strings", repeats=5)


def test_a_fold_whose_other_queries_are_all_valid_learns_that_alone():
    data = made_up()
    first = data.queries[0]
    valid = np.array([query != first for query in data.queries])
    assert cross_validate(data._replace(valid=valid), "strings", repeats=2).auc < 0.5


def test_labels_of_one_kind_teach_nothing():
    data = made_up()
    with pytest.raises(InputError, match="all the same"):
        fit(data._replace(valid=np.ones(200, dtype=np.bool_)), "strings")


def test_only_changed_pairs_that_people_judged_are_learnt_from():
    row = Variation("1", "paraphrasing", "T5QQP", "red fox", "red dog", 1)
    rows = [row, row._replace(variation="Red fox!"), row._replace(variation=None), row._replace(method="RmvStopWords")]
    assert judged_by_people([Label(one, True, True) for one in rows]) == (Label(row, True, True),)


def test_the_fingerprint_does_not_depend_on_order():
    rows = [Label(Variation(str(n), "x", "T5QQP", "red fox", f"dog {n}", 1), True, True) for n in range(3)]
    assert fingerprint(rows) == fingerprint(rows[::-1]) != fingerprint(rows[:2])
