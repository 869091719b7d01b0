"""Duet: one network over exact matches and one over word vectors, whose scores are added.

Mitra, Diaz and Craswell, Learning to Match Using Local and Distributed Representations of Text for Web Search, WWW
2017. What is built is Capreolus' Duet with its defaults, which is this paper's network with three things of the
authors' second version (Mitra and Craswell, An Updated Duet Model for Passage Re-ranking, 2019): word vectors instead
of letter trigrams, exact matches weighted by how rare the word is, and rectifiers instead of tanh. It also is smaller
than both: ten filters instead of 300, and over the places of a document one weight each instead of a dense layer.
OpenNIR has the local half only.

Unlike in Capreolus, padding counts for nothing: it matches nothing, and windows begin at words only; and a query is
pooled over all its windows whatever its length. The loss is the paper's cross-entropy of choosing the relevant
document, of two instead of five; Capreolus' default is the hinge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ringtrue.errors import InputError
from ringtrue.retrieval.neural.interaction import InteractionModel, InteractionNetwork
from ringtrue.retrieval.neural.network import Batch, softmax_pairs
from ringtrue.retrieval.neural.ngrams import NGrams
from ringtrue.retrieval.neural.vocabulary import Vocabulary, document_weights
from ringtrue.retrieval.rankers.reranker import Reranker

# isort: split
import torch
from torch import Tensor, nn
from torch.nn import functional

_WINDOW = 3  # words of a convolution
_ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh}


@dataclass(frozen=True)
class DuetModel(InteractionModel):
    """`hidden` units of the local network; `pooling` is how many windows of a document are pooled into one."""

    filters: int = 10
    hidden: int = 30
    pooling: int = 100
    idf: bool = True
    dropout: float = 0.5
    activation: Literal["relu", "tanh"] = "relu"

    name: ClassVar[str] = "duet"

    def check(self) -> None:
        """Refuse sizes of which no network can be built."""
        super().check()
        if not 0 <= self.dropout < 1:
            raise InputError(f"model 'duet': dropout is {self.dropout}; it should be 0 or more, and below 1.")

    def build(self, vocabulary: Vocabulary) -> DuetNetwork:
        """The network, with empty word vectors."""
        return DuetNetwork(self, vocabulary)


class DuetNetwork(InteractionNetwork):
    """The sum of a local and a distributed network."""

    name: ClassVar[str] = "duet"
    model: DuetModel
    weights: Tensor

    def __init__(self, model: DuetModel, vocabulary: Vocabulary) -> None:
        """Make both networks."""
        super().__init__(model, vocabulary)
        self.local = LocalNetwork(model)
        self.distributed = DistributedNetwork(model, vocabulary.dim)
        self.register_buffer("weights", torch.zeros(vocabulary.rows if model.idf else 0))

    def learn_statistics(self, texts: Sequence[str]) -> None:
        """Count in how many documents each word is."""
        if self.model.idf:
            self.weights.copy_(torch.from_numpy(document_weights(self.vocabulary, texts)))

    def score(self, query: Tensor, document: Tensor) -> Tensor:
        """One score a pair."""
        matches = ((query.unsqueeze(2) == document.unsqueeze(1)) & (query > 0).unsqueeze(2)).float()
        if self.model.idf:
            matches = matches * functional.embedding(query, self.weights.unsqueeze(1))
        local: Tensor = self.local(matches, query > 0)
        distributed: Tensor = self.distributed(self.vectors(query), self.vectors(document), query > 0, document > 0)
        return local + distributed

    def loss(self, batch: Batch) -> Tensor:
        """Cross-entropy of choosing the relevant document."""
        return softmax_pairs(self(batch))


class LocalNetwork(nn.Module):
    """Which words match where: each filter has one weight for every place in a document."""

    def __init__(self, model: DuetModel) -> None:
        """Make the layers."""
        super().__init__()
        self.query_length = model.query_length
        self.activation = _ACTIVATIONS[model.activation]()
        self.places = nn.Linear(model.document_length, model.filters)
        self.combine = nn.Sequential(
            nn.Linear(model.query_length * model.filters, model.hidden),
            self.activation,
            nn.Dropout(model.dropout),
            nn.Linear(model.hidden, 1),
        )

    def forward(self, matches: Tensor, query: Tensor) -> Tensor:
        """From (pairs, query, document) to one score a pair."""
        found = functional.linear(matches, self.places.weight[:, : matches.shape[2]], self.places.bias)
        found = self.activation(found) * query.unsqueeze(2)
        found = functional.pad(found, (0, 0, 0, self.query_length - matches.shape[1]))
        scores: Tensor = self.combine(found.flatten(1)).squeeze(1)
        return scores


class DistributedNetwork(nn.Module):
    """What query and document are about: windows of words, pooled, and multiplied place by place."""

    def __init__(self, model: DuetModel, dim: int) -> None:
        """Make the layers; no window reaches beyond the last word that is kept, if the texts may be that long."""
        super().__init__()
        self.pooling = model.pooling
        self.query_windows = max(model.query_length - _WINDOW + 1, 1)
        self.document_windows = max(model.document_length - _WINDOW + 1, 1)
        self.activation = _ACTIVATIONS[model.activation]()
        self.dropout = nn.Dropout(model.dropout)
        self.query_words = NGrams(dim, model.filters, _WINDOW)
        self.query_dense = nn.Linear(model.filters, model.filters)
        self.document_words = NGrams(dim, model.filters, _WINDOW)
        self.document_dense = nn.Linear(model.filters, model.filters)
        self.places = nn.Linear(max(self.document_windows - model.pooling + 1, 1), 1)
        self.combine = nn.Linear(model.filters, 1)

    def forward(self, query: Tensor, document: Tensor, query_mask: Tensor, document_mask: Tensor) -> Tensor:
        """From word vectors to one score a pair."""
        subject = self._query(query, query_mask)
        found = self._document(document, document_mask) * subject.unsqueeze(1)
        weights = self.places.weight[:, : found.shape[1]]
        found = self.activation(functional.linear(found.transpose(1, 2), weights, self.places.bias)).squeeze(2)
        scores: Tensor = self.combine(self.dropout(found)).squeeze(1)
        return scores

    def _query(self, words: Tensor, mask: Tensor) -> Tensor:
        """One vector a query: the largest of all windows."""
        found = self._windows(self.query_words, words, mask, self.query_windows)
        pooled: Tensor = self.query_dense(found.amax(1).masked_fill(~mask[:, :1], 0.0))
        return pooled

    def _document(self, words: Tensor, mask: Tensor) -> Tensor:
        """One vector for each place of a document: the largest of the windows from there on; zeros behind its end."""
        found = self._windows(self.document_words, words, mask, self.document_windows)
        places = min(found.shape[1], self.places.in_features)
        found = functional.pad(found.transpose(1, 2), (0, self.pooling - 1), value=-torch.inf)
        found = functional.max_pool1d(found, self.pooling, 1)[:, :, :places].transpose(1, 2)
        outside = ~mask[:, :places, None]
        dense = self.dropout(self.activation(self.document_dense(found.masked_fill(outside, 0.0))))
        return dense.masked_fill(outside, 0.0)

    def _windows(self, convolve: NGrams, words: Tensor, mask: Tensor, most: int) -> Tensor:
        """What filters find at each word, and less than anything where no window begins."""
        found = self.dropout(self.activation(convolve(words)))
        begins = mask & (torch.arange(mask.shape[1], device=mask.device) < most)
        return found.masked_fill(~begins.unsqueeze(2), -torch.inf)


@dataclass(frozen=True, repr=False)
class Duet(Reranker):
    """Exact matches and word vectors, after a first stage: `bm25 % 100 >> duet:checkpoint=FOLDER`."""

    name: ClassVar[str] = "duet"
    family: ClassVar[str] = "interaction"
