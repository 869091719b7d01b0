from __future__ import annotations

import math
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from ringtrue.audit import Figure, Finding, Interval, Point, Series, Verdict
from ringtrue.report.figures import _DARK, _LIGHT, NARROW, WIDE, as_svg, describe, interval_mark, style

NS = "{http://www.w3.org/2000/svg}"


def figures(audits):
    return [part for audit in audits for part in audit.sections() if isinstance(part, Figure)]


def parse(figure, **options):
    return ElementTree.fromstring(as_svg(figure, **options))


def one(kind, *points, **options):
    return Figure("f", "F", kind, (Series("s", points),), **options)


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("standalone", [True, False])
def test_every_figure_is_xml_with_title_and_description(audits, width, standalone):
    for figure in figures(audits):
        root = parse(figure, width=width, standalone=standalone)
        space = NS if standalone else ""
        names = root.get("aria-labelledby").split()
        assert root.get("role") == "img"
        assert [root[0].tag, root[1].tag] == [f"{space}title", f"{space}desc"]
        assert [root[0].get("id"), root[1].get("id")] == names


def test_same_bytes(audits):
    for figure in figures(audits):
        assert as_svg(figure) == as_svg(figure)


def test_nothing_is_drawn_outside(audits):
    for figure in figures(audits):
        root = parse(figure, standalone=False, width=WIDE)
        _, _, width, height = map(float, root.get("viewBox").split())
        for element in root.iter():
            for name, most in (("x", width), ("x1", width), ("cx", width), ("y", height), ("y2", height)):
                if element.get(name):
                    assert -1 <= float(element.get(name)) <= most + 1, (figure.name, element.attrib)


def test_all_143_rows_have_a_label_and_room():
    points = tuple(Point(f"run{place:03d}", place / 143, place / 150, place / 140) for place in range(143))
    root = parse(one("dots", *points), standalone=False)
    labels = {element.text: float(element.get("y")) for element in root.iter("text")}
    rows = [labels[point.x] for point in points]
    assert min(b - a for a, b in pairwise(rows)) >= 15
    assert len(list(root.iter("circle"))) == 143


def test_many_series_are_told_by_headings_not_by_colour(audits):
    everyone = next(figure for figure in figures(audits) if figure.name == "everyone")
    root = parse(everyone, standalone=False)
    headings = [element.text for element in root.iter("text") if "h" in element.get("class").split()]
    assert headings == [series.name for series in everyone.series]


def test_series_that_share_labels_share_rows(audits):
    shared = next(figure for figure in figures(audits) if figure.name == "correlation")
    root = parse(shared, standalone=False)
    texts = [element.text for element in root.iter("text")]
    for point in shared.series[0].points:
        assert texts.count(point.x) == 1


def test_dots_lie_where_their_values_are():
    root = parse(one("dots", Point("a", 0.0), Point("b", 0.5, 0.25, 0.75), Point("c", 1.0)), standalone=False)
    xs = [float(circle.get("cx")) for circle in root.iter("circle")]
    assert xs[1] == pytest.approx((xs[0] + xs[2]) / 2, abs=0.02)
    whisker = next(line for line in root.iter("line") if line.get("class") == "w")
    assert float(whisker.get("x1")) == pytest.approx((xs[0] + xs[1]) / 2, abs=0.02)
    assert float(whisker.get("x2")) == pytest.approx((xs[1] + xs[2]) / 2, abs=0.02)


def test_bars_start_at_zero_and_are_in_proportion():
    root = parse(one("bars", Point("a", 10.0), Point("b", 20.0), Point("c", -5.0)), standalone=False)
    bars = list(root.iter("rect"))
    heights = [float(bar.get("height")) for bar in bars]
    assert heights == pytest.approx([heights[0], 2 * heights[0], heights[0] / 2], abs=0.03)
    assert float(bars[0].get("y")) + heights[0] == pytest.approx(float(bars[2].get("y")), abs=0.02)


def test_long_labels_turn_bars_over():
    names = [f"a rather long name of category {place}" for place in range(12)]
    root = parse(one("bars", *(Point(name, float(i + 1)) for i, name in enumerate(names))), standalone=False)
    widths = [float(bar.get("width")) for bar in root.iter("rect")]
    assert widths == pytest.approx([widths[0] * (i + 1) for i in range(12)], abs=0.2)


def test_a_hole_in_a_histogram_stays_a_hole():
    root = parse(one("bars", *(Point(x, 1.0) for x in (0.4, 0.1, 0.2, 0.5))), standalone=False)
    left = sorted(float(bar.get("x")) for bar in root.iter("rect"))
    gaps = [b - a for a, b in pairwise(left)]
    assert gaps == pytest.approx([gaps[0], 2 * gaps[0], gaps[0]], abs=0.05)
    assert "0.3" in [text.text for text in root.iter("text")]


def test_a_label_that_comes_twice_is_drawn_twice():
    for x in ("a", 1.0, math.nan):
        root = parse(one("bars", Point(x, 1.0), Point(x, 2.0)), standalone=False)
        assert len({bar.get("x") for bar in root.iter("rect")}) == 2


