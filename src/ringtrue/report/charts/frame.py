"""What all charts share: grid and tick labels, the legend, and the marks that tell series apart.

Series differ in colour and in shape, so that colour is never needed; eight colours and five shapes repeat together
only after forty series.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ringtrue.audit import Figure, Point
from ringtrue.report.cells import is_finite, is_number, number, typeset
from ringtrue.report.charts.scales import Scale
from ringtrue.report.charts.svg import Drawing, clipped, label, line, tag, text_width

COLOURS = 8
_DASHES = ("none", "7 3", "2 3", "9 3 2 3", "4 3")
_CORNERS = {1: (4, 45.0), 2: (3, -90.0), 3: (4, 0.0), 4: (3, 90.0)}
_GAP = 18.0


class Box(NamedTuple):
    """The plotting area."""

    left: float
    top: float
    right: float
    bottom: float


def colour(series: int) -> str:
    """The CSS class that gives a series its colour."""
    return f"c{series % COLOURS}"


def dashes(series: int) -> str:
    """The dash pattern of a series' line."""
    return _DASHES[series % len(_DASHES)]


def mark(series: int, x: float, y: float, radius: float = 4.0) -> str:
    """The mark of a series: circle, square, triangle, diamond or turned triangle."""
    shape = series % 5
    if shape == 0:
        return tag("circle", cx=x, cy=y, r=radius, class_="m")
    count, turn = _CORNERS[shape]
    reach = radius * 1.25
    angles = [math.radians(turn + 360 * place / count) for place in range(count)]
    corners = " ".join(f"{x + reach * math.cos(angle):.2f},{y + reach * math.sin(angle):.2f}" for angle in angles)
    return tag("polygon", points=corners, class_="m")


def grid_across(scale: Scale, box: Box, top: bool = False) -> list[str]:
    """Vertical grid lines for a horizontal axis, labelled below and, if asked, above as well."""
    drawn = []
    for tick, text in zip(scale.ticks, scale.labels(), strict=True):
        x = scale.at(tick)
        drawn.append(line(x, box.top, x, box.bottom, "z" if tick == 0 else "g"))
        drawn.append(label(x, box.bottom + 13, text, "middle", "t k"))
        if top:
            drawn.append(label(x, box.top - 11, text, "middle", "t k"))
    return drawn


def grid_up(scale: Scale, box: Box) -> list[str]:
    """Horizontal grid lines for a vertical axis, labelled on the left."""
    drawn = []
    for tick, text in zip(scale.ticks, scale.labels(), strict=True):
        y = scale.at(tick)
        drawn.append(line(box.left, y, box.right, y, "z" if tick == 0 else "g"))
        drawn.append(label(box.left - 8, y, text, "end", "t k"))
    return drawn


def name_below(box: Box, y: float, name: str, width: float) -> list[str]:
    """The name of the horizontal axis, under its middle as far as the drawing's `width` allows."""
    text = clipped(name, width)
    half = text_width(text) / 2
    x = min(max((box.left + box.right) / 2, half), width - half)
    return [label(x, box.bottom + y, text, "middle", "t n")] if name else []


def name_above(y: float, name: str, width: float) -> list[str]:
    """The name of the vertical axis or of the rows, at the left edge."""
    return [label(0, y, clipped(name, width), class_="t n")] if name else []


def legend(names: Sequence[str], width: float, marked: bool = True) -> Drawing:
    """Marks (or patches of colour) and names in as many lines as they need; nothing for a single series."""
    if len(names) < 2:
        return Drawing(0.0, ())
    drawn, x, y = [], 0.0, 10.0
    for series, name in enumerate(names):
        text = clipped(name, width - 16)
        room = 16 + text_width(text)
        if x > 0 and x + room > width:
            x, y = 0.0, y + 20.0
        drawn.append(tag("g", mark(series if marked else 1, x + 5, y), class_=colour(series)))
        drawn.append(label(x + 16, y, text))
        x += room + _GAP
    return Drawing(y + 18.0, tuple(drawn))


def gutter(texts: Sequence[str], most: float) -> float:
    """The room that row labels take, up to `most`."""
    return min(max(map(text_width, texts), default=0.0) + 2, most)


def name_of(x: float | str) -> str:
    """A point's place as a label."""
    return typeset(number(x)) if is_number(x) else str(x)


def words(name: str, series: str, point: Point) -> str:
    """A point as a sentence for its tooltip."""
    parts = [part for part in (series, name) if part]
    value = number(point.y)
    if reach := ends(point):
        value += f" ({number(reach[0])} to {number(reach[1])})"
    if point.label:
        value += f", {point.label}"
    return f"{' · '.join(parts)}: {value}"


def ends(point: Point) -> tuple[float, float] | None:
    """Both ends of a point's interval, where both can be drawn."""
    return (point.low, point.high) if is_finite(point.low) and is_finite(point.high) else None


def heights(figure: Figure) -> list[float]:
    """All finite values of a figure, ends of intervals included."""
    every = (value for series in figure.series for p in series.points for value in (p.y, p.low, p.high))
    return [value for value in every if is_finite(value)]


def tick_count(length: float, each: float = 50.0) -> int:
    """How many labelled ticks an axis has room for."""
    return max(3, int(length / each) + 1)
