"""An encoder whose vectors outlive a kill: what was encoded after the log was read need not be encoded again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ringtrue import cache
from ringtrue.retrieval.encoders import BLOCK, Encoder, Floats, usual_block


@dataclass(frozen=True, repr=False)
class Remembering:
    """Keeps the vectors of each call in a file of its own, by the texts."""

    encoder: Encoder
    folder: Path

    def __repr__(self) -> str:
        """As the encoder: its vectors are the same."""
        return repr(self.encoder)

    @property
    def dim(self) -> int:
        """How long a vector is."""
        return self.encoder.dim

    def encode(self, texts: Sequence[str]) -> Floats:
        """Read what an earlier process encoded, or encode it and write it."""
        place = self.folder / f"{cache.key(repr(self.encoder), list(texts))}.npy"
        if place.is_file():
            return np.asarray(np.load(place, allow_pickle=False), np.float32)
        vectors = self.encoder.encode(texts)
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = place.with_suffix(f".{os.getpid()}.tmp")
        with open(draft, "wb") as file:
            np.save(file, vectors, allow_pickle=False)
        draft.replace(place)
        return vectors


def remembering(encoder: Encoder, folder: Path) -> Encoder:
    """The encoder with a memory, but for one that takes more at a time: on a GPU this is done before it is written."""
    return encoder if usual_block(encoder) > BLOCK else Remembering(encoder, folder)
