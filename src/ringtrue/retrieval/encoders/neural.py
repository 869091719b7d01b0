"""What the encoders with a neural model share: precision, device, and the engine that does the work.

BERT-shaped models go through our own forward pass, all others through sentence-transformers (Reimers and Gurevych,
EMNLP 2019). Loaded models are kept for the process.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Literal, Protocol, Self

import torch

from ringtrue import cache
from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import Floats, Precision, Unread, Vectors
from ringtrue.retrieval.encoders.checkpoint import read_checkpoint
from ringtrue.retrieval.encoders.cpu import CpuEngine
from ringtrue.retrieval.encoders.naming import Named
from ringtrue.retrieval.encoders.tokens import Tokeniser

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
_LONGEST = 512
_CPU_FLAGS = {"avx512_bf16", "amx_bf16", "bf16"}

Device = Literal["auto", "cpu", "cuda"]


class Engine(Protocol):
    """A loaded model on its device."""

    dim: int
    block: int

    def encode(self, texts: Sequence[str]) -> Floats:
        """The vectors of some texts."""

    def stream(self, blocks: Iterable[Sequence[str]]) -> Iterator[Vectors]:
        """The vectors of each block in turn."""


class Neural(Named, ABC):
    """An encoder with a model in a folder; `budget` is the number of tokens in a batch."""

    precision: Precision
    device: Device
    budget: int | None

    @abstractmethod
    def folder(self) -> Path:
        """Where the model is; raises an error that says what to do where it is not there."""

    def content(self) -> str:
        """A key for the files of the model."""
        return cache.content_key(sorted(path for path in self.folder().rglob("*") if path.is_file()))

    @property
    def dim(self) -> int:
        """How long a vector is; loads the model."""
        return self._engine().dim

    @property
    def block(self) -> int:
        """How many texts at a time it is fastest with; loads the model."""
        return self._engine().block

    def encode(self, texts: Sequence[str]) -> Floats:
        """Texts longer than the model takes are cut at the end."""
        return self._engine().encode(texts)

    def stream(self, blocks: Iterable[Sequence[str]]) -> Iterator[Vectors]:
        """The vectors of each block in turn; on a GPU they stay there."""
        return self._engine().stream(blocks)

    def unread(self, text: str) -> Unread:
        """What its vocabulary does not have; nothing where the folder has none that can be asked."""
        tokeniser = _tokeniser(self.folder())
        return tokeniser.unread(text) if tokeniser else Unread((), 0)

    def at(self, precision: Precision) -> Self:
        """The same model in another precision."""
        return replace(self, precision=precision)  # type: ignore[type-var]

    def bf16_is_fast(self) -> bool:
        """Whether the device has instructions for bf16."""
        return place(self.device) == "cuda" or not _CPU_FLAGS.isdisjoint(_cpu_flags())

    def _engine(self) -> Engine:
        return _load(self.folder(), self.precision, place(self.device), self.budget)


def place(device: Device) -> str:
    """Where to compute: the GPU if there is one, unless told otherwise."""
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("device=cuda was asked for, but torch sees no GPU here; leave it out or say device=cpu.")
    return ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device


@lru_cache(maxsize=4)
def _load(folder: Path, precision: Precision, device: str, budget: int | None) -> Engine:
    checkpoint = read_checkpoint(folder)
    dtype = DTYPES[precision]
    if checkpoint is None:
        from ringtrue.retrieval.encoders.foreign import ForeignEngine  # a heavy import that few models need

        return ForeignEngine(folder, dtype, device)
    if device == "cuda":
        from ringtrue.retrieval.encoders.cuda import CudaEngine

        return CudaEngine(checkpoint, dtype, budget)
    return CpuEngine(checkpoint, dtype, budget)


@lru_cache(maxsize=4)
def _tokeniser(folder: Path) -> Tokeniser | None:
    path, checkpoint = folder / "tokenizer.json", read_checkpoint(folder)
    return Tokeniser(path, checkpoint.max_length if checkpoint else _LONGEST) if path.is_file() else None


@lru_cache(maxsize=1)
def _cpu_flags() -> frozenset[str]:
    """What Linux says that the processor can do; nothing elsewhere."""
    listing = Path("/proc/cpuinfo")
    lines = listing.read_text(errors="replace").splitlines() if listing.is_file() else []
    words = (line.partition(":")[2].split() for line in lines if line.lower().startswith(("flags", "features")))
    return frozenset(next(words, []))
