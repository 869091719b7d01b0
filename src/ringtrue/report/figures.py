"""Figures as SVG, without a plotting library: the same bytes each time, light and dark by the reader's setting.

Colours are CSS variables with plain values before them, so that programs which know no variables (converters for
papers) show the light ones. The palette was searched for: any two colours stay apart (CIELAB distance above 20) for
readers without red, green or blue cones as well, and each stands out from the paper three to one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ringtrue.audit import Figure, Finding
from ringtrue.report.cells import is_finite, number, typeset
from ringtrue.report.charts import bars, dots, lines
from ringtrue.report.charts.scales import linear
from ringtrue.report.charts.svg import FONT, Drawing, clipped, decimal, escape, label, line, tag

WIDE = 840.0
NARROW = 342.0

_DRAW: Mapping[str, Callable[[Figure, float], Drawing]] = {
    "dots": dots.draw,
    "bars": bars.draw,
    "lines": lines.draw,
    "points": lines.draw,
}
_LIGHT = {
    "paper": "#ffffff", "ink": "#1f2328", "soft": "#59616b", "rule": "#e3e5e8", "zero": "#9aa1a9",
    "c0": "#004896", "c1": "#a21600", "c2": "#1ba473", "c3": "#571f4b",
    "c4": "#c68300", "c5": "#6d7afe", "c6": "#7e94a1", "c7": "#6c0d15",
}  # fmt: skip
_DARK = {
    "paper": "#1a1d22", "ink": "#e8e9eb", "soft": "#a7aeb8", "rule": "#33383f", "zero": "#6b737d",
    "c0": "#587ed7", "c1": "#d35e24", "c2": "#8bebb1", "c3": "#aa6e99",
    "c4": "#f9d466", "c5": "#d1b7ff", "c6": "#bcdde3", "c7": "#bd6a63",
}  # fmt: skip
_RULES = (
    ("text", "fill", "ink"), (".k", "fill", "soft"), (".n", "fill", "soft"), (".g", "stroke", "rule"),
    (".r", "stroke", "rule"), (".z", "stroke", "zero"), (".i", "stroke", "ink"), (".paper", "fill", "paper"),
    *((f".c{place}", "color", f"c{place}") for place in range(8)),
)  # fmt: skip
_FIXED = """\
.chart{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-size:12px}
.chart .n{font-style:italic}.chart .h{font-weight:600}.chart .title{font-size:15px;font-weight:600}
.chart .k,.chart .v{font-variant-numeric:tabular-nums}.chart .v{font-size:11px}
.chart .r{stroke-dasharray:1 3}.chart .m,.chart .b,.chart .a{fill:currentColor}.chart .b{opacity:.82}
.chart .a{opacity:.16}.chart .w,.chart .l{stroke:currentColor;fill:none;stroke-width:2}
.chart .w{stroke-linecap:round;opacity:.6}.chart .l{stroke-linejoin:round}
"""


def as_svg(figure: Figure, standalone: bool = True, *, width: float = WIDE, prefix: str = "figure") -> str:
    """A figure as an SVG file, or as an element for a page that holds `style()`; `prefix` keeps its ids apart."""
    empty = not any(series.points for series in figure.series)
    drawing = _nothing(width) if empty else _DRAW[figure.kind](figure, width)
    body, height = list(drawing.body), drawing.height
    if drawing.left_out:
        body.append(label(0, height + 10, _left_out(drawing.left_out), class_="t k"))
        height += 20
    named = f"{prefix}-title {prefix}-desc"
    told = (
        tag("title", escape(figure.title), id=f"{prefix}-title"),
        tag("desc", escape(describe(figure)), id=f"{prefix}-desc"),
    )
    if standalone:
        return _file(figure.title, (*told, tag("style", style())), body, width, height, named)
    view = f"0 0 {decimal(width)} {decimal(height)}"
    return tag("svg", *told, *body, class_="chart", viewBox=view, role="img", aria_labelledby=named)


def style() -> str:
    """The CSS of all charts, for the page's head."""
    light = "".join(f"--{name}:{value};" for name, value in _LIGHT.items())
    dark = "".join(f"--{name}:{value};" for name, value in _DARK.items())
    rules = "".join(f".chart {what}{{{key}:{_LIGHT[name]};{key}:var(--{name})}}" for what, key, name in _RULES)
    scheme = f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    return f":root{{{light}}}\n{scheme}\n{rules}\n{_FIXED}"


