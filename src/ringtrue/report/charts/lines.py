"""Curves over numbers, with a band where points have intervals, a whisker where a point stands alone; or points alone.

The horizontal axis is logarithmic where its numbers span more than a hundred times. A point without a value breaks
its curve and is counted. The vertical axis need not start at zero: lines compare places, not lengths.
"""

from __future__ import annotations

from typing import NamedTuple

from ringtrue.audit import Figure, Point, Series
from ringtrue.report.cells import is_finite, is_number, number
from ringtrue.report.charts.frame import (
    Box,
    colour,
    dashes,
    ends,
    grid_across,
    grid_up,
    gutter,
    heights,
    legend,
    mark,
    name_above,
    name_below,
    tick_count,
    words,
)
from ringtrue.report.charts.scales import Scale, linear, logarithmic, wants_log
from ringtrue.report.charts.svg import Drawing, clipped, decimal, label, line, tag, text_width, tooltip

_TALL = 260.0
_MARKED = 60


class _Spot(NamedTuple):
    """A point on the drawing."""

    x: float
    y: float
    band: tuple[float, float] | None
    point: Point


def draw(figure: Figure, width: float) -> Drawing:
    """The whole chart."""
    for point in (point for series in figure.series for point in series.points):
        assert is_number(point.x), f"figure {figure.name!r} draws lines over numbers, not over {point.x!r}"
    key = legend([series.name for series in figure.series], width)
    top = key.height + (18 if figure.y_label else 0)
    up = linear(heights(figure) or [0.0, 1.0], top + _TALL, top + 8, tick_count(_TALL, 45))
    box = Box(gutter(up.labels(), 70) + 10, top + 8, width - 16, top + _TALL)
    along = _along(figure, box)
    runs = [_runs(series, along, up) for series in figure.series]
    body = [*key.body, *grid_up(up, box), *grid_across(along, box)]
    body += name_above(top - 8, figure.y_label, width)
    body += name_below(box, 32, figure.x_label, width)
    body += [band for series, found in enumerate(runs) for band in _bands(series, found)]
    body += [curve for series, found in enumerate(runs) for curve in _curves(series, figure, found)]
    if figure.kind == "lines":
        body += _notes([spot for found in runs for run in found for spot in run], box)
    drawn = sum(len(run) for found in runs for run in found)
    left_out = sum(len(series.points) for series in figure.series) - drawn
    return Drawing(box.bottom + (43 if figure.x_label else 24), tuple(body), left_out)


def _along(figure: Figure, box: Box) -> Scale:
    """The horizontal scale."""
    places = [p.x for series in figure.series for p in series.points if is_number(p.x) and is_finite(p.x)]
    if figure.kind == "lines" and wants_log(places):
        return logarithmic(places, box.left + 6, box.right - 6)
    return linear(places or [0.0, 1.0], box.left + 6, box.right - 6, tick_count(box.right - box.left))


def _runs(series: Series, along: Scale, up: Scale) -> list[list[_Spot]]:
    """A series as stretches without a hole."""
    runs: list[list[_Spot]] = [[]]
    for point in series.points:
        if not (is_number(point.x) and is_finite(point.x) and is_finite(point.y)):
            runs.append([])
            continue
        reach = ends(point)
        band = (up.at(reach[0]), up.at(reach[1])) if reach else None
        runs[-1].append(_Spot(along.at(point.x), up.at(point.y), band, point))
    return [run for run in runs if run]


def _bands(series: int, runs: list[list[_Spot]]) -> list[str]:
    """The intervals of a series as areas, that of a lone point as a whisker."""
    drawn = []
    for run in runs:
        edges = [(spot.x, *spot.band) for spot in run if spot.band]
        if len(run) == len(edges) == 1:
            x, low, high = edges[0]
            drawn.append(tag("g", line(x, low, x, high, "w"), class_=colour(series)))
        if len(edges) > 1:
            around = [(x, low) for x, low, _ in edges] + [(x, high) for x, _, high in reversed(edges)]
            drawn.append(tag("g", tag("polygon", points=_pairs(around), class_="a"), class_=colour(series)))
    return drawn


def _curves(series: int, figure: Figure, runs: list[list[_Spot]]) -> list[str]:
    """A series as lines, with marks where they would not run together."""
    joined, name = figure.kind == "lines", figure.series[series].name
    marked = not joined or sum(map(len, runs)) <= _MARKED
    drawn = []
    for run in runs:
        parts = []
        if joined and len(run) > 1:
            path = _pairs([(spot.x, spot.y) for spot in run])
            parts.append(tag("polyline", points=path, class_="l", stroke_dasharray=dashes(series)))
        if marked or len(run) == 1:
            parts += [_marked(series, name, spot) for spot in run]
        drawn.append(tag("g", *parts, class_=colour(series)))
    return drawn


def _marked(series: int, name: str, spot: _Spot) -> str:
    """A point's mark with its tooltip."""
    x = number(spot.point.x) if is_number(spot.point.x) else ""
    return tag("g", tooltip(words(x, name, spot.point)), mark(series, spot.x, spot.y, 3.2))


def _notes(spots: list[_Spot], box: Box) -> list[str]:
    """Labels of points where there is room above or below; the others stay in the tooltips."""
    taken: list[Box] = []
    drawn = []
    for spot in spots:
        if not spot.point.label:
            continue
        text = clipped(spot.point.label, box.right - box.left - 8)
        half = text_width(text) / 2
        x = min(max(spot.x, box.left + half + 4), box.right - half)
        for y in (spot.y - 14, spot.y + 14):
            place = Box(x - half - 3, y - 8, x + half + 3, y + 8)
            inside = box.top <= place.top and place.bottom <= box.bottom
            if inside and not any(_overlap(place, other) for other in taken):
                taken.append(place)
                drawn.append(label(x, y, text, "middle", "t v"))
                break
    return drawn


def _overlap(a: Box, b: Box) -> bool:
    """Whether two boxes share a place."""
    return a.left < b.right and b.left < a.right and a.top < b.bottom and b.top < a.bottom


def _pairs(points: list[tuple[float, float]]) -> str:
    """Coordinates as SVG lists them."""
    return " ".join(f"{decimal(x)},{decimal(y)}" for x, y in points)
