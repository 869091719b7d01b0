"""Ways to turn texts into vectors, by name.

An encoder is a frozen dataclass that does no work until it is used: it loads its model on the first call and keeps it
for the process. To add one: a file here, a line in the table.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

from ringtrue import cache
from ringtrue.registry import Registry

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

# Read when torch is loaded, and every module here that loads torch comes after this one: threads that spin while they
# wait make torch a hundred times slower where other programs want the same cores.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

Floats: TypeAlias = "NDArray[np.float32]"
Vectors: TypeAlias = "NDArray[np.float32] | torch.Tensor"
Precision = Literal["fp32", "bf16"]

BLOCK = 8192
"""How many texts to hand over at a time where the encoder does not mind."""


class Encoder(Protocol):
    """Anything that turns texts into vectors; its `repr` names it in reports, cache keys and provenance."""

    @property
    def dim(self) -> int:
        """How long a vector is."""

    def encode(self, texts: Sequence[str]) -> Floats:
        """One row a text, of length one; a row of zeros for a text in which the encoder knows nothing."""


@runtime_checkable
class Streaming(Protocol):
    """An encoder that works ahead, so that reading, copying and computing overlap."""

    @property
    def block(self) -> int:
        """How many texts at a time it is fastest with."""

    def stream(self, blocks: Iterable[Sequence[str]]) -> Iterator[Vectors]:
        """The vectors of each block in turn; those of a GPU stay there."""


@runtime_checkable
class Screening(Protocol):
    """An encoder that can be had in a lower precision, to find what is worth encoding in full."""

    @property
    def precision(self) -> Precision:
        """What it computes in."""

    def at(self, precision: Precision) -> Encoder:
        """The same encoder in another precision."""

    def bf16_is_fast(self) -> bool:
        """Whether the machine has instructions for bf16; without them it is slower than fp32."""


@runtime_checkable
class Modelled(Protocol):
    """An encoder with a model in files, which may change under the same name."""

    def content(self) -> str:
        """A key for the content of these files."""


class Unread(NamedTuple):
    """The parts of a text that stand for words which a vocabulary does not have, and how many tokens there are."""

    parts: tuple[str, ...]
    tokens: int

    @property
    def share(self) -> float:
        """How much of the text is unknown."""
        return len(self.parts) / self.tokens if self.tokens else 0.0


@runtime_checkable
class Vocabulary(Protocol):
    """An encoder to which all words that it does not know are one and the same."""

    def unread(self, text: str) -> Unread:
        """What it does not know of a text."""


def key_of(encoder: Encoder) -> str:
    """A key for all that an encoder's vectors depend on: its name may come to mean another model."""
    return cache.key(repr(encoder), encoder.content() if isinstance(encoder, Modelled) else "")


def usual_block(encoder: Encoder) -> int:
    """How many texts to hand over at a time."""
    return encoder.block if isinstance(encoder, Streaming) else BLOCK


def stream(encoder: Encoder, blocks: Iterable[Sequence[str]]) -> Iterator[Vectors]:
    """The vectors of each block in turn, worked ahead where the encoder can."""
    return encoder.stream(blocks) if isinstance(encoder, Streaming) else map(encoder.encode, blocks)


ENCODERS: Registry[Encoder] = Registry(
    "encoder",
    {
        "hashing": "ringtrue.retrieval.encoders.hashing:Hashing",
        "minilm": "ringtrue.retrieval.encoders.minilm:MiniLM",
        "sbert": "ringtrue.retrieval.encoders.sbert:SBert",
        "static": "ringtrue.retrieval.encoders.static:Static",
    },
    extras={"minilm": "neural", "sbert": "neural", "static": "neural"},
)
