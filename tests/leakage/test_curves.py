from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, mannwhitneyu

from ringtrue.leakage.curves import GroupBootstrap, average_precision, roc_auc, wilson

cases = st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.integers(1, 4)), min_size=1, max_size=30)


def split(some: list[tuple[int, bool, int]]):
    scores, true, weights = (np.array(column) for column in zip(*some, strict=True))
    return scores / 5, true, weights.astype(float)


@given(cases)
def test_auc_is_the_rank_statistic_of_mann_and_whitney(some: list[tuple[int, bool, int]]):
    scores, true, _ = split(some)
    if true.all() or not true.any():
        assert math.isnan(roc_auc(scores, true))
    else:
        u = mannwhitneyu(scores[true], scores[~true]).statistic
        assert roc_auc(scores, true) == pytest.approx(u / (true.sum() * (~true).sum()))


@given(cases)
def test_a_weight_of_n_is_n_cases(some: list[tuple[int, bool, int]]):
    scores, true, weights = split(some)
    times = weights.astype(int)
    for area in (roc_auc, average_precision):
        assert area(scores, true, weights) == pytest.approx(area(scores.repeat(times), true.repeat(times)), nan_ok=True)


def test_average_precision_of_a_worked_example():
    # true, false, true: precision 1 at recall 1/2, 2/3 at recall 1; as one step where all scores are the same
    true = np.array([True, False, True])
    assert average_precision(np.array([0.9, 0.8, 0.7]), true) == pytest.approx((1 + 2 / 3) / 2)
    assert average_precision(np.array([0.7, 0.7, 0.7]), true) == pytest.approx(2 / 3)


@pytest.mark.parametrize(("hits", "n"), [(9, 10), (0, 7), (648, 718), (5, 5)])
def test_wilson_against_scipy(hits: int, n: int):
    found = wilson(np.arange(n) < hits, np.ones(n))
    wanted = binomtest(hits, n).proportion_ci(method="wilson")
    assert found[:2] == pytest.approx((wanted.low, wanted.high))


def test_wilson_of_unequal_weights_is_wider_and_of_nothing_unknown():
    part = np.arange(10) < 9
    even, uneven = wilson(part, np.ones(10)), wilson(part, np.array([1.0] * 8 + [5, 1]))
    assert uneven.high - uneven.low > even.high - even.low
    assert math.isnan(wilson(part[:0], np.ones(0)).low)


def test_wilson_of_groups_is_that_of_single_cases_where_these_are_not_alike():
    part, ones = np.arange(60) % 3 > 0, np.ones(60)
    single = wilson(part, ones)
    assert wilson(part, ones, groups=np.arange(60)).low == pytest.approx(single.low, abs=0.002)
    twice = wilson(np.repeat(part, 2), np.ones(120), groups=np.repeat(np.arange(60), 2))  # each case is there twice
    assert twice[:2] == pytest.approx(single[:2], abs=0.002)
    all_true = wilson(np.ones(50, dtype=bool), np.ones(50), groups=np.repeat(np.arange(5), 10))
    assert all_true[:2] == pytest.approx(wilson(np.ones(5, dtype=bool), np.ones(5))[:2])


def test_wilson_of_groups_holds_the_share_as_often_as_it_says():
    rng = np.random.default_rng(2)
    groups, ones, held = np.repeat(np.arange(60), 5), np.ones(300), np.zeros(2)
    for _ in range(400):
        part = rng.random(300) < np.repeat(rng.beta(0.8, 0.2, 60), 5)  # .8 on average, but topic by topic
        found = wilson(part, ones), wilson(part, ones, groups=groups)
        held += [one.low <= 0.8 <= one.high for one in found]
    assert held[0] / 400 < 0.8 and held[1] / 400 > 0.92


def test_bootstrap_of_groups_is_wider_where_groups_are_alike():
    rng = np.random.default_rng(0)
    groups = [str(group) for group in np.repeat(np.arange(20), 10)]
    part, whole, weights = np.repeat(rng.random(20) < 0.7, 10), np.ones(200, dtype=bool), np.ones(200)
    grouped = GroupBootstrap(groups, 500, 0).share(part, whole, weights)
    single = GroupBootstrap([str(row) for row in range(200)], 500, 0).share(part, whole, weights)
    assert grouped.high - grouped.low > 2 * (single.high - single.low)
    assert grouped.low <= part.mean() <= grouped.high
    assert math.isnan(GroupBootstrap(groups, 10, 0).share(part, ~whole, weights).low)
