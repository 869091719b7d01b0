"""Figures in characters: each point a row of a table with a small drawing, each curve a line of eight heights.

The drawing is a reminder, not the figure: the page and the SVG files hold that.
"""

from __future__ import annotations

from rich.cells import cell_len

from ringtrue.audit import Cell, Column, Figure, Point, Series, Table
from ringtrue.report.cells import is_finite, is_number, number
from ringtrue.report.charts.frame import ends, heights
from ringtrue.report.charts.scales import Scale

_HEIGHTS = "▁▂▃▄▅▆▇█"
DRAWING = "drawing"
_SPARK = 48
_NARROWEST = 12
_WIDEST = 44
_NAME = 26


def figure_rows(figure: Figure, width: int, ascii_only: bool) -> Table:
    """A figure as a table for a console of some width."""
    if not any(series.points for series in figure.series):
        return Table(figure.name, figure.title, (), ())
    if figure.kind in ("lines", "points"):
        return _curves(figure, ascii_only or figure.kind == "points")
    return _points(figure, width, ascii_only)


def _points(figure: Figure, width: int, ascii_only: bool) -> Table:
    """Dots or bars: one row a point."""
    bars = figure.kind == "bars"
    values = [*heights(figure), *([0.0] if bars else [])] or [0.0]
    head = [Column("series", "")] if len(figure.series) > 1 else []
    tail = [Column("label", "")] if any(point.label for series in figure.series for point in series.points) else []
    texts = [_texts(series, point, bool(head), bool(tail)) for series in figure.series for point in series.points]
    room = width - _room([[*before, *after] for before, after in texts]) - max(8, len(figure.y_label))
    scale = _scale(min(values), max(values), max(_NARROWEST, min(_WIDEST, room)))
    points = [point for series in figure.series for point in series.points]
    draw = _bar if bars else _dot
    rows: list[tuple[Cell, ...]] = []
    for (before, after), point in zip(texts, points, strict=True):
        rows.append((*before, point.y, draw(point, scale, ascii_only), *after))
    digits = None if all(value == int(value) for value in values) else 3
    columns = (
        Column("x", figure.x_label or " "),
        Column("y", figure.y_label or "value", digits),
        Column(DRAWING, _axis(scale)),
    )
    return Table(figure.name, figure.title, (*head, *columns, *tail), tuple(rows))


def _texts(series: Series, point: Point, named: bool, noted: bool) -> tuple[list[str], list[str]]:
    """What stands before and behind a point's value and drawing."""
    name = number(point.x) if is_number(point.x) else str(point.x)
    return [*([series.name] if named else []), name], [point.label] if noted else []


def _room(texts: list[list[str]]) -> int:
    """The columns that names take, with their gaps."""
    return sum(min(max(map(cell_len, column)), _NAME) + 2 for column in zip(*texts, strict=True)) + 4


def _scale(low: float, high: float, width: int) -> Scale:
    """From the lowest to the highest value: so few columns are too dear for round ends."""
    return Scale(low, high if high > low else low + 1, 0, width - 1, ())


def _axis(scale: Scale) -> str:
    """The ends of a scale over the drawing they belong to."""
    low, high = number(scale.low), number(scale.high)
    return low + high.rjust(round(scale.end) + 1 - len(low))


def _dot(point: Point, scale: Scale, ascii_only: bool) -> str:
    """A mark on its interval."""
    cells = [" "] * (round(scale.end) + 1)
    if not is_finite(point.y):
        return ""
    if reach := ends(point):
        for place in range(_place(reach[0], scale), _place(reach[1], scale) + 1):
            cells[place] = "-" if ascii_only else "─"
    cells[_place(point.y, scale)] = "o" if ascii_only else "●"
    return "".join(cells)


def _bar(point: Point, scale: Scale, ascii_only: bool) -> str:
    """A bar from zero to its value."""
    if not is_finite(point.y):
        return ""
    zero, end = _place(0.0, scale), _place(point.y, scale)
    cells = [" "] * (round(scale.end) + 1)
    for place in range(min(zero, end), max(zero, end)):
        cells[place] = "#" if ascii_only else "█"
    if zero == end:
        cells[zero] = "|" if ascii_only else "▏"
    return "".join(cells)


def _place(value: float, scale: Scale) -> int:
    """The column of a value."""
    return round(scale.at(value))


def _curves(figure: Figure, ascii_only: bool) -> Table:
    """Curves: one row a series, also where it has no value."""
    columns = (
        Column("series", ""),
        Column("x", figure.x_label or "x"),
        Column("low", "lowest"),
        Column("high", "highest"),
        Column(DRAWING, figure.y_label),
    )
    values = [point.y for series in figure.series for point in series.points if is_finite(point.y)]
    rows = []
    for series in figure.series:
        found = [point.y for point in series.points if is_finite(point.y)]
        shape = "" if ascii_only or not found else _spark(series, min(values), max(values))
        rows.append((series.name, _span(series), min(found, default=None), max(found, default=None), shape))
    return Table(figure.name, figure.title, columns, tuple(rows))


def _span(series: Series) -> str:
    """From where to where a curve runs."""
    places = [point.x for point in series.points if is_number(point.x)]
    return f"{number(min(places))} to {number(max(places))}" if places else ""


def _spark(series: Series, low: float, high: float) -> str:
    """A curve's heights in order; a curve of very many points is seen at evenly spread ones."""
    points = series.points
    count = min(len(points), _SPARK)
    picked = [points[round(place * (len(points) - 1) / max(count - 1, 1))].y for place in range(count)]
    span = (high - low) or 1.0
    return "".join(_HEIGHTS[round((y - low) / span * 7)] if is_finite(y) else " " for y in picked)
