from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.audit import Column, Interval, Table, Verdict
from ringtrue.report.cells import LONGEST, MISSING, cell_text, interval_words, number, numeric_columns, shown, typeset


@pytest.mark.parametrize(
    ("cell", "digits", "text"),
    [
        (None, 3, MISSING),
        (math.nan, 3, MISSING),
        (True, 3, "yes"),
        (False, None, "no"),
        ("", None, ""),
        ("a", 2, "a"),
        (Verdict.FAIL, None, "FAIL"),
        (0.91449, 3, "0.914"),
        (1, 3, "1.000"),
        (-0.0001, 3, "0.000"),
        (12345.678, 1, "12,345.7"),
        (math.inf, 3, "∞"),
        (-math.inf, None, "-∞"),
        (np.float64(0.5), 2, "0.50"),
        (np.int64(7), None, "7"),
    ],
)
def test_shown(cell, digits, text):
    assert shown(cell, digits) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-0.0, "0"),
        (2019, "2019"),
        (10_000, "10,000"),
        (367_013.0, "367,013"),
        (0.27711, "0.277"),
        (12.345, "12.3"),
        (123.45, "123.5"),
        (0.00012, "0.00012"),
        (0.0000123, "1.23e-05"),
        (-0.0041, "-0.0041"),
    ],
)
def test_number(value, text):
    assert number(value) == text


@given(st.floats(min_value=1e-4, max_value=99))
def test_number_keeps_three_digits(value):
    assert float(number(value)) == pytest.approx(value, rel=5e-3)


def test_numeric_columns_ignore_what_is_missing():
    columns = tuple(Column(name, name) for name in "abcde")
    rows = ((1, "x", None, True, np.int64(1)), (None, 1, None, False, math.nan))
    assert numeric_columns(Table("t", "T", columns, rows)) == (True, False, False, False, True)


@pytest.mark.parametrize(
    ("name", "cell", "digits", "text"),
    [
        ("p", 0.0004, 3, "<0.001"),
        ("p_holm", 0.0, 4, "<0.0001"),
        ("p", 0.0005, 3, "0.001"),
        ("p", 0.04, 3, "0.040"),
        ("p", None, 3, MISSING),
        ("precision", 0.0001, 3, "0.000"),
        ("p", 0.0, None, "0"),
    ],
)
def test_a_p_value_is_never_zero(name, cell, digits, text):
    assert cell_text(cell, Column(name, name, digits)) == text


def test_interval_words():
    assert interval_words(Interval(0.88123, 0.97, 0.95, "bootstrap")) == "95 % interval 0.881 to 0.97, bootstrap"
    assert interval_words(Interval(-1, 1, 0.999)) == "99.9 % interval -1 to 1"
    assert typeset("-0.5") == "\N{MINUS SIGN}0.5"


def test_a_text_that_fills_pages_is_cut_and_says_how_long_it_is():
    column = Column("query", "Query")
    assert cell_text("x" * LONGEST, column) == "x" * LONGEST
    assert cell_text("x" * 100_000, column) == "x" * LONGEST + "… (100,000 characters)"
