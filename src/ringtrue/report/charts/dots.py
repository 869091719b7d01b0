"""Labelled rows with a mark and its interval, read from left to right.

Where every label belongs to one series, series follow each other; up to eight are told by the legend, more by
headings, since more colours cannot be told apart. Where series share labels, their marks share rows.
"""

from __future__ import annotations

from typing import NamedTuple

from ringtrue.audit import Figure, Point
from ringtrue.report.cells import is_finite
from ringtrue.report.charts.frame import (
    COLOURS,
    Box,
    colour,
    ends,
    grid_across,
    gutter,
    heights,
    legend,
    mark,
    name_above,
    name_below,
    name_of,
    tick_count,
    words,
)
from ringtrue.report.charts.scales import Scale, linear
from ringtrue.report.charts.svg import Drawing, clipped, label, line, tag, text_width, tooltip

_ROW = 18.0
_LANE = 9.0
_GAP = 7.0
_TALL = 25


class _Row(NamedTuple):
    """A row's label and marks (series, lane, point) below a gap; a row without marks is a heading."""

    label: str
    marks: tuple[tuple[int, float, Point], ...]
    series: int
    height: float
    gap: float = 0.0


def draw(figure: Figure, width: float) -> Drawing:
    """The whole chart."""
    rows = _rows(figure)
    headed = any(not row.marks for row in rows)
    key = Drawing(0.0, ()) if headed else legend([series.name for series in figure.series], width)
    both = len(rows) > _TALL
    notes = [point.label for row in rows for _, _, point in row.marks]
    left = gutter([row.label for row in rows], width * 0.4) + 12
    right = width - max(20.0, min(max(map(text_width, notes)) + 14, width * 0.25) if any(notes) else 0.0)
    top = key.height + (18 if figure.x_label else 0) + (22 if both else 6)
    box = Box(left, top, right, top + sum(row.gap + row.height for row in rows))
    scale = linear(heights(figure) or [0.0, 1.0], left, right, tick_count(right - left))
    body = [*key.body, *grid_across(scale, box, top=both)]
    body += name_above(key.height + 8, figure.x_label, left)
    body += name_below(box, 31, figure.y_label, width)
    y = top
    for row in rows:
        y += row.gap + row.height
        body += _row(row, figure, scale, Box(left, y - row.height, right, y), width)
    return Drawing(box.bottom + (42 if figure.y_label else 24), tuple(body))


def _rows(figure: Figure) -> list[_Row]:
    """The rows in reading order, with headings where there are too many series for a legend."""
    owners: dict[str, set[int]] = {}
    for series, (_, points) in enumerate(figure.series):
        for point in points:
            owners.setdefault(name_of(point.x), set()).add(series)
    if any(len(found) > 1 for found in owners.values()):
        return _shared_rows(figure, list(owners))
    headed = len(figure.series) > COLOURS
    rows: list[_Row] = []
    for series, (name, points) in enumerate(figure.series):
        gap = _GAP if rows else 0.0
        if headed and points:
            rows.append(_Row(name, (), series, _ROW, gap))
            gap = 0.0
        for point in points:
            rows.append(_Row(name_of(point.x), ((series, 0.0, point),), series, _ROW, gap))
            gap = 0.0
    return rows


def _shared_rows(figure: Figure, labels: list[str]) -> list[_Row]:
    """One row a label; each series keeps its lane, so that rows can be compared."""
    found: dict[str, list[tuple[int, float, Point]]] = {text: [] for text in labels}
    middle = (len(figure.series) - 1) / 2
    for series, (_, points) in enumerate(figure.series):
        for point in points:
            found[name_of(point.x)].append((series, (series - middle) * _LANE, point))
    height = max(_ROW, _LANE * len(figure.series) + 9)
    return [_Row(text, tuple(marks), 0, height) for text, marks in found.items()]


def _row(row: _Row, figure: Figure, scale: Scale, box: Box, width: float) -> list[str]:
    """A row's label, guide line, marks and note."""
    y = (box.top + box.bottom) / 2
    if not row.marks:
        shape = tag("g", mark(row.series, 5, y), class_=colour(row.series))
        return [shape, label(16, y, clipped(row.label, width - 16), class_="t h")]
    text = clipped(row.label, box.left - 10)
    drawn = [tag("g", label(box.left - 10, y, text, "end"), tooltip(row.label)), line(box.left, y, box.right, y, "r")]
    for series, lane, point in row.marks:
        drawn.append(_mark(series, figure.series[series].name, point, scale, y + lane))
        if point.label and len(row.marks) == 1:
            note = clipped(point.label, width - box.right - 8)
            drawn.append(label(box.right + 8, y, note, class_="t k"))
    return drawn


def _mark(series: int, name: str, point: Point, scale: Scale, y: float) -> str:
    """A mark on its interval."""
    said = tooltip(words(name_of(point.x), name, point))
    if not is_finite(point.y):
        return tag("g", said, label(scale.start + 4, y, "no value", class_="t k"))
    parts = []
    if reach := ends(point):
        parts.append(line(scale.at(reach[0]), y, scale.at(reach[1]), y, "w"))
    parts.append(mark(series, scale.at(point.y), y))
    return tag("g", said, *parts, class_=colour(series))
