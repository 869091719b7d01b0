"""Sorted strings on disk, read without loading them all: the document ids and the terms of an index.

One file holds the UTF-8 bytes one after the other, another where each begins. UTF-8 sorts as the text does, so
that a string's number ascends with it and looking one up is a binary search over mapped bytes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_CODEC = ("utf-8", "surrogatepass")  # ids read from broken files may hold lone surrogates


@dataclass(frozen=True, eq=False)
class StringTable:
    """Distinct strings by number, ascending."""

    data: memoryview
    starts: NDArray[np.int64]

    @classmethod
    def load(cls, folder: Path, name: str) -> StringTable:
        """Map what `save` wrote."""
        data, starts = (np.load(path, mmap_mode="r", allow_pickle=False) for path in _paths(folder, name))
        return cls(memoryview(data), np.asarray(starts))

    def __len__(self) -> int:
        """How many strings there are."""
        return len(self.starts) - 1

    def __getitem__(self, number: int) -> str:
        """The string with a number."""
        return str(self._bytes(number), *_CODEC)

    def texts(self, numbers: NDArray[np.integer]) -> list[str]:
        """The strings with some numbers; much faster than one by one."""
        starts, ends = self.starts[numbers].tolist(), self.starts[numbers + 1].tolist()
        return [str(self.data[start:end], *_CODEC) for start, end in zip(starts, ends, strict=True)]

    def find(self, text: str) -> int | None:
        """The number of a string, or None where it is not there."""
        wanted = text.encode(*_CODEC)
        number = bisect_left(range(len(self)), wanted, key=self._bytes)
        return number if number < len(self) and self._bytes(number) == wanted else None

    def _bytes(self, number: int) -> bytes:
        return bytes(self.data[self.starts[number] : self.starts[number + 1]])


def save(strings: Sequence[str], folder: Path, name: str) -> None:
    """Write strings that ascend; nothing is pickled."""
    coded = [text.encode(*_CODEC) for text in strings]
    starts = np.zeros(len(coded) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in coded], out=starts[1:])
    data_path, starts_path = _paths(folder, name)
    np.save(data_path, np.frombuffer(b"".join(coded), np.uint8), allow_pickle=False)
    np.save(starts_path, starts, allow_pickle=False)


def _paths(folder: Path, name: str) -> tuple[Path, Path]:
    return folder / f"{name}-bytes.npy", folder / f"{name}-starts.npy"