def test_uneven_numbers_are_not_spread_out():
    root = parse(one("bars", *(Point(x, 1.0) for x in (10, 25, 50, 100))), standalone=False)
    left = [float(bar.get("x")) for bar in root.iter("rect")]
    gaps = [b - a for a, b in pairwise(left)]
    assert gaps == pytest.approx([gaps[0]] * 3, abs=0.02)


def test_lines_use_a_logarithm_over_wide_ranges():
    points = [Point(x, float(i), i - 0.5, i + 0.5) for i, x in enumerate((10, 100, 1000, 10_000))]
    root = parse(one("lines", *points), standalone=False)
    xs = [float(circle.get("cx")) for circle in root.iter("circle")]
    assert [b - a for a, b in pairwise(xs)] == pytest.approx([xs[1] - xs[0]] * 3, abs=0.02)
    assert {"10", "100", "1k", "10k"} <= {text.text for text in root.iter("text")}
    assert len(list(root.iter("polygon"))) == 1


def test_a_missing_value_breaks_a_line_and_is_counted():
    root = parse(one("lines", Point(1, 1.0), Point(2, 2.0), Point(3, math.nan), Point(4, 1.0), Point(5, 2.0)))
    assert len(list(root.iter(f"{NS}polyline"))) == 2
    assert "1 point has no value and is not drawn." in [text.text for text in root.iter(f"{NS}text")]


@pytest.mark.parametrize("kind", ["dots", "bars"])
def test_a_missing_value_keeps_its_row(kind):
    root = parse(one(kind, Point("a label that is long " * 3, math.nan), Point("b", 1.0, math.nan, 2.0)))
    assert "no value" in [text.text for text in root.iter(f"{NS}text")]


@pytest.mark.parametrize("kind", ["dots", "bars", "lines"])
def test_nothing_to_draw(kind):
    for series in ((), (Series("s", ()),)):
        figure = Figure("f", "F", kind, series)
        assert "nothing to draw" in as_svg(figure)
        assert describe(figure) == "There is nothing to draw."
    only = [text.text for text in parse(one(kind, Point(1, math.nan))).iter(f"{NS}text")]
    assert {"no value", "\N{EN DASH}", "1 point has no value and is not drawn."} & set(only)


def test_lines_refuse_words():
    with pytest.raises(AssertionError, match="draws lines over numbers, not over 'a'"):
        as_svg(one("lines", Point("a", 1.0)))


def test_labels_of_an_axis_do_not_touch():
    for count in (5, 20, 60, 400):
        root = parse(one("bars", *(Point(place / 1000, 1.0) for place in range(count))), standalone=False, width=NARROW)
        xs = sorted(
            float(text.get("x")) for text in root.iter("text") if re.fullmatch(r"0\.\d{3}|0", text.text or "")
            and text.get("text-anchor") == "middle"
        )  # fmt: skip
        assert xs and all(b - a > 34 for a, b in pairwise(xs))


def test_describe():
    figure = one("dots", Point("a", 0.25), Point("b", 0.75), x_label="run", y_label="nDCG@10")
    assert describe(figure) == "nDCG@10 from 0.25 to 0.75 by run; 2 points."


def test_interval_mark():
    def mark(figure, *interval):
        drawn = interval_mark(Finding("f", Verdict.PASS, "", "", figure, Interval(*interval) if interval else None))
        return ElementTree.fromstring(drawn) if drawn else None

    def ends(root):
        return [text.text for text in root.iter("text")]

    assert mark(None) is None
    assert ends(mark(0.93, 0.88, 0.97)) == ["0", "1"]
    assert ends(mark(0.3, -0.1, 0.6)) == ["\N{MINUS SIGN}1", "1"]
    assert ends(mark(-0.146, -0.188, -0.102)) == ["\N{MINUS SIGN}0.2", "0"]
    assert ends(mark(43, 30, 60)) == ["0", "100"]
    assert len(list(mark(0.5, -math.inf, math.inf).iter("rect"))) == 0
    band = next(mark(0.5, 0.25, 0.75).iter("rect"))
    assert float(band.get("width")) == pytest.approx((240 - 12) / 2)


def contrast(first, second):
    def light(colour):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(first), light(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [_LIGHT, _DARK])
def test_contrast(palette):
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    for name in ("ink", "soft"):
        assert contrast(palette[name], palette["paper"]) >= 4.5
    for place in range(8):
        assert contrast(palette[f"c{place}"], palette["paper"]) >= 3
    assert len({palette[f"c{place}"] for place in range(8)}) == 8


def test_style_has_plain_colours_before_variables():
    rules = re.findall(r"\{(\w+):(#\w+);\1:var\(--\w+\)\}", style())
    assert len(rules) == 16


def test_points_are_marks_without_lines():
    spots = (Point(0.1, 0.2, label="a"), Point(-3.0, 0.4, label="b"), Point(5.0, 0.1))
    figure = Figure("map", "Map", "points", (Series("one", spots), Series("two", spots[:1])), "x", "y")
    drawn = as_svg(figure)
    assert "<polyline" not in drawn
    assert drawn.count('class="m"') == 4 + 2  # the points, and the legend
    assert "0.2, a" in drawn
