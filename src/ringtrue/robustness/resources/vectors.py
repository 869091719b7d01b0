"""Word vectors from files, and the nearest words of a word.

Files are read once and kept as arrays in the cache. Nearest words are computed when they are asked for, for all words
of a call at once, block by block. Left out: approximate search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtrue import cache
from ringtrue.data.formats.streams import check_file
from ringtrue.data.formats.vectors import read_vectors
from ringtrue.errors import FormatError
from ringtrue.retrieval import strings

_FORMAT = 1
_BLOCK = 1 << 15  # rows that are read, or compared, at once
_WORDS = 256  # with so many words
_SLACK = 1e-4  # what the fast product may be off by, at most

Floats = NDArray[np.float32]


class Neighbour(NamedTuple):
    """A near word and the cosine of the two vectors."""

    word: str
    similarity: float


@dataclass(frozen=True, eq=False)
class Vectors:
    """Rows of length 1 with their words; a word's number ascends with it."""

    words: strings.StringTable
    rows: Floats

    def neighbours(self, wanted: Iterable[str], most: int, least: float) -> dict[str, tuple[Neighbour, ...]]:
        """The nearest words, at most `most` with a cosine of `least` or more; words without a vector are left out.

        What a word's neighbours are does not depend on the words beside it.
        """
        numbers = {word: number for word in wanted if (number := self.words.find(word)) is not None}
        close = self._close(np.fromiter(numbers.values(), np.int64, len(numbers)), most, least - _SLACK)
        return {
            word: self._exact(number, found, most, least)
            for (word, number), found in zip(numbers.items(), close, strict=True)
        }

    def _close(self, numbers: NDArray[np.int64], most: int, least: float) -> Iterator[NDArray[np.int64]]:
        """For each word some numbers among which its nearest are, by a fast product that is not exact."""
        for first in range(0, len(numbers), _WORDS):
            queries = np.ascontiguousarray(self.rows[numbers[first : first + _WORDS]])
            found: list[list[NDArray[np.int64]]] = [[] for _ in queries]
            for start in range(0, len(self.words), _BLOCK):
                for place, cosines in enumerate(queries @ self.rows[start : start + _BLOCK].T):
                    best = np.flatnonzero(cosines >= least)
                    found[place].append(start + best[cosines[best] >= _bar(cosines[best], most + 1) - _SLACK])
            yield from (np.concatenate(parts) for parts in found)

    def _exact(self, number: int, close: NDArray[np.int64], most: int, least: float) -> tuple[Neighbour, ...]:
        """The nearest of some words by a product that is the same whatever stands beside it; ties by word."""
        own = self.rows[number].astype(np.float64)
        cosines = np.round((self.rows[close].astype(np.float64) * own).sum(axis=1), 6)
        order = np.lexsort((close, -cosines))
        kept = [place for place in order if close[place] != number and cosines[place] >= least][:most]
        return tuple(Neighbour(self.words[int(close[place])], float(cosines[place])) for place in kept)


def load(path: str | Path) -> Vectors:
    """The vectors of a file, kept as long as it does not change; the first time takes a minute for each gigabyte."""
    file = check_file(path)
    facts = file.stat()
    return _load(file.resolve(), facts.st_size, facts.st_mtime_ns, cache.folder())


@lru_cache(maxsize=2)
def _load(file: Path, size: int, changed: int, cached: Path) -> Vectors:
    key = cache.key(_FORMAT, str(file), size, changed)
    folder = cache.entry("vectors", key, partial(_build, file))
    rows = np.load(folder / "rows.npy", mmap_mode="r", allow_pickle=False)
    return Vectors(strings.StringTable.load(folder, "words"), np.asarray(rows))


def _bar(row: Floats, most: int) -> float:
    """The value that only `most` cosines reach."""
    return float(np.partition(row, -most)[-most]) if len(row) > most else -1.0


def _build(path: Path, folder: Path) -> None:
    """Read a file and keep it sorted by word; of a word that comes twice, the first counts."""
    places: dict[str, int] = {}
    blocks: list[Floats] = []
    for place, (word, vector) in enumerate(read_vectors(path)):
        if place % _BLOCK == 0:
            blocks.append(np.empty((_BLOCK, len(vector)), np.float32))
        blocks[-1][place % _BLOCK] = vector
        places.setdefault(word, place)
    if not places:
        raise FormatError("no word vectors in this file.", path)
    names = sorted(places, key=lambda word: word.encode("utf-8", "surrogatepass"))
    rows = np.lib.format.open_memmap(
        folder / "rows.npy", mode="w+", dtype=np.float32, shape=(len(names), blocks[0].shape[1])
    )
    for number, word in enumerate(names):
        vector = blocks[places[word] // _BLOCK][places[word] % _BLOCK]
        rows[number] = vector / max(float(np.linalg.norm(vector)), 1e-12)
    rows.flush()
    strings.save(names, folder, "words")
