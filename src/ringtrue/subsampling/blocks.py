"""Files of documents in blocks of whole records, as a search wants them.

What is not compressed is read from any byte on. What is compressed is inflated by a second thread while the first one
searches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from ringtrue.data.formats.streams import read_blocks, read_blocks_ahead

_BLOCK = 1 << 18  # lines of larger blocks do not stay in the processor's cache


def record_blocks(path: Path, at: int, last_end: Callable[[bytes], int]) -> Iterator[tuple[bytes, bool]]:
    """Blocks from a byte on, each up to where its last record ends; `last_end` finds that, 0 where none ends.

    The second value is False for what is left when the file ends.
    """
    rest: list[bytes] = []
    for block in _blocks(path, at):
        cut = last_end(block)
        if cut:
            yield b"".join((*rest, memoryview(block)[:cut])), True
            rest = []
        rest.append(block[cut:])
    if last := b"".join(rest):
        yield last, False


def content_before(path: Path, at: int) -> Iterator[bytes]:
    """The blocks up to a byte."""
    for block in _blocks(path, 0):
        if at <= 0:
            return
        yield block[:at]
        at -= len(block)


def _blocks(path: Path, at: int) -> Iterator[bytes]:
    """The decompressed content from a byte on; what is not compressed is not read up to there."""
    first = next(read_blocks(path))
    with open(path, "rb") as file:
        if file.read(len(first)) == first:
            file.seek(at)
            yield from iter(lambda: file.read(_BLOCK), b"")
            return
    for block in read_blocks_ahead(path):
        if len(block) > at:
            yield block[at:]
        at = max(at - len(block), 0)
