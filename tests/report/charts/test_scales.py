from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ringtrue.report.charts.scales import linear, logarithmic, wants_log


def test_worked_example():
    scale = linear([0.31, 0.74], 0, 100, 6)
    assert scale.ticks == pytest.approx((0.3, 0.4, 0.5, 0.6, 0.7, 0.8))
    assert scale.labels() == ("0.3", "0.4", "0.5", "0.6", "0.7", "0.8")
    assert scale.at(0.3) == pytest.approx(0)
    assert scale.at(0.55) == pytest.approx(50)


@pytest.mark.parametrize(
    ("values", "most", "labels"),
    [
        ([0, 1, 2, 3], 10, ("0", "1", "2", "3")),
        ([0, 900], 5, ("0", "250", "500", "750", "1,000")),
        ([0.0, 1.0, 0.5], 5, ("0.00", "0.25", "0.50", "0.75", "1.00")),
        ([-0.1, 0.1], 5, ("\N{MINUS SIGN}0.10", "\N{MINUS SIGN}0.05", "0.00", "0.05", "0.10")),
        ([0, 40_000], 5, ("0", "10k", "20k", "30k", "40k")),
        ([7], 3, ("6", "7", "8")),
        ([0, 1e-6], 3, ("0", "5e\N{MINUS SIGN}07", "1e\N{MINUS SIGN}06")),
        ([12_345, 12_346], 2, ("12,345", "12,346")),
    ],
)
def test_labels(values, most, labels):
    assert linear(values, 0, 100, most).labels() == labels


@given(
    st.lists(st.floats(-1e6, 1e6).map(lambda value: round(value, 6)), min_size=1, max_size=20),
    st.integers(2, 12),
)
@example([12_345, 12_346], 3)
@example([1e6, 1e6 + 1e-9], 3)
def test_scale_holds_all_values_and_its_ticks_differ(values, most):
    scale = linear(values, 10, 200, most)
    slack = (scale.high - scale.low) * 1e-6
    assert scale.low <= min(values) + slack and max(values) <= scale.high + slack
    assert 2 <= len(scale.ticks) <= most + 2
    assert len(set(scale.labels())) == len(scale.ticks)
    assert all(10 - 1e-6 <= scale.at(value) <= 200 + 1e-6 for value in values)


def test_logarithm():
    assert wants_log([1, 101])
    assert not wants_log([1, 100])
    assert not wants_log([0, 1000])
    assert not wants_log([])
    scale = logarithmic([100, 1_000_000], 0, 400)
    assert scale.labels() == ("100", "1k", "10k", "100k", "1M")
    assert [scale.at(tick) for tick in scale.ticks] == pytest.approx([0, 100, 200, 300, 400])
    assert logarithmic([3, 700], 0, 1).labels() == ("5", "10", "20", "50", "100", "200", "500")


@given(st.floats(1e-6, 1e6), st.floats(101, 1e6))
def test_a_logarithmic_scale_has_ticks_inside(low, ratio):
    scale = logarithmic([low, low * ratio], 0, 1)
    assert len(scale.ticks) >= 2
    assert all(low <= tick <= low * ratio for tick in scale.ticks)
    assert math.isclose(scale.at(low), 0, abs_tol=1e-9)
