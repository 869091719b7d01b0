"""Whole lines of a log as columns, by a look at all their bytes at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ringtrue.data.cells import Cells, Ints, LogBlock

LONG = 100_000
"""Characters; a query of that length is hardly one."""

_TAB, _LINE_END, _SPACE, _DELETE = 9, 10, 32, 127


def tab_separated(data: bytes) -> LogBlock | None:
    """Whole lines of `id, text[, source]`; None where one of them is not plainly that."""
    spans = _spans(data)
    if spans is None:
        return None
    codes, starts, ends = spans
    tabs = np.flatnonzero(codes == _TAB)
    if len(tabs) == 2 * len(ends):
        first, second = tabs[0::2], tabs[1::2]
    elif len(tabs) == len(ends):
        first, second = tabs, ends
    else:
        return None
    # where each line has its share of the tabs, these stand in order between its ends
    if not np.all((starts < first) & (first + 1 < second) & (second <= ends)):
        return None
    columns = ((starts, first), (first + 1, second), (np.minimum(second + 1, ends), ends))
    if any(_has_blanks_around(data, codes, *column) for column in columns):
        return None
    return LogBlock(*(Cells(data, *column) for column in columns))


def _has_blanks_around(data: bytes, codes: NDArray[np.uint8], starts: Ints, ends: Ints) -> bool:
    """Whether a cell begins or ends with a blank; only those are decoded that may."""
    filled = np.flatnonzero(starts < ends)
    starts, ends = starts[filled], ends[filled]
    edges = [codes[starts], codes[ends - 1]]
    unclear = np.flatnonzero(np.any([(edge <= _SPACE) | (edge > _DELETE) for edge in edges], axis=0))
    return any(cell != cell.strip() for cell in Cells(data, starts[unclear], ends[unclear]))


def plain_lines(data: bytes, number: int) -> LogBlock | None:
    """Whole lines of a query each, named by their numbers; None where one begins or ends with anything but ASCII."""
    spans = _spans(data)
    if spans is None or np.any(spans[1] == spans[2]):
        return None
    codes, starts, ends = spans
    for edge in (codes[starts], codes[ends - 1]):
        if np.any((edge <= _SPACE) | (edge >= _DELETE)):
            return None
    ids = Cells.of(map(str, range(number, number + len(ends))))
    return LogBlock(ids, Cells(data, starts, ends), Cells(data, ends, ends))


def _spans(data: bytes) -> tuple[NDArray[np.uint8], Ints, Ints] | None:
    """The bytes, and where each line begins and ends; None where lines are over-long or not plain UTF-8."""
    if b"\r" in data or not _is_utf8(data):
        return None
    codes = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(codes == _LINE_END)
    if codes[-1] != _LINE_END:
        ends = np.append(ends, len(codes))
    starts = np.concatenate(([0], ends[:-1] + 1))
    return None if np.max(ends - starts) > LONG else (codes, starts, ends)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
