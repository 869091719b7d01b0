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


def test_bootstrap_of_groups_is_wider_where_groups_are_alike():
    rng = np.random.default_rng(0)
    groups = [str(group) for group in np.repeat(np.arange(20), 10)]
    part, whole, weights = np.repeat(rng.random(20) < 0.7, 10), np.ones(200, dtype=bool), np.ones(200)
    grouped = GroupBootstrap(groups, 500, 0).share(part, whole, weights)
    single = GroupBootstrap([str(row) for row in range(200)], 500, 0).share(part, whole, weights)
    assert grouped.high - grouped.low > 2 * (single.high - single.low)
    assert grouped.low <= part.mean() <= grouped.high
    assert math.isnan(GroupBootstrap(groups, 10, 0).share(part, ~whole, weights).low)
