"""Logs of bare lines by the piece: a look at all bytes at once tells whether a piece is as it should be.

A piece with any line that needs a second look is read line by line, with the same entries, counts and errors as
everywhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ringtrue.data.cells import LogBlock
from ringtrue.data.formats.columns import plain_lines, tab_separated
from ringtrue.data.formats.streams import decode, read_pieces, split_lines
from ringtrue.data.formats.tables import Shape
from ringtrue.data.formats.tabular import bare_entries
from ringtrue.data.notes import Notes


def read_log_pieces(path: str | Path, shape: Shape, notes: Notes) -> Iterator[LogBlock]:
    """The log of TSV without a header or of plain lines, some thousand lines at a time."""
    for number, data in read_pieces(path):
        block = tab_separated(data) if shape is Shape.TSV else plain_lines(data, number)
        if block is None:
            lines = enumerate(split_lines(decode(data, path, number, notes)), number)
            block = LogBlock.of(list(bare_entries(lines, path, shape, notes)))
        yield block
