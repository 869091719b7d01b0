from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ringtrue.errors import InputError, UnknownNameError
from ringtrue.evaluation import significance
from ringtrue.evaluation.significance import (
    bonferroni,
    bootstrap_interval,
    bootstrap_means,
    bulk_paired_t,
    bulk_welch_t,
    holm,
    paired_permutation,
    paired_t,
    resampled_means,
)

# Student 1908: hours of sleep gained by ten patients with two drugs (R's data set `sleep`).
DRUG_1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
DRUG_2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]

scores = st.lists(st.tuples(st.floats(0, 1, width=16), st.floats(0, 1, width=16)), min_size=2, max_size=9)
p_values = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_students_sleep_data():
    # R: t.test(extra ~ group, paired = TRUE) gives t = -4.0621, df = 9, p = 0.002833, (-2.4598858, -0.7001142).
    found = paired_t(DRUG_1, DRUG_2)
    assert found.mean_difference == pytest.approx(-1.58)
    assert (found.statistic, found.p) == pytest.approx((-4.0621, 0.002833), rel=2e-4)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((-2.4598858, -0.7001142), abs=1e-7)
    assert (found.n, found.interval.level) == (10, 0.95)
    assert found.standard_error == pytest.approx(1.58 / 4.0621, rel=1e-4)


@given(scores)
def test_paired_t_is_scipys(pairs: list[tuple[float, float]]):
    a, b = (np.array(side) for side in zip(*pairs, strict=True))
    found = paired_t(a, b, level=0.9)
    if np.ptp(a - b) == 0:
        assert found.p == (2 / 2 ** len(a) if found.mean_difference else 1.0)
        return
    expected = stats.ttest_rel(a, b)
    around = expected.confidence_interval(0.9)
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-6, abs=1e-12)
    assert found.interval is not None
    assert found.interval[:2] == pytest.approx((around.low, around.high), abs=1e-9)


def test_differences_without_variance():
    same = paired_t([0.25, 0.5], [0.25, 0.5])
    assert (same.statistic, same.p, same.interval and same.interval[:2]) == (0.0, 1.0, (0.0, 0.0))
    constant = paired_t([0.25, 0.5], [0.5, 0.75])
    assert (constant.statistic, constant.p) == (-math.inf, 0.5)
    assert constant.interval is not None
    assert math.isnan(constant.interval.low) and math.isnan(constant.interval.high)


@pytest.mark.parametrize("topics", [2, 3, 6])
def test_differences_that_are_all_the_same_are_no_surer_than_the_exact_test(topics):
    high = np.linspace(0.3, 0.9, topics)
    low = high - 0.1  # rounding makes these differences not quite the same
    assert paired_t(high, low).p == bulk_paired_t([high - low])[0] == paired_permutation(high, low).p == 2 / 2**topics


def test_a_binary_measure_on_few_topics_is_rarely_significant_by_luck():
    # all ways in which two systems can differ by one on each of n topics, equally likely if neither is better
    for topics in (2, 3, 4, 5):
        ways = np.array(list(itertools.product([-1.0, 1.0], repeat=topics)))
        assert (bulk_paired_t(ways) < 0.05).mean() <= 0.05


def test_welch_on_students_sleep_data():
    # R: t.test(extra ~ group) gives t = -1.8608, df = 17.776, p-value = 0.07939.
    assert bulk_welch_t([DRUG_1], [DRUG_2]) == pytest.approx([0.07939], abs=5e-6)


def test_bulk_tests_are_those_of_scipy_and_of_one_pair():
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=(50, 7)), rng.normal(0.5, 2, size=(50, 12))
    assert bulk_welch_t(first, second) == pytest.approx(stats.ttest_ind(first, second, axis=1, equal_var=False).pvalue)
    assert bulk_paired_t(first) == pytest.approx([paired_t(row, np.zeros(7)).p for row in first])


def test_bulk_tests_without_variance():
    rows = [[0.5, 0.5, 0.5], [0.0, 0.0, 0.0], [0.5, 0.5, 0.5]]
    others = [[0.25, 0.25], [0.0, 0.0], [0.25, 0.75]]
    assert bulk_paired_t(rows).tolist() == [0.25, 1, 0.25]
    assert bulk_welch_t(rows, others).tolist() == [1 / 10, 1, 1]  # one of ten ways to choose three of five topics
    assert bulk_welch_t([[1.0, 1.0]], [[0.0, 0.0]]).tolist() == [2 / 6]
    assert np.isnan(bulk_paired_t([[1.0]])).all() and np.isnan(bulk_welch_t([[1.0]], [[1.0, 2.0]])).all()


