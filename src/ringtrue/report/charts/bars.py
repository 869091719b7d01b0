"""Labelled bars that start at zero: upright where the labels fit below them, lying otherwise.

Numbers as labels make a histogram: bars touch, stand in order, and a hole in an even grid stays a hole.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import NamedTuple

from ringtrue.audit import Figure, Point
from ringtrue.report.cells import MISSING, is_finite, is_number, number, typeset
from ringtrue.report.charts.frame import (
    Box,
    colour,
    ends,
    grid_across,
    grid_up,
    gutter,
    heights,
    legend,
    name_above,
    name_below,
    name_of,
    tick_count,
    words,
)
from ringtrue.report.charts.scales import Scale, linear
from ringtrue.report.charts.svg import Drawing, clipped, label, line, tag, text_width, tooltip

_TALL = 220.0
_LANE = 15.0
_WIDEST = 110.0


class _Slot(NamedTuple):
    """A label and the bars that stand there, by series."""

    label: str
    bars: tuple[tuple[int, Point], ...]


def draw(figure: Figure, width: float) -> Drawing:
    """The whole chart."""
    slots, counted = _slots(figure)
    key = legend([series.name for series in figure.series], width, marked=False)
    each = min((width - 60) / len(slots), _WIDEST * len(figure.series))
    fits = max(text_width(slot.label) for slot in slots) + 6 <= each and each >= 10 * len(figure.series)
    if counted or fits:
        drawn = _upright(figure, slots, width, key.height, counted)
    else:
        drawn = _lying(figure, slots, width, key.height)
    return Drawing(drawn.height, (*key.body, *drawn.body))


def _slots(figure: Figure) -> tuple[list[_Slot], bool]:
    """The places for bars, and whether they are numbers; a label that a series has twice gets two places."""
    found: dict[tuple[float | str, int], list[tuple[int, Point]]] = {}
    seen: Counter[tuple[int, float | str]] = Counter()
    for series, (_, points) in enumerate(figure.series):
        for point in points:
            found.setdefault((point.x, seen[series, point.x]), []).append((series, point))
            seen[series, point.x] += 1
    numbers = [x for x, again in found if is_number(x) and is_finite(x) and not again]
    if len(numbers) < len(found):
        return [_Slot(name_of(x), tuple(bars)) for (x, _), bars in found.items()], False
    order = _even(sorted(numbers))
    labels = _aligned(order)
    return [_Slot(text, tuple(found.get((x, 0), ()))) for text, x in zip(labels, order, strict=True)], True


def _aligned(numbers: list[float]) -> list[str]:
    """Numbers with the same count of digits after the point: 0.50 beside 0.52."""
    labels = [name_of(x) for x in numbers]
    digits = max(len(text.partition(".")[2]) for text in labels)
    if not digits or any("e" in text for text in labels):
        return labels
    return [typeset(f"{x:z,.{digits}f}") for x in numbers]


def _even(numbers: list[float]) -> list[float]:
    """The numbers with the holes of their grid filled, where they lie on an even grid that is at least half full."""
    step = min((b - a for a, b in pairwise(numbers)), default=0.0)
    if not step:
        return numbers
    places = [round((x - numbers[0]) / step) for x in numbers]
    even = all(
        math.isclose(numbers[0] + p * step, x, abs_tol=step * 1e-6) for p, x in zip(places, numbers, strict=True)
    )
    if not even or places[-1] + 1 > 2 * len(numbers):
        return numbers
    known = dict(zip(places, numbers, strict=True))
    return [known.get(place, numbers[0] + place * step) for place in range(places[-1] + 1)]


def _upright(figure: Figure, slots: list[_Slot], width: float, top: float, counted: bool) -> Drawing:
    """Bars that stand side by side over their labels."""
    values = [*heights(figure), 0.0]
    top += 18 if figure.y_label else 0
    scale = linear(values, top + _TALL, top + 14, tick_count(_TALL, 45))
    left = gutter(scale.labels(), 70) + 10
    widest = max(text_width(slot.label) for slot in slots)
    each = min((width - left - (widest / 2 if counted else 4)) / len(slots), _WIDEST * len(figure.series))
    box = Box(left, top + 14, left + each * len(slots), top + _TALL)
    every = math.ceil((widest + 8) / each) if counted else 1
    body = [*grid_up(scale, box), *name_above(top - 8, figure.y_label, width)]
    body += name_below(box, 32, figure.x_label, width)
    room = each * (0.05 if counted else 0.15)
    lane = (each - 2 * room) / len(figure.series)
    said = all(text_width(_said(point)) + 4 <= lane for slot in slots for _, point in slot.bars)
    for place, slot in enumerate(slots):
        x = box.left + place * each
        if place % every == 0:
            body.append(label(x + each / 2, box.bottom + 13, slot.label, "middle", "t k" if counted else "t"))
        for series, point in slot.bars:
            body.append(_bar_up(figure, series, point, scale, (x + room + series * lane, lane), said))
    return Drawing(box.bottom + (43 if figure.x_label else 24), tuple(body))


def _bar_up(figure: Figure, series: int, point: Point, scale: Scale, lane: tuple[float, float], said: bool) -> str:
    """One standing bar; `lane` is where it starts and how wide it may be, `said` whether its value is written."""
    told = tooltip(words(name_of(point.x), figure.series[series].name, point))
    middle, zero = lane[0] + lane[1] / 2, scale.at(0)
    if not is_finite(point.y):
        return tag("g", told, label(middle, zero - 9, MISSING, "middle", "t k"))
    y, reach = scale.at(point.y), ends(point)
    parts = [
        told,
        tag("rect", x=lane[0], y=min(y, zero), width=max(lane[1] - 1, 1.0), height=abs(zero - y), class_="b"),
    ]
    if reach:
        parts.append(line(middle, scale.at(reach[0]), middle, scale.at(reach[1]), "i"))
    if said:
        far = scale.at(reach[1 if point.y >= 0 else 0]) if reach else y
        parts.append(label(middle, far - 8 if point.y >= 0 else far + 9, _said(point), "middle", "t v"))
    return tag("g", *parts, class_=colour(series))


def _lying(figure: Figure, slots: list[_Slot], width: float, top: float) -> Drawing:
    """Bars that lie below each other beside their labels."""
    bars = [point for slot in slots for _, point in slot.bars]
    room = min(max((text_width(_said(point)) for point in bars), default=0.0), width * 0.2) + 10
    values = [*heights(figure), 0.0]
    left = gutter([slot.label for slot in slots], width * 0.4) + 10
    top += 22 if figure.x_label else 4
    each = _LANE * len(figure.series) + 7
    box = Box(left, top, width - (room if max(values) > 0 else 20), top + each * len(slots))
    start = left + (room if min(values) < 0 else 0)
    scale = linear(values, start, box.right, tick_count(box.right - start))
    body = [*grid_across(scale, box), *name_above(top - 14, figure.x_label, left)]
    body += name_below(box, 31, figure.y_label, width)
    for place, slot in enumerate(slots):
        y = top + place * each
        text = clipped(slot.label, left - 10)
        body.append(tag("g", label(left - 10, y + each / 2, text, "end"), tooltip(slot.label)))
        for series, point in slot.bars:
            body.append(_bar_along(figure, series, point, scale, y + 3.5 + series * _LANE, room))
    return Drawing(box.bottom + (42 if figure.y_label else 24), tuple(body))


def _bar_along(figure: Figure, series: int, point: Point, scale: Scale, y: float, room: float) -> str:
    """One lying bar with its value behind it, in at most `room`."""
    said = tooltip(words(name_of(point.x), figure.series[series].name, point))
    middle, zero = y + _LANE / 2, scale.at(0)
    if not is_finite(point.y):
        return tag("g", said, label(zero + 5, middle, "no value", class_="t k"))
    x, reach = scale.at(point.y), ends(point)
    parts = [said, tag("rect", x=min(x, zero), y=y + 1, width=abs(x - zero), height=_LANE - 2, class_="b")]
    if reach:
        parts.append(line(scale.at(reach[0]), middle, scale.at(reach[1]), middle, "i"))
    far = scale.at(reach[1 if point.y >= 0 else 0]) if reach else x
    along = (far + 5, "start") if point.y >= 0 else (far - 5, "end")
    parts.append(label(along[0], middle, clipped(_said(point), room), along[1], "t v"))
    return tag("g", *parts, class_=colour(series))


def _said(point: Point) -> str:
    """What is written at a bar."""
    return point.label or typeset(number(point.y))
