"""Tables for a console of some width: whole where they fit, else in blocks of columns that can each be read alone.

Every block starts with the columns that tell rows apart by name. A column `X_mark` stays beside its column X.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.cells import cell_len
from rich.table import Table as Grid
from rich.text import Text as Words

from ringtrue.audit import Table
from ringtrue.report.cells import numeric_columns
from ringtrue.report.strips import DRAWING

_TEXT_WIDTH = 16
_WORD_WIDTH = 24
_KEYS_SHARE = 0.6
_LEADING = 3
_GAP = 2
_MARK = "_mark"
Texts = list[list[str]]


def grids(table: Table, texts: Texts, width: int) -> Iterator[Grid]:
    """The blocks of a table, one below the other; `texts` are the cells of the rows to show."""
    numeric = numeric_columns(table)
    needs = _needs(table, texts, numeric)
    marks = {place for place, column in enumerate(table.columns) if column.name.endswith(_MARK)}
    for block in _blocks(needs, marks, _keys(table, numeric, needs, width), width):
        yield _grid(table, texts, _widths(table, texts, block, needs, width), numeric)


def _needs(table: Table, texts: Texts, numeric: tuple[bool, ...]) -> list[int]:
    """The least width of each column: numbers, names and the words of headers stay whole, long text may fold."""
    needs = []
    for place, column in enumerate(table.columns):
        words = max(map(cell_len, column.header.split()), default=0)
        whole = numeric[place] or column.name == DRAWING
        widest = max((cell_len(row[place]) for row in texts), default=0)
        word = max((cell_len(word) for row in texts for word in row[place].split()), default=0)
        folded = max(min(widest, _TEXT_WIDTH), min(word, _WORD_WIDTH))
        needs.append(max(words, widest if whole else folded))
    return needs


def _keys(table: Table, numeric: tuple[bool, ...], needs: list[int], width: int) -> list[int]:
    """The first columns that tell the rows apart, a name among them where there is one, as far as there is room."""
    keys: list[int] = []
    for place, column in enumerate(table.columns):
        if _distinct(table, keys) == len(table.rows) or (numeric[place] and column.digits is not None):
            break
        if _distinct(table, [*keys, place]) > _distinct(table, keys):
            keys.append(place)
    name = next((place for place in range(min(_LEADING, len(needs))) if not numeric[place]), None)
    if name is not None and name not in keys:
        keys.append(name)
    for place in list(keys):
        rest = [key for key in keys if key != place]
        if place != name and _distinct(table, rest) == len(table.rows):
            keys = rest
    while len(keys) > 1 and sum(needs[key] + _GAP for key in keys) > width * _KEYS_SHARE:
        keys.pop()
    return sorted(keys) or [0]


def _distinct(table: Table, places: list[int]) -> int:
    """How many rows differ in some columns."""
    return len({tuple(row[place] for place in places) for row in table.rows})


def _blocks(needs: list[int], marks: set[int], keys: list[int], width: int) -> list[list[int]]:
    """Columns that fit beside each other; each block but the first starts with the keys, and none with a mark."""
    blocks: list[list[int]] = [[]]
    start, used = 0, 0
    for place, need in enumerate(needs):
        room = need + _GAP + (needs[place + 1] + _GAP if place + 1 in marks else 0)
        if used + room > width and len(blocks[-1]) > start and place not in marks:
            blocks.append([key for key in keys if key < place])
            start, used = len(blocks[-1]), sum(needs[key] + _GAP for key in blocks[-1])
        blocks[-1].append(place)
        used += need + _GAP
    return blocks


def _widths(table: Table, texts: Texts, block: list[int], needs: list[int], width: int) -> dict[int, int]:
    """What each column of a block gets: its need, and from the first on what would spare it a fold.

    Set here, since rich, told only the least widths, may lay out a table that is wider than the console.
    """
    spare = width - sum(needs[place] + _GAP for place in block)
    widths = {}
    for place in block:
        natural = max(cell_len(table.columns[place].header), *(cell_len(row[place]) for row in texts))
        extra = max(0, min(natural - needs[place], spare))
        widths[place] = needs[place] + extra
        spare -= extra
    return widths


def _grid(table: Table, texts: Texts, widths: dict[int, int], numeric: tuple[bool, ...]) -> Grid:
    """Some columns of a table, each with its width; the box adds one column to each gap."""
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, _GAP - 1, 0, 0), header_style="bold")
    for place, width in widths.items():
        header = Words(table.columns[place].header)
        grid.add_column(header, justify="right" if numeric[place] else "left", overflow="fold", width=width)
    for row in texts:
        grid.add_row(*(Words(row[place]) for place in widths))
    return grid
