"""The seam of all trainable rankers: a network prepares texts, scores pairs of them and knows its loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.retrieval.encoders import Precision  # before torch, for which it sets how threads wait
from ringtrue.retrieval.neural.ragged import Ragged

# isort: split
import torch
from torch import Tensor, nn

Batch: TypeAlias = Mapping[str, Tensor]
PairRows: TypeAlias = "NDArray[np.int64]"
"""One row a pair: the number of its query and the number of its document."""


class Prepared(NamedTuple):
    """Queries and documents as tokens, each text once, whatever pairs are made of them."""

    queries: Ragged
    documents: Ragged


class Model(Protocol):
    """The configuration of a network: a frozen dataclass, which `MODELS` builds from text such as `knrm:kernels=11`."""

    def fresh(self, texts: Sequence[str], seed: int) -> Network:
        """A network to be trained; `texts` are the documents from which statistics such as idf may be taken."""

    def empty(self, folder: Path) -> Network:
        """A network of the right shape whose weights are about to be read; `folder` has what `write_files` wrote."""


class Network(nn.Module, ABC):
    """A trainable ranker.

    The interface is the same for all: `prepare` tokenises, `lengths` says how much work a pair is, `collate` makes a
    batch of some pairs, `forward` gives one number a pair, and `loss` takes a batch in which the rows of relevant and
    non-relevant documents of a query alternate.
    """

    name: ClassVar[str]
    """Its name in `MODELS` and in the catalog of rankers."""

    inner: ClassVar[str] = ""
    """The part that has all weights, where checkpoints are to carry its names, so that other libraries load them."""

    model: Model
    """The configuration that it was built from."""

    notes: tuple[str, ...] = ()
    """What its training has to say beforehand, such as which weights its backbone lacked."""

    @abstractmethod
    def prepare(self, queries: Sequence[str], documents: Sequence[str]) -> Prepared:
        """Tokenise texts, and cut them where the network does."""

    @abstractmethod
    def lengths(self, prepared: Prepared, pairs: PairRows) -> NDArray[np.int64]:
        """How many tokens a row of a batch has for each pair; pairs of similar length go into one batch."""

    @abstractmethod
    def collate(self, prepared: Prepared, pairs: PairRows) -> dict[str, Tensor]:
        """The tensors of a batch, on the CPU; padded no further than the batch needs."""

    @abstractmethod
    def forward(self, batch: Batch) -> Tensor:
        """One raw score a pair, in fp32; the higher, the more relevant."""

    @abstractmethod
    def loss(self, batch: Batch) -> Tensor:
        """The mean loss of a batch whose rows alternate between relevant and non-relevant."""

    @abstractmethod
    def write_files(self, folder: Path) -> None:
        """Write what is needed beside weights and configuration, such as a tokeniser."""

    def report(self, scores: Tensor) -> Tensor:
        """Raw scores as they are reported; must keep their order."""
        return scores

    def at(self, precision: Precision) -> Self:
        """The network for scoring in a precision; one that would lose by bf16 stays as it is."""
        self.to(torch.bfloat16 if precision == "bf16" else torch.float32)
        return self

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return next(self.parameters()).device


def hinge(scores: Tensor) -> Tensor:
    """Pairwise hinge loss with margin one over alternating rows."""
    relevant, other = scores.view(-1, 2).unbind(1)
    return (1 - relevant + other).clamp(min=0).mean()


def pointwise(scores: Tensor) -> Tensor:
    """Cross-entropy over two classes, where a score is the difference of their logits, over alternating rows."""
    relevant, other = scores.view(-1, 2).unbind(1)
    return (nn.functional.softplus(-relevant) + nn.functional.softplus(other)).mean() / 2


def softmax_pairs(scores: Tensor) -> Tensor:
    """Cross-entropy of choosing the relevant document of each two, over alternating rows."""
    relevant, other = scores.view(-1, 2).unbind(1)
    return nn.functional.softplus(other - relevant).mean()
