"""PACRR: square filters look for phrases and neighbouring words in the matrix of word similarities.

Hui, Yates, Berberich and de Melo, PACRR: A Position-Aware Neural IR Model for Relevance Matching, EMNLP 2017. Sizes and
defaults are those of Capreolus and OpenNIR, and so are two differences from the paper: single words pass through
filters as well, and the signals of all words of a query go through two hidden layers, as in the authors' later models,
where the paper has an LSTM. As in its `firstk`, a document is cut at its end. Unlike in Capreolus, padding counts for
nothing: a filter begins at words only, and the softmax of the words' rarity is over words only. The loss is the
paper's pairwise hinge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from ringtrue.errors import InputError
from ringtrue.retrieval.neural.interaction import InteractionModel, InteractionNetwork
from ringtrue.retrieval.neural.vocabulary import Vocabulary, document_weights
from ringtrue.retrieval.rankers.reranker import Reranker


@dataclass(frozen=True)
class PacrrModel(InteractionModel):
    """Filters of sizes `shortest` to `longest`, the `best` values of each kept, and `hidden` units in two layers."""

    shortest: int = 1
    longest: int = 3
    filters: int = 32
    best: int = 2
    idf: bool = True
    hidden: int = 32

    name: ClassVar[str] = "pacrr"

    def check(self) -> None:
        """Refuse sizes of which no network can be built."""
        super().check()
        if self.shortest > self.longest:
            raise InputError(f"model 'pacrr': shortest is {self.shortest} and longest {self.longest}; swap them.")

    def build(self, vocabulary: Vocabulary) -> PacrrNetwork:
        """The network, with empty word vectors."""
        return PacrrNetwork(self, vocabulary)


class PacrrNetwork(InteractionNetwork):
    """For each word of the query the strongest signals of each filter size, and how rare it is; then dense layers."""

    name: ClassVar[str] = "pacrr"
    model: PacrrModel
    weights: Tensor

    def __init__(self, model: PacrrModel, vocabulary: Vocabulary) -> None:
        """Make the layers."""
        super().__init__(model, vocabulary)
        sizes = range(model.shortest, model.longest + 1)
        self.filters = nn.ModuleList(SquareFilters(size, model.filters, model.best) for size in sizes)
        features = model.query_length * (len(sizes) * model.best + model.idf)
        self.combine = nn.Sequential(
            nn.Linear(features, model.hidden),
            nn.ReLU(),
            nn.Linear(model.hidden, model.hidden),
            nn.ReLU(),
            nn.Linear(model.hidden, 1),
        )
        self.register_buffer("weights", torch.zeros(vocabulary.rows if model.idf else 0))

    def learn_statistics(self, texts: Sequence[str]) -> None:
        """Count in how many documents each word is."""
        if self.model.idf:
            self.weights.copy_(torch.from_numpy(document_weights(self.vocabulary, texts)))

    def score(self, query: Tensor, document: Tensor) -> Tensor:
        """One score a pair."""
        similarities = self.cosines(query, document)
        signals = [find(similarities, document > 0) for find in self.filters]
        if self.model.idf:
            signals.append(self._rarity(query).unsqueeze(2))
        features = torch.cat(signals, 2) * (query > 0).unsqueeze(2)
        features = functional.pad(features, (0, 0, 0, self.model.query_length - query.shape[1]))
        scores: Tensor = self.combine(features.flatten(1)).squeeze(1)
        return scores

    def _rarity(self, query: Tensor) -> Tensor:
        """The softmax of the inverse document frequencies of a query's words; a query without words has zeros."""
        weights = functional.embedding(query, self.weights.unsqueeze(1)).squeeze(2)
        return weights.masked_fill(query == 0, -torch.inf).softmax(1).nan_to_num(0.0)


class SquareFilters(nn.Module):
    """Filters of one size over similarities, the strongest at each place, and of these the `best` of each query word.

    Written as a product with all shifted copies of the matrix, since torch's own convolution runs on a GPU in a lower
    precision than asked for.
    """

    def __init__(self, size: int, filters: int, best: int) -> None:
        """Make the filters."""
        super().__init__()
        self.size = size
        self.best = best
        self.convolution = nn.Conv2d(1, filters, size)  # for its weights and their random start

    def forward(self, similarities: Tensor, document: Tensor) -> Tensor:
        """From (pairs, query, document) to (pairs, query, best), descending."""
        _, rows, columns = similarities.shape
        places = range(self.size)
        wide = functional.pad(similarities, (0, self.size - 1, 0, self.size - 1))
        shifted = torch.stack(
            [wide[:, down : down + rows, right : right + columns] for down in places for right in places]
        )
        weight, bias = self.convolution.weight.flatten(1), self.convolution.bias.unsqueeze(1)
        strongest = torch.addmm(bias, weight, shifted.flatten(1)).amax(0).view_as(similarities)
        strongest = strongest.relu() * document.unsqueeze(1)
        missing = max(self.best - strongest.shape[2], 0)
        return functional.pad(strongest, (0, missing)).topk(self.best, 2).values


@dataclass(frozen=True, repr=False)
class PACRR(Reranker):
    """Filters over word similarities, after a first stage: `bm25 % 100 >> pacrr:checkpoint=FOLDER`."""

    name: ClassVar[str] = "pacrr"
    family: ClassVar[str] = "interaction"
