"""Vectors of a training log kept on disk in half precision, keyed by the log's content and the encoder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ringtrue import cache
from ringtrue.retrieval.encoders import Encoder

_DONE = "complete"


@dataclass(frozen=True)
class KeptVectors:
    """A file that grows block by block; it counts only once it is marked as complete."""

    folder: Path
    dim: int

    @classmethod
    def of(cls, log_key: str, encoder: Encoder) -> KeptVectors:
        """The vectors of a log by an encoder, there or not."""
        return cls(cache.folder() / "embeddings" / cache.key(log_key, repr(encoder)), encoder.dim)

    @property
    def _file(self) -> Path:
        return self.folder / "vectors.f16"

    @property
    def is_complete(self) -> bool:
        """Whether all vectors of the log are there."""
        return (self.folder / _DONE).is_file()

    def restart(self, rows: int) -> None:
        """Keep the first rows and drop what a killed search may have written after them."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self._file, "ab") as file:
            file.truncate(rows * self.dim * 2)

    def append(self, vectors: NDArray[np.float32]) -> None:
        """Add the vectors of one block."""
        with open(self._file, "ab") as file:
            file.write(vectors.astype(np.float16).tobytes())

    def complete(self) -> None:
        """Mark the file as whole."""
        (self.folder / _DONE).touch()

    def rows(self, start: int, stop: int) -> NDArray[np.float32]:
        """The vectors of some queries."""
        count = (stop - start) * self.dim
        part = np.fromfile(self._file, dtype=np.float16, count=count, offset=start * self.dim * 2)
        return part.reshape(-1, self.dim).astype(np.float32)