def describe(figure: Figure) -> str:
    """A figure in words, for those who cannot see it."""
    points = [point for series in figure.series for point in series.points]
    values = [point.y for point in points if is_finite(point.y)]
    if not values:
        return "There is nothing to draw."
    named = [series.name for series in figure.series if series.name]
    told = f"{figure.y_label or 'Values'} from {number(min(values))} to {number(max(values))}"
    over = f" by {figure.x_label}" if figure.x_label else ""
    told += f"{over}; {len(points)} {'point' if len(points) == 1 else 'points'}"
    if len(figure.series) > 1:
        told += f" in {len(figure.series)} series: {', '.join(named)}"
    return f"{told}."


def interval_mark(finding: Finding, width: float = 240.0) -> str:
    """A finding's figure and interval on a small axis that always holds zero."""
    reach = finding.interval
    values = [value for value in (finding.figure, *((reach.low, reach.high) if reach else ())) if is_finite(value)]
    if not values:
        return ""
    scale = linear((*values, *_mark_axis(values)), 6, width - 6, 3)
    parts = [line(6, 8, width - 6, 8, "z")]
    parts += [line(scale.at(tick), 4, scale.at(tick), 12, "z") for tick in (scale.low, scale.high)]
    if reach and is_finite(reach.low) and is_finite(reach.high):
        parts.append(
            tag("rect", x=scale.at(reach.low), y=4, width=scale.at(reach.high) - scale.at(reach.low), height=8)
        )
    if is_finite(finding.figure):
        parts.append(tag("circle", cx=scale.at(finding.figure), cy=8, r=3.5))
    parts.append(label(2, 21, typeset(number(scale.low)), "start", "t k"))
    parts.append(label(width - 2, 21, typeset(number(scale.high)), "end", "t k"))
    return tag("svg", *parts, class_="chart mark", viewBox=f"0 0 {decimal(width)} 28", aria_hidden="true")


def _mark_axis(values: list[float]) -> tuple[float, ...]:
    """The ends that shares and correlations are read against; small values would vanish between them."""
    if 0.2 <= max(map(abs, values)) <= 1:
        return (0.0, 1.0) if min(values) >= 0 else (-1.0, 1.0)
    return (0.0,)


def _file(title: str, head: tuple[str, ...], body: list[str], width: float, height: float, named: str) -> str:
    """A whole file: margins, a background and the title, with all that a page would give inside."""
    wide, high = width + 32, height + 66
    sheet = tag("rect", x=-16.0, y=-16.0, width=wide, height=high, class_="paper")
    heading = label(0, 8, clipped(title, width, FONT * 1.3), class_="title")
    moved = tag("g", *body, transform="translate(0 34)")
    return tag(
        "svg", *head, sheet, heading, moved,
        xmlns="http://www.w3.org/2000/svg", class_="chart", width=wide, height=high,
        viewBox=f"-16 -16 {decimal(wide)} {decimal(high)}", role="img", aria_labelledby=named,
    ) + "\n"  # fmt: skip


def _nothing(width: float) -> Drawing:
    """What stands in place of an empty chart."""
    return Drawing(64.0, (label(width / 2, 32, "nothing to draw", "middle", "t n"),))


def _left_out(count: int) -> str:
    """How many points could not be drawn."""
    return (
        "1 point has no value and is not drawn." if count == 1 else f"{count} points have no value and are not drawn."
    )
