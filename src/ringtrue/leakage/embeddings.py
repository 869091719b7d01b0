"""Vectors of a training log kept on disk in half precision, keyed by the log's content and the encoder's.

Each row is written where it belongs, and none before those above it are there. Searches that were killed, come one
after the other or run at the same time may therefore write the same file: a row is the same whoever writes it.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ringtrue import cache
from ringtrue.retrieval.encoders import Encoder, key_of

_DONE = "complete"


@dataclass(frozen=True)
class KeptVectors:
    """A file that grows block by block; it counts only once it is marked as complete."""

    folder: Path
    dim: int

    @classmethod
    def of(cls, log_key: str, encoder: Encoder) -> KeptVectors:
        """The vectors of a log by an encoder, there or not."""
        return cls(cache.folder() / "embeddings" / cache.key(log_key, key_of(encoder)), encoder.dim)

    @property
    def _file(self) -> Path:
        return self.folder / "vectors.f16"

    @property
    def _row(self) -> int:
        """The bytes of a row."""
        return 2 * self.dim

    @property
    def written(self) -> int:
        """How many rows are there, from the first on."""
        return self._file.stat().st_size // self._row if self._file.is_file() else 0

    @property
    def is_complete(self) -> bool:
        """Whether all vectors of the log are there."""
        mark = self.folder / _DONE
        return mark.is_file() and self._holds(mark.read_text(encoding="ascii"))

    def write(self, start: int, vectors: NDArray[np.float32]) -> None:
        """Put in the rows of one block; those before it are there."""
        assert start <= self.written, "a gap would be read as zeros"
        self.folder.mkdir(parents=True, exist_ok=True)
        self._file.touch()
        with open(self._file, "r+b") as file:
            file.seek(start * self._row)
            file.write(vectors.astype(np.float16).tobytes())

    def complete(self, rows: int) -> None:
        """Mark the file as whole, if it has so many rows and no more."""
        if self._holds(str(rows)):
            (self.folder / _DONE).write_text(str(rows), encoding="ascii")

    def drop(self) -> None:
        """Forget all vectors."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def rows(self, start: int, stop: int) -> NDArray[np.float32]:
        """The vectors of some queries."""
        part = np.fromfile(self._file, dtype=np.float16, count=(stop - start) * self.dim, offset=start * self._row)
        return part.reshape(-1, self.dim).astype(np.float32)

    def _holds(self, rows: str) -> bool:
        return self._file.is_file() and str(self._file.stat().st_size) == str(int(rows or 0) * self._row)
