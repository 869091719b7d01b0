from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from ringtrue.report.charts.svg import clipped, decimal, tag, text_width, tooltip


def test_decimal():
    assert [decimal(value) for value in (1.0, 0.126, -0.001, 100, 2.5)] == ["1", "0.13", "0", "100", "2.5"]


@given(st.text())
def test_any_text_makes_xml(text):
    element = ElementTree.fromstring(tag("g", tooltip(text), class_="a b", data_name=text))
    assert element.get("class") == "a b"
    assert element[0].tag == "title"


@given(st.text(max_size=60), st.floats(10, 300))
def test_clipped_text_fits(text, width):
    short = clipped(text, width)
    assert short == text or text_width(short) <= width or short == "…"


def test_clipped_text_keeps_both_ends():
    assert clipped("covidex.r1.t5.full.version2", 90) == "covide…rsion2"
    assert clipped("short", 90) == "short"