def test_one_topic_says_nothing():
    found = paired_t([0.5], [0.25])
    assert (found.mean_difference, found.n) == (0.25, 1)
    assert math.isnan(found.p)
    assert math.isnan(found.standard_error)
    assert found.interval is not None
    assert math.isnan(found.interval.low)
    assert paired_permutation([0.5], [0.25]).p == 1.0
    assert math.isnan(bootstrap_interval([0.5]).low)
    assert math.isnan(bootstrap_interval([0.5], np.median, replicates=10).high)


@given(scores)
def test_all_sign_flips_are_counted(pairs: list[tuple[float, float]]):
    a, b = (np.array(side) for side in zip(*pairs, strict=True))
    flips = itertools.product([1, -1], repeat=len(a))
    sums = np.abs([np.dot(signs, a - b) for signs in flips])
    found = paired_permutation(a, b)
    assert found.method == "all sign flips"
    assert found.p == pytest.approx(np.mean(sums >= sums[0] - 1e-12))
    assert found.mean_difference == found.statistic == pytest.approx(np.mean(a - b))


def test_exact_permutation_is_scipys_and_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch):
    def mean_difference(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        return np.mean(x - y, axis=axis)

    expected = stats.permutation_test(
        (DRUG_1, DRUG_2), mean_difference, permutation_type="samples", n_resamples=2000, vectorized=True
    )
    assert paired_permutation(DRUG_1, DRUG_2, permutations=1024).p == pytest.approx(expected.pvalue)
    monkeypatch.setattr(significance, "_BLOCK", 64)
    assert paired_permutation(DRUG_1, DRUG_2, permutations=1024).p == pytest.approx(expected.pvalue)


def test_random_sign_flips_come_near_and_are_repeatable():
    exact = paired_permutation(DRUG_1, DRUG_2)
    # Nine of the ten differences are not zero: 512 flips.
    drawn = paired_permutation(DRUG_1, DRUG_2, permutations=511, seed=3)
    assert drawn.standard_error == paired_t(DRUG_1, DRUG_2).standard_error
    assert drawn.method == "511 random sign flips"
    assert drawn == paired_permutation(DRUG_1, DRUG_2, permutations=511, seed=3)
    assert exact.p == pytest.approx(2 / 512)
    rng = np.random.default_rng(1)
    a, b = rng.random(40) + 0.1, rng.random(40)
    assert paired_permutation(a, b).p == pytest.approx(paired_t(a, b).p, abs=0.01)
    assert paired_permutation(a + 9, b, permutations=99).p == 0.01


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("statistic", [np.mean, np.std])
def test_bootstrap_is_scipys_up_to_its_randomness(method: str, statistic):
    values = np.random.default_rng(5).gamma(2, 0.1, 60)
    expected = stats.bootstrap(
        (values,), statistic, method=method, n_resamples=6000, rng=np.random.default_rng(0)
    ).confidence_interval
    found = bootstrap_interval(values, statistic, replicates=6000, method=method)
    assert found[:2] == pytest.approx((expected.low, expected.high), abs=0.004)


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("statistic", [np.mean, np.median, np.std])
def test_bootstrap_is_scipys_on_the_same_replicates(method: str, statistic):
    values = np.random.default_rng(5).gamma(2, 0.1, 25)
    seen: list[float] = []

    def spy(sample: np.ndarray) -> float:
        seen.append(statistic(sample))
        return seen[-1]

    found = bootstrap_interval(values, spy, replicates=2000, method=method, level=0.9)
    # scipy adds no resamples to those of an earlier result, which are put in its place.
    earlier = stats.bootstrap((values,), statistic, n_resamples=9, method="percentile", rng=np.random.default_rng(0))
    earlier.bootstrap_distribution = np.array(seen[:2000])
    expected = stats.bootstrap(
        (values,), statistic, n_resamples=0, method=method, bootstrap_result=earlier, confidence_level=0.9
    ).confidence_interval
    assert found[:2] == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_fast_mean_is_the_mean(method: str, monkeypatch: pytest.MonkeyPatch):
    values = np.random.default_rng(2).random(30)
    fast = bootstrap_interval(values, replicates=500, seed=4, method=method)
    slow = bootstrap_interval(values, np.mean, replicates=500, seed=4, method=method)
    assert fast[:2] == pytest.approx(slow[:2], abs=1e-12)
    assert fast.method == f"{method} bootstrap, 500 replicates"
    monkeypatch.setattr(significance, "_BLOCK", 100)
    assert bootstrap_interval(values, replicates=500, seed=4, method=method)[:2] == pytest.approx(fast[:2], abs=1e-12)
    assert bootstrap_interval(values, replicates=500, seed=5, method=method) != fast


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_many_systems_share_the_resampled_topics(method: str):
    values = np.random.default_rng(2).random((7, 30))
    together = bootstrap_means(values, replicates=400, seed=1, method=method)
    assert len(together) == 7
    for system, interval in zip(values, together, strict=True):
        alone = bootstrap_interval(system, replicates=400, seed=1, method=method)
        assert interval[:2] == pytest.approx(alone[:2], abs=1e-12)
        assert interval.low < system.mean() < interval.high
    means = resampled_means(np.stack([values[0], values[0] + 0.25]), replicates=400, seed=1)
    assert means.shape == (400, 2)
    assert means[:, 1] - means[:, 0] == pytest.approx(0.25)


def test_constant_values_have_a_point_as_interval():
    for method in ("percentile", "bca"):
        assert bootstrap_interval([0.5] * 8, replicates=50, method=method)[:2] == pytest.approx((0.5, 0.5))


def test_bca_without_a_finite_correction_is_nan():
    # No resample without the full set reaches its number of distinct values, so that all lie on one side.
    found = bootstrap_interval(np.arange(30), lambda sample: float(len(np.unique(sample))), replicates=50, method="bca")
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_percentile_interval_covers_as_often_as_it_says():
    samples = np.random.default_rng(8).normal(0.3, 0.1, (400, 40))
    covered = [low <= 0.3 <= high for low, high, *_ in bootstrap_means(samples, replicates=1000)]
    assert 0.90 <= np.mean(covered) <= 0.98


def test_corrections_of_statsmodels():
    # statsmodels 0.15.0, multipletests(p, method="holm" and "bonferroni")
    p = [0.01, 0.04, 0.03, 0.005, 0.2, 0.03]
    assert holm(p) == pytest.approx([0.05, 0.12, 0.12, 0.03, 0.2, 0.12])
    assert bonferroni(p) == pytest.approx([0.06, 0.24, 0.18, 0.03, 1.0, 0.18])


def test_corrections_keep_the_shape_and_leave_nan_out():
    p = np.array([[0.01, math.nan], [0.03, 0.02]])
    assert bonferroni(p) == pytest.approx(np.array([[0.03, math.nan], [0.09, 0.06]]), nan_ok=True)
    assert holm(p) == pytest.approx(np.array([[0.03, math.nan], [0.04, 0.04]]), nan_ok=True)
    assert bonferroni([0.01, 0.02], family=10) == pytest.approx([0.1, 0.2])
    assert holm([]).shape == (0,)


@given(p_values)
def test_holm_is_between_none_and_bonferroni(p: list[float]):
    adjusted = holm(p)
    assert (adjusted >= np.array(p)).all()
    assert (adjusted <= bonferroni(p) + 1e-15).all()
    assert adjusted.min() == pytest.approx(bonferroni(p).min())
    order = np.argsort(p, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()


def test_values_that_cannot_be_used_are_refused():
    with pytest.raises(InputError, match="3 scores cannot be paired with 2"):
        paired_t([1, 2, 3], [1, 2])
    with pytest.raises(InputError, match="at least one topic"):
        paired_permutation([], [])
    with pytest.raises(InputError, match="nan or infinite"):
        paired_t([1, math.nan], [1, 2])
    with pytest.raises(InputError, match="level is 95"):
        paired_t([1, 2], [2, 4], level=95)
    with pytest.raises(InputError, match="permutations is 0"):
        paired_permutation([1, 2], [2, 4], permutations=0)
    with pytest.raises(InputError, match="replicates is 0"):
        bootstrap_interval([1, 2], replicates=0)
    with pytest.raises(UnknownNameError, match="bootstrap method 'basic'"):
        bootstrap_interval([1, 2], method="basic")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"shape \(2,\)"):
        bootstrap_means([1, 2])
    with pytest.raises(InputError, match="outside 0 to 1"):
        holm([0.5, 1.5])
    with pytest.raises(InputError, match="family of 2 tests cannot hold the 3"):
        bonferroni([0.1, 0.2, 0.3], family=2)
