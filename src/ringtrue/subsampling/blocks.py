"""Files of documents in blocks of whole records, as a search wants them.

What is not compressed is read from any byte on. What is compressed is inflated by a second thread while the first one
searches: zlib, bz2, lzma and Zstandard leave Python's lock alone meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ringtrue.data.formats.streams import read_blocks

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
    for block in _ahead(read_blocks(path)):
        if len(block) > at:
            yield block[at:]
        at = max(at - len(block), 0)


def _ahead(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The same blocks, the next of which is made while one is looked at."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, blocks, b"")
        while block := coming.result():
            coming = pool.submit(next, blocks, b"")
            yield block
