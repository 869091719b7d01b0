"""Files of word vectors: word2vec's text and binary formats, and GloVe's text, which has no header; compressed or not.

Left out: fastText's sub-words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ringtrue.data.formats.streams import read_blocks
from ringtrue.errors import FormatError

_HEADER = re.compile(rb"\s*(\d+)\s+(\d+)\s*")

Floats = NDArray[np.float32]


def read_vectors(path: Path) -> Iterator[tuple[str, Floats]]:
    """Words with their vectors, in the order of the file; a word may come twice."""
    blocks = read_blocks(path)
    head = next(blocks)
    first, newline, rest = head.partition(b"\n")
    header = _HEADER.fullmatch(first)
    if not newline and header:
        raise FormatError("a header but no vectors.", path)
    if not header:
        return _text_rows(_lines(head, blocks), None, path, 1)
    size = int(header[2])
    if _is_text(rest, size):
        return _text_rows(_lines(rest, blocks), size, path, 2)
    return _binary_rows(rest, blocks, int(header[1]), size, path)


def _is_text(data: bytes, size: int) -> bool:
    """Whether the line behind the header is a word with numbers; binary data hardly ever is."""
    cells = data.partition(b"\n")[0].split()
    if len(cells) < size + 1:
        return False
    try:
        np.array(cells[-size:], dtype=np.float32)
    except ValueError:
        return False
    return True


def _lines(head: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Whole lines from blocks."""
    rest = head
    for block in blocks:
        *lines, rest = (rest + block).split(b"\n")
        yield from lines
    *lines, rest = rest.split(b"\n")
    yield from lines
    if rest:
        yield rest


def _text_rows(lines: Iterator[bytes], size: int | None, path: Path, first: int) -> Iterator[tuple[str, Floats]]:
    """A word and its numbers a line; the word may have blanks in it."""
    for number, line in enumerate(lines, first):
        cells = line.rstrip().split(b" ") if size is None else line.rstrip().rsplit(b" ", size)
        if not line.strip():
            continue
        size = size or len(cells) - 1
        try:
            vector = np.array(cells[-size:], dtype=np.float32)
        except ValueError as error:
            raise FormatError(f"not a word with {size} numbers: {line[:40]!r}.", path, number) from error
        if len(cells) != size + 1 or not np.isfinite(vector).all():
            raise FormatError(f"{len(cells) - 1} finite numbers where {size} are expected.", path, number)
        yield cells[0].decode("utf-8", "replace"), vector


def _binary_rows(
    head: bytes, blocks: Iterator[bytes], count: int, size: int, path: Path
) -> Iterator[tuple[str, Floats]]:
    """word2vec's binary format: a word, a blank, the numbers' bytes; some writers end each with a line end."""
    data, place, width = head, 0, 4 * size
    for number in range(1, count + 1):
        end = data.find(b" ", place)
        while end < 0 or len(data) < end + 1 + width:
            block = next(blocks, b"")
            if not block:
                raise FormatError(f"the file ends at word {number} of {count}.", path)
            data, place = data[place:] + block, 0
            end = data.find(b" ", place)
        word = data[place:end].lstrip(b"\n").decode("utf-8", "replace")
        yield word, np.frombuffer(data, "<f4", size, end + 1)
        place = end + 1 + width
