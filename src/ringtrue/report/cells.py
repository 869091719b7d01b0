"""How one value is shown to people: the same words on the page, on the console and in a paper.

Data files do not pass here: JSON and CSV keep the raw values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import TypeGuard

from ringtrue.audit import Cell, Column, Interval, Table

MISSING = "\N{EN DASH}"
LONGEST = 500


def is_number(cell: object) -> TypeGuard[float]:
    """Whether a cell is a number; true and false are not."""
    return isinstance(cell, Real) and not isinstance(cell, bool)


def is_finite(value: float | None) -> TypeGuard[float]:
    """Whether there is a number that can be drawn."""
    return value is not None and math.isfinite(value)


def numeric_columns(table: Table) -> tuple[bool, ...]:
    """For each column whether it holds numbers only; empty cells do not count."""
    found = []
    for place in range(len(table.columns)):
        filled = [row[place] for row in table.rows if row[place] is not None]
        found.append(bool(filled) and all(is_number(cell) for cell in filled))
    return tuple(found)


def shown(cell: Cell, digits: int | None = None) -> str:
    """A cell as text; `digits` after the point for numbers."""
    if cell is None:
        return MISSING
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if not is_number(cell):
        return str(cell)
    if digits is None or not math.isfinite(cell):
        return number(cell)
    return f"{cell:z,.{digits}f}"


def cell_text(cell: Cell, column: Column) -> str:
    """A cell as its column shows it; a p-value is never shown as zero, a text that fills pages is cut and says so."""
    if isinstance(cell, str) and len(cell) > LONGEST:
        return f"{cell[:LONGEST]}… ({len(cell):,} characters)"
    digits = column.digits
    if digits and is_number(cell) and 0 <= cell < 0.5 * 10**-digits and column.name.partition("_")[0] == "p":
        return f"<{10**-digits:.{digits}f}"
    return shown(cell, digits)


def setting(value: Cell) -> str:
    """A setting as text: one that was left open is said to be."""
    return "none" if value is None else shown(value)


def number(value: float) -> str:
    """A number of unknown kind: whole ones in full, others with three significant digits."""
    if math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    size = abs(value)
    if value == int(value) and size < 1e15:
        return f"{int(value):,}" if size >= 10_000 else str(int(value))
    if 100 <= size < 1e15:
        return f"{value:,.1f}"
    if 1e-4 <= size < 100:
        return f"{value:.3g}"
    return f"{value:.2e}"


def typeset(text: str) -> str:
    """A number's text with a true minus sign, for pages and charts; consoles keep what can be searched for."""
    return text.replace("-", "\N{MINUS SIGN}")


def interval_words(interval: Interval, show: Callable[[float], str] = number) -> str:
    """An interval as words: `95 % interval 0.88 to 0.97, bootstrap`; `show` writes its ends."""
    words = f"{interval.level * 100:.4g} % interval {show(interval.low)} to {show(interval.high)}"
    return f"{words}, {interval.method}" if interval.method else words
