"""ConvKNRM: KNRM over n-grams, where those of a query also meet n-grams of other lengths in a document.

Dai, Xiong, Callan and Liu, Convolutional Neural Networks for Soft-Matching N-Grams in Ad-hoc Search, WSDM 2018. Sizes
and defaults are those of Capreolus, with which kernels are trained, word vectors are not, and no tanh follows; the
rectifier behind the convolution is the paper's, and is in neither Capreolus nor OpenNIR (`relu=false`). An n-gram
begins at every word of a text, with zeros beyond its end. The loss is the paper's pairwise hinge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from ringtrue.retrieval.neural.interaction import InteractionModel, InteractionNetwork
from ringtrue.retrieval.neural.kernels import KernelPooling, KernelScore
from ringtrue.retrieval.neural.ngrams import NGrams
from ringtrue.retrieval.neural.vocabulary import Vocabulary
from ringtrue.retrieval.rankers.reranker import Reranker


@dataclass(frozen=True)
class ConvKNRMModel(InteractionModel):
    """`longest` is that of the n-grams; without `crossmatch` only n-grams of the same length meet."""

    longest: int = 3
    filters: int = 128
    crossmatch: bool = True
    relu: bool = True
    kernels: int = 11
    train_kernels: bool = True
    hidden: int = 0
    tanh: bool = False

    name: ClassVar[str] = "convknrm"
    least: ClassVar[dict[str, int]] = {"kernels": 2, "hidden": 0}

    def build(self, vocabulary: Vocabulary) -> ConvKNRMNetwork:
        """The network, with empty word vectors."""
        return ConvKNRMNetwork(self, vocabulary)


class ConvKNRMNetwork(InteractionNetwork):
    """Kernels over the similarities of n-grams; one length in a query with one in a document is a view of a pair."""

    name: ClassVar[str] = "convknrm"
    model: ConvKNRMModel

    def __init__(self, model: ConvKNRMModel, vocabulary: Vocabulary) -> None:
        """Make the layers."""
        super().__init__(model, vocabulary)
        sizes = range(1, model.longest + 1)
        self.ngrams = nn.ModuleList(NGrams(vocabulary.dim, model.filters, size) for size in sizes)
        self.pooling = KernelPooling(model.kernels, learn=model.train_kernels)
        views = model.longest ** (2 if model.crossmatch else 1)
        self.combine = KernelScore(views * model.kernels, model.hidden, tanh=model.tanh)

    def score(self, query: Tensor, document: Tensor) -> Tensor:
        """One score a pair."""
        similarities = self._similarities(self._represent(query), self._represent(document))
        scores: Tensor = self.combine(self.pooling(similarities, query > 0, document > 0))
        return scores

    def _represent(self, rows: Tensor) -> Tensor:
        """Vectors of length one, as (pairs, lengths of n-grams, words, filters)."""
        words = self.vectors(rows)
        found = torch.stack([convolve(words) for convolve in self.ngrams], 1)
        return functional.normalize(found.relu() if self.model.relu else found, dim=3)

    def _similarities(self, query: Tensor, document: Tensor) -> Tensor:
        """As (pairs, views, words of the query, words of the document)."""
        if not self.model.crossmatch:
            return query @ document.transpose(2, 3)
        pairs, lengths, words, _ = query.shape
        joined = torch.bmm(query.flatten(1, 2), document.flatten(1, 2).transpose(1, 2))
        return joined.view(pairs, lengths, words, lengths, -1).transpose(2, 3).flatten(1, 2)


@dataclass(frozen=True, repr=False)
class ConvKNRM(Reranker):
    """Kernel pooling over similarities of n-grams, after a first stage: `bm25 % 100 >> convknrm:checkpoint=FOLDER`."""

    name: ClassVar[str] = "convknrm"
    family: ClassVar[str] = "interaction"
