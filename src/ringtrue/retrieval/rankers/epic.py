"""EPIC: a query is its words with their importance, a document all words of the lexicon that its words speak for.

MacAvaney, Nardini, Perego, Tonellotto, Goharian and Frieder, Expansion via Prediction of Importance with
Contextualization, SIGIR 2020. One BERT reads query and document, each by itself. The importance of a word, and how much
a word of a document speaks for a word of the lexicon by BERT's language model, pass through ln(1 + softplus(x)). Of the
products of both, a document keeps the largest for each word of the lexicon, times its quality, read off its first
token. The score is the inner product with the query. Only words of the query have a part in it, so only these are
computed: the same numbers for a fraction of the work. What is left out is an index of documents' vectors, and cutting
these to their largest entries.

As in OpenNIR, documents are of BERT's second segment and the head has a dropout of 0.1. Its default is
bert-base-uncased; ours is MiniLM, which needs no hub, and whose language model starts with a new layer between BERT
and the word vectors, since none is published with it. OpenNIR reads documents beyond 510 tokens in several windows;
here they are cut. The loss is the cross-entropy of choosing the relevant document; OpenNIR's default is one minus its
probability. Encoder and heads learn at the same rate, 2e-5, since there is one optimizer for all rankers; OpenNIR's
Adam has 1e-3 where the encoder is given no rate of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import Precision
from ringtrue.retrieval.neural.backbones import (
    check_drawn,
    check_vocabulary,
    find_folder,
    inner_tokenizer,
    load_config,
    load_model,
    load_tokenizer,
)
from ringtrue.retrieval.neural.interaction import seeded
from ringtrue.retrieval.neural.network import Batch, Network, PairRows, Prepared, softmax_pairs
from ringtrue.retrieval.neural.ragged import Ragged
from ringtrue.retrieval.neural.tokenising import tokenise_beginnings
from ringtrue.retrieval.rankers.reranker import Reranker

# isort: split
import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import BertForMaskedLM, PretrainedConfig, PreTrainedTokenizerBase

_MARKS = 2  # tokens that begin and end a text


@dataclass(frozen=True)
class EpicModel:
    """`backbone` is a BERT by hub name or path, or `minilm`, which needs no hub; lengths are without special tokens."""

    backbone: str = "minilm"
    query_length: int = 500
    document_length: int = 510
    dropout: float = 0.1

    learning_rate: ClassVar[float] = 2e-5

    def fresh(self, texts: Sequence[str], seed: int) -> EpicNetwork:
        """The backbone with new heads, and with a new layer for the language model where it has none."""
        folder = find_folder(self.backbone)
        self.check(_check_kind(load_config(folder), folder))
        transformer, drawn = load_model(BertForMaskedLM, folder, seed=seed)
        notes = check_drawn(transformer, drawn, self.backbone)
        with seeded(seed):
            network = EpicNetwork(self, transformer, load_tokenizer(folder))
        network.notes = notes
        return network

    def empty(self, folder: Path) -> EpicNetwork:
        """The shape that the folder tells of."""
        config = _check_kind(load_config(folder), folder)
        self.check(config)
        with seeded(0):
            return EpicNetwork(self, BertForMaskedLM(config), load_tokenizer(folder))

    def check(self, config: PretrainedConfig) -> None:
        """Refuse sizes that the backbone has not."""
        longest = config.max_position_embeddings - _MARKS
        for name in ("query_length", "document_length"):
            if not 1 <= getattr(self, name) <= longest:
                raise InputError(
                    f"model 'epic': {name} is {getattr(self, name)}; with this backbone it is from 1 to {longest}."
                )
        if not 0 <= self.dropout < 1:
            raise InputError(f"model 'epic': dropout is {self.dropout}; it should be 0 or more, and below 1.")


class EpicNetwork(Network):
    """The inner product of a query's and a document's vector over the lexicon."""

    name: ClassVar[str] = "epic"
    model: EpicModel

    def __init__(self, model: EpicModel, transformer: nn.Module, tokenizer: PreTrainedTokenizerBase) -> None:
        """Take over the parts of a transformer; the word vectors serve as its language model's last layer, too."""
        super().__init__()
        self.model = model
        self._config: PretrainedConfig = transformer.config
        self._whole, self._tokenizer = tokenizer, inner_tokenizer(tokenizer)
        self.encoder = transformer.bert
        self.transform = transformer.cls.predictions.transform
        self.bias = nn.Parameter(transformer.cls.predictions.bias.detach().clone())
        self.dropout = nn.Dropout(model.dropout)
        size = self._config.hidden_size
        self.query_importance, self.importance, self.quality = (nn.Linear(size, 1) for _ in range(3))
        check_vocabulary(tokenizer, self._config, model.backbone)

    def prepare(self, queries: Sequence[str], documents: Sequence[str]) -> Prepared:
        """Tokenise texts, and cut them."""
        return Prepared(self._cut(queries, self.model.query_length), self._cut(documents, self.model.document_length))

    def lengths(self, prepared: Prepared, pairs: PairRows) -> NDArray[np.int64]:
        """The tokens of both texts."""
        return prepared.queries.lengths[pairs[:, 0]] + prepared.documents.lengths[pairs[:, 1]] + 2 * _MARKS

    def collate(self, prepared: Prepared, pairs: PairRows) -> dict[str, Tensor]:
        """Each distinct query once, with the number of each pair's; one document a pair."""
        queries, places = np.unique(pairs[:, 0], return_inverse=True)
        return {
            "query": self._rows(prepared.queries, queries),
            "query_lengths": torch.from_numpy(prepared.queries.lengths[queries]),
            "query_of": torch.from_numpy(places.reshape(-1)),
            "document": self._rows(prepared.documents, pairs[:, 1]),
            "document_lengths": torch.from_numpy(prepared.documents.lengths[pairs[:, 1]]),
        }

    def forward(self, batch: Batch) -> Tensor:
        """One score a pair."""
        query, document = batch["query"], batch["document"]
        weights = self._query_weights(query, batch["query_lengths"])[batch["query_of"]]
        words = query[batch["query_of"], 1:-1]
        scores = (weights * self._document_weights(document, batch["document_lengths"], words)).sum(1)
        return scores.float()

    def loss(self, batch: Batch) -> Tensor:
        """Cross-entropy of choosing the relevant document."""
        return softmax_pairs(self(batch))

    def write_files(self, folder: Path) -> None:
        """Configuration and tokenizer, as transformers reads them."""
        self._config.save_pretrained(folder)
        self._whole.save_pretrained(folder)

    def at(self, precision: Precision) -> Self:
        """The encoder in a precision; the small rest stays in fp32."""
        self.encoder.to(torch.bfloat16 if precision == "bf16" else torch.float32)
        return self

    def _cut(self, texts: Sequence[str], length: int) -> Ragged:
        return tokenise_beginnings(self._tokenizer, texts, length).cut(length)

    def _rows(self, texts: Ragged, numbers: NDArray[np.int64]) -> Tensor:
        """`[CLS] text [SEP]` in each row, then padding."""
        lengths = texts.lengths[numbers]
        width = max(int(lengths.max(initial=0)), 1)
        ids = np.pad(texts.padded(numbers, width), ((0, 0), (1, 1)))
        ids[:, 0] = self._whole.cls_token_id
        ids[np.arange(len(ids)), lengths + 1] = self._whole.sep_token_id
        return torch.from_numpy(ids)

    def _encode(self, ids: Tensor, lengths: Tensor, segment: int) -> Tensor:
        """A vector for each token, in fp32."""
        inside = torch.arange(ids.shape[1], device=ids.device) < lengths.unsqueeze(1) + _MARKS
        hidden = self.encoder(
            input_ids=ids, attention_mask=inside.long(), token_type_ids=torch.full_like(ids, segment)
        ).last_hidden_state
        return hidden.float()

    def _query_weights(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """The importance of each word of a query; zero where it has ended."""
        words = self.dropout(self._encode(ids, lengths, 0)[:, 1:-1])
        return _soften(self.query_importance(words)).squeeze(2) * _words(words, lengths)

    def _document_weights(self, ids: Tensor, lengths: Tensor, lexicon: Tensor) -> Tensor:
        """The weights of some words of the lexicon in each document, other ones for each."""
        hidden = self._encode(ids, lengths, 1)
        words = hidden[:, 1:-1]
        importance = _soften(self.importance(self.dropout(words))) * _words(words, lengths).unsqueeze(2)
        rows = functional.embedding(lexicon, self.encoder.embeddings.word_embeddings.weight).float()
        spoken_for = torch.baddbmm(self.bias[lexicon].unsqueeze(1), self.transform(words), rows.transpose(1, 2))
        quality = self.quality(hidden[:, 0]).sigmoid()
        return (_soften(spoken_for.float()) * importance).amax(1) * quality


@dataclass(frozen=True, repr=False)
class Epic(Reranker):
    """Weighted words on both sides, after a first stage: `bm25 % 100 >> epic:checkpoint=FOLDER`."""

    name: ClassVar[str] = "epic"
    family: ClassVar[str] = "learned sparse"


def _soften(values: Tensor) -> Tensor:
    """ln(1 + softplus(x)): above zero, and large only for what is very large."""
    return functional.softplus(values).log1p()


def _words(tokens: Tensor, lengths: Tensor) -> Tensor:
    """Which tokens, [CLS] excepted, are words of the text."""
    return torch.arange(tokens.shape[1], device=tokens.device) < lengths.unsqueeze(1)


def _check_kind(config: PretrainedConfig, folder: Path) -> PretrainedConfig:
    if config.model_type != "bert":
        raise InputError(f"{folder} holds a {config.model_type}; epic needs a BERT with its language model.")
    return config
