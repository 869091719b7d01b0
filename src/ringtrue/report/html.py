"""Audits as one page that needs nothing else: no network, no font, no script from elsewhere.

The page reads fully without its script, which only sorts tables. Nothing is cut: long tables show their first rows
and hold all of them in a block that opens. The content policy in the page's head allows its own script and no other,
whatever stands in a cell.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ringtrue.audit import Audit, Cell, Column, Figure, Finding, Interval, Table, Verdict
from ringtrue.report.cells import (
    MISSING,
    cell_text,
    interval_words,
    is_number,
    number,
    numeric_columns,
    setting,
    typeset,
)
from ringtrue.report.chapters import Chapter, chapters, overall
from ringtrue.report.charts.svg import legal
from ringtrue.report.figures import NARROW, WIDE, as_svg, interval_mark, style

TITLE = "Does this evaluation ring true?"
LONG = 15
_PREVIEW = 8
_TALL = 45
_WORDY = 32
_HEADLINES = {
    Verdict.PASS: "It rings true: every rule holds.",
    Verdict.UNKNOWN: "Nothing is wrong so far, but what was given cannot answer every question.",
    Verdict.WARN: "It rings true with reservations: look at the warnings.",
    Verdict.FAIL: "It does not ring true: at least one rule is broken.",
}
_MEANINGS = {
    Verdict.PASS: "the rule holds",
    Verdict.WARN: "look before you rely on it",
    Verdict.FAIL: "the rule is broken",
    Verdict.UNKNOWN: "what was given cannot tell",
}
_SIGNS = {Verdict.PASS: "✓", Verdict.UNKNOWN: "?", Verdict.WARN: "!", Verdict.FAIL: "✕"}


class _Head(NamedTuple):
    """A column and whether it holds numbers."""

    column: Column
    numeric: bool


class _Shown(NamedTuple):
    """A cell as text; `raw` is what sorting compares where the text is rounded."""

    text: str
    kind: str
    raw: str


class _Grid(NamedTuple):
    """A table ready for the template; `first` rows are shown before the block is opened, all where it is None."""

    heads: tuple[_Head, ...]
    rows: tuple[tuple[_Shown, ...], ...]
    first: int | None

    @property
    def explained(self) -> tuple[Column, ...]:
        """The columns that come with a help text."""
        return tuple(head.column for head in self.heads if head.column.help)


class _Plot(NamedTuple):
    """A figure drawn for screens and for phones; a tall one scrolls in its own frame."""

    wide: Markup
    narrow: Markup
    tall: bool


def as_html(audits: Iterable[Audit], title: str = TITLE, *, linked: bool = False) -> str:
    """The whole page; `linked` adds links to the files that `write_report` puts beside it."""
    parts = chapters(audits)
    template = _environment().get_template("page.html")
    verdict = overall(parts)
    script = _resource("page.js")
    return template.render(
        title=title,
        chapters=parts,
        verdict=verdict,
        headline=_HEADLINES[verdict],
        tally=_tally(parts),
        linked=linked,
        script=Markup(script),
        script_hash=_content_hash(script),
        style=Markup(style() + _resource("page.css")),
    )


@cache
def _environment() -> Environment:
    """The templates with everything escaped and nothing undefined."""
    environment = Environment(
        loader=PackageLoader("ringtrue.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_legal,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(grid=_grid, plot=_plot, interval_mark=_mark, signs=_SIGNS, meanings=_MEANINGS)
    environment.filters.update(number=_signed, interval=_interval, setting=setting)
    return environment


def _tally(parts: tuple[Chapter, ...]) -> str:
    """How many findings of each verdict, gravest first: `1 fail, 2 pass`."""
    counts = Counter(finding.verdict for chapter in parts for finding in chapter.findings)
    return ", ".join(f"{counts[verdict]} {verdict.lower()}" for verdict in reversed(Verdict) if counts[verdict])


def _grid(table: Table) -> _Grid:
    """A table ready for the template."""
    numeric = numeric_columns(table)
    heads = tuple(_Head(column, found) for column, found in zip(table.columns, numeric, strict=True))
    rows = tuple(tuple(_shown(cell, head) for cell, head in zip(row, heads, strict=True)) for row in table.rows)
    return _Grid(heads, rows, _PREVIEW if len(rows) > LONG else None)


def _shown(cell: Cell, head: _Head) -> _Shown:
    """A cell ready for the template; `kind` is its CSS class."""
    text = cell_text(cell, head.column)
    raw = ""
    if text == MISSING and not isinstance(cell, str):
        kind = "none"
    elif is_number(cell):
        text, kind, raw = typeset(text), "", repr(float(cell))
    elif isinstance(cell, Verdict):
        kind = f"verdict {text.lower()}"
    else:
        kind = "long" if len(text) > _WORDY else ""
    return _Shown(text, f"n {kind}".strip() if head.numeric else kind, raw if head.numeric else "")


def _legal(value: object) -> object:
    """Any text on its way into the page, without characters that HTML forbids."""
    return legal(value) if type(value) is str else value


def _signed(value: float) -> str:
    """A number with a true minus sign."""
    return typeset(number(value))


def _interval(interval: Interval) -> str:
    """An interval in words, with true minus signs."""
    return interval_words(interval, _signed)


def _plot(figure: Figure, stem: str) -> _Plot:
    """Both drawings: shrinking the wide one to a phone would make its text too small to read."""
    wide = as_svg(figure, standalone=False, width=WIDE, prefix=f"wide.{stem}")
    narrow = as_svg(figure, standalone=False, width=NARROW, prefix=f"narrow.{stem}")
    points = sum(len(series.points) for series in figure.series)
    return _Plot(Markup(wide), Markup(narrow), figure.kind in ("dots", "bars") and points > _TALL)


def _mark(finding: Finding) -> Markup:
    """A finding's interval as a small drawing."""
    return Markup(interval_mark(finding))


def _content_hash(text: str) -> str:
    """What a content policy calls a script by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _resource(name: str) -> str:
    """A file that lies beside the templates."""
    return resources.files("ringtrue.report").joinpath("templates", name).read_text(encoding="utf-8")
