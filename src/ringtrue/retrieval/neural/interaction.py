"""What the interaction models share: word vectors, pairs as two rectangles of rows, and fp32 throughout.

Words beyond `query_length` and `document_length` are cut off. Capreolus cuts queries at four words, which suits titles;
here they have 20, as in OpenNIR, since wordpieces are shorter than words and the queries of logs longer than titles.
The learning rate is Capreolus's 1e-3; its Adam has neither decay of weights nor warm-up, which come with the one loop
that trains all rankers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import Precision
from ringtrue.retrieval.neural.network import Batch, Network, PairRows, Prepared, hinge
from ringtrue.retrieval.neural.ragged import Ragged
from ringtrue.retrieval.neural.vocabulary import Vocabulary
from ringtrue.retrieval.neural.wordvectors import WordVectors, load_source

# isort: split
import torch
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True)
class InteractionModel(ABC):
    """`vectors` is `minilm` or a file of word vectors; `finetune` trains them too."""

    vectors: str = "minilm"
    finetune: bool = False
    query_length: int = 20
    document_length: int = 800

    name: ClassVar[str]
    learning_rate: ClassVar[float] = 1e-3
    least: ClassVar[dict[str, int]] = {}
    """The smallest value of each option that has one other than 1."""

    def fresh(self, texts: Sequence[str], seed: int) -> InteractionNetwork:
        """A network to be trained, with word vectors, and with statistics of the texts where it uses any."""
        self.check()
        source = load_source(self.vectors)
        with seeded(seed):
            network = self.build(source.vocabulary)
            network.vectors.fill(source.vectors)
        network.learn_statistics(texts)
        return network

    def empty(self, folder: Path) -> InteractionNetwork:
        """A network of the shape of the one in a folder."""
        self.check()
        with seeded(0):
            return self.build(Vocabulary.load(folder))

    def check(self) -> None:
        """Refuse sizes of which no network can be built."""
        for field in fields(self):
            value, least = getattr(self, field.name), self.least.get(field.name, 1)
            if type(value) is int and value < least:
                raise InputError(f"model {self.name!r}: {field.name} is {value}; it should be {least} or more.")

    @abstractmethod
    def build(self, vocabulary: Vocabulary) -> InteractionNetwork:
        """The network, with empty word vectors."""


class InteractionNetwork(Network):
    """A network over word vectors of query and document; what pads has row 0."""

    model: InteractionModel

    def __init__(self, model: InteractionModel, vocabulary: Vocabulary) -> None:
        """Make the table of word vectors."""
        super().__init__()
        self.model = model
        self.vocabulary = vocabulary
        self.vectors = WordVectors(vocabulary, learn=model.finetune)

    @abstractmethod
    def score(self, query: Tensor, document: Tensor) -> Tensor:
        """One score for each pair of rows of word numbers."""

    def learn_statistics(self, texts: Sequence[str]) -> None:
        """Take from the documents what the network has to know of them; most need nothing."""
        return

    def prepare(self, queries: Sequence[str], documents: Sequence[str]) -> Prepared:
        """Tokenise texts, and cut them."""
        encode = self.vocabulary.encode
        return Prepared(encode(queries, self.model.query_length), encode(documents, self.model.document_length))

    def lengths(self, prepared: Prepared, pairs: PairRows) -> NDArray[np.int64]:
        """The words of query and document together."""
        return prepared.queries.lengths[pairs[:, 0]] + prepared.documents.lengths[pairs[:, 1]]

    def collate(self, prepared: Prepared, pairs: PairRows) -> dict[str, Tensor]:
        """Two rectangles of word numbers, filled up with zeros."""
        return {
            "query": _rectangle(prepared.queries, pairs[:, 0]),
            "document": _rectangle(prepared.documents, pairs[:, 1]),
        }

    def forward(self, batch: Batch) -> Tensor:
        """One score a pair, in fp32 even where training uses mixed precision."""
        with torch.autocast(batch["query"].device.type, enabled=False):
            return self.score(batch["query"], batch["document"])

    def loss(self, batch: Batch) -> Tensor:
        """Pairwise hinge loss."""
        return hinge(self(batch))

    def write_files(self, folder: Path) -> None:
        """The tokenizer; the vectors are among the weights."""
        self.vocabulary.save(folder)

    def at(self, precision: Precision) -> Self:
        """The same network: it is small, and bf16 cannot tell an exact match from a similar word."""
        return self

    def cosines(self, query: Tensor, document: Tensor) -> Tensor:
        """The similarities of all words of a query with all of a document; zero where one of them pads."""
        words = functional.normalize(self.vectors(query), dim=2), functional.normalize(self.vectors(document), dim=2)
        return torch.bmm(words[0], words[1].transpose(1, 2))


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Let a seed decide the random numbers on the CPU, and leave torch's generator as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def _rectangle(texts: Ragged, numbers: NDArray[np.int64]) -> Tensor:
    """At least one column, of zeros where no text has a word."""
    width = max(int(texts.lengths[numbers].max(initial=0)), 1)
    return torch.from_numpy(texts.padded(numbers, width))
