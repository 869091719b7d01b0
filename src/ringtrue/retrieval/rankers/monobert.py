"""monoBERT: a transformer reads query and document together (Nogueira and Cho, arXiv:1901.04085, 2019).

`[CLS] query [SEP] document [SEP]` goes through a BERT-shaped encoder, and a layer on the first token tells relevant
from not. As in the paper, queries are cut to 64 tokens and documents to what is left of 512, the loss is the
cross-entropy over the two classes, and, as in PyGaggle, the score is the logarithm of the probability of relevance.
Any sequence classification model of transformers with one or two labels serves, among them all cross-encoders of
sentence-transformers; what was trained here loads there as well. Deviations: where a model has one label, its output is
taken for the difference of two logits; and the learning rate is 5e-5 where the paper has 3e-6 over 100,000 updates of
128 pairs, since the study's sets are a hundredth of that at most, and hardly move the weights at the paper's rate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import Precision
from ringtrue.retrieval.neural.attention import Sequences
from ringtrue.retrieval.neural.backbones import (
    check_drawn,
    find_folder,
    inner_tokenizer,
    load_config,
    load_model,
    load_tokenizer,
    most_positions,
)
from ringtrue.retrieval.neural.crossencoder import CrossEncoderNetwork
from ringtrue.retrieval.neural.network import Batch, Network, PairRows, Prepared, pointwise
from ringtrue.retrieval.neural.packed import FILL, BertShape, PackedBert
from ringtrue.retrieval.neural.scoring import HOST
from ringtrue.retrieval.neural.template import PairTemplate
from ringtrue.retrieval.neural.tokenising import tokenise_beginnings
from ringtrue.retrieval.rankers.reranker import Reranker, is_checkpoint

# isort: split
import torch
from torch import Tensor, nn
from transformers import AutoModelForSequenceClassification, PretrainedConfig, PreTrainedTokenizerBase

_TOKENIZER = "bert-large-uncased"  # of PyGaggle's model, which comes without one
_RANKERS = {"t5": "monot5", "mt5": "monot5", "umt5": "monot5"}


@dataclass(frozen=True)
class MonoBertModel:
    """The transformer to start from: a hub name, a path, or `minilm`, which needs no hub."""

    backbone: str = "minilm"
    max_length: int = 512
    query_length: int = 64
    tokenizer: str = ""

    learning_rate: ClassVar[float] = 5e-5

    def fresh(self, texts: Sequence[str], seed: int) -> MonoBertNetwork:
        """The backbone with a head for two classes; where it has none yet, the seed decides the head."""
        folder = find_folder(self.backbone)
        config = _checked(load_config(folder), folder)
        options = {"num_labels": 2, "ignore_mismatched_sizes": True}
        model, drawn = load_model(AutoModelForSequenceClassification, folder, seed=seed, **options)
        notes = check_drawn(model, drawn, self.backbone)
        network = MonoBertNetwork(self, model, load_tokenizer(folder, self.tokenizer or _fallback(config)))
        cut = network.limit < self.max_length
        room = f"texts are cut at {network.limit:,} tokens, for which the model has room, not at {self.max_length:,}"
        network.notes = (*notes, room) if cut else notes
        return network

    def empty(self, folder: Path) -> MonoBertNetwork:
        """The shape that the folder tells of."""
        config = _checked(load_config(folder), folder)
        return MonoBertNetwork(self, AutoModelForSequenceClassification.from_config(config), load_tokenizer(folder))

    def trained(self) -> MonoBertNetwork:
        """The backbone as it is, which must have a head."""
        folder = find_folder(self.backbone)
        config = _checked(load_config(folder), folder)
        model, missing = load_model(AutoModelForSequenceClassification, folder)
        if check_drawn(model, missing, self.backbone):
            raise InputError(
                f"{folder} has no weights for {missing[0]!r}: it is an encoder without a trained head, which cannot "
                f"rank; train it first, with monobert:backbone={self.backbone}."
            )
        return MonoBertNetwork(self, model, load_tokenizer(folder, self.tokenizer or _fallback(config)))


class MonoBertNetwork(CrossEncoderNetwork):
    """The logits are of the two classes."""

    name: ClassVar[str] = "monobert"
    model: MonoBertModel

    def __init__(self, model: MonoBertModel, transformer: nn.Module, tokenizer: PreTrainedTokenizerBase) -> None:
        """Take over a transformer and its tokenizer."""
        super().__init__(transformer, tokenizer, model.backbone)
        self.model = model
        self._inner_tokenizer = inner_tokenizer(tokenizer)
        self._packed: PackedBert | None = None
        if self.config.num_labels > 2:
            raise InputError(f"{model.backbone} tells {self.config.num_labels} classes apart; a ranker has one or two.")
        self.template = PairTemplate.of(self._inner_tokenizer)
        self.limit = min(model.max_length, tokenizer.model_max_length, most_positions(self.config))
        self.padding = tokenizer.pad_token_id or 0
        self.typed = "token_type_ids" in tokenizer.model_input_names
        if model.query_length < 1 or self.limit < model.query_length + self.template.special + 1:
            raise InputError(
                f"monobert: {self.limit} tokens have no room for {model.query_length} of the query, "
                f"{self.template.special} special ones and a document; give another max_length or query_length."
            )

    def prepare(self, queries: Sequence[str], documents: Sequence[str]) -> Prepared:
        """Tokenise, and cut queries; documents are cut when their query is known."""
        limit = self.model.query_length
        found = tokenise_beginnings(self._inner_tokenizer, queries, limit)
        return Prepared(found.cut(limit), tokenise_beginnings(self._inner_tokenizer, documents, self.limit))

    def collate(self, prepared: Prepared, pairs: PairRows) -> dict[str, Tensor]:
        """Rows with padding, and a mask where there is any; for scoring with a BERT, sequences without padding."""
        if self._packed is not None:
            return self._collate_packed(prepared, pairs, self._packed.positions)
        return super().collate(prepared, pairs)

    def _collate_packed(self, prepared: Prepared, pairs: PairRows, positions: int) -> dict[str, Tensor]:
        lengths = self.lengths(prepared, pairs)
        order = np.argsort(lengths, kind="stable")
        lengths = lengths[order]
        starts = np.cumsum(lengths) - lengths
        size = -(-int(lengths.sum()) // FILL) * FILL
        found = self.template.assemble(prepared, pairs[order], self.limit, starts, size)
        firsts = np.zeros(-(-len(starts) // FILL) * FILL, np.int64)
        firsts[: len(starts)] = starts
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        distinct, counts = np.unique(lengths, return_counts=True)
        return {
            "ids": torch.from_numpy(found.ids),
            "slots": torch.from_numpy(found.types * np.int32(positions) + found.positions),
            "firsts": torch.from_numpy(firsts),
            "edges": torch.from_numpy(np.append(starts, lengths.sum()).astype(np.int32)),
            "places": torch.from_numpy(places),
            f"{HOST}runs": torch.from_numpy(np.column_stack((counts, distinct))),
        }

    def forward(self, batch: Batch) -> Tensor:
        """The difference of the logits."""
        if self._packed is not None and "ids" in batch:
            sequences = Sequences(batch[f"{HOST}runs"].tolist(), batch["edges"])
            logits = self._packed(batch["ids"], batch["slots"], batch["firsts"], sequences)[batch["places"]]
        else:
            logits = self.transformer(**batch).logits.float()
        return logits[:, -1] - logits[:, 0] if logits.shape[1] == 2 else logits[:, 0]

    def loss(self, batch: Batch) -> Tensor:
        """Cross-entropy over the two classes."""
        return pointwise(self(batch))

    def at(self, precision: Precision) -> Self:
        """For scoring; a BERT is laid out anew, so that it needs no padding."""
        dtype = torch.bfloat16 if precision == "bf16" else torch.float32
        shape = _bert_shape(self.config, self.transformer)
        self.eval()
        if shape is None:
            self.to(dtype)
            return self
        self._packed = PackedBert(self.transformer.state_dict(), shape, dtype)
        return self

    def train(self, mode: bool = True) -> Self:
        """Training changes weights: what was laid out for scoring is given up."""
        if mode:
            self._packed = None
        super().train(mode)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Another device or precision: what was laid out for scoring is given up."""
        self._packed = None
        super()._apply(fn, recurse)
        return self


@dataclass(frozen=True, repr=False)
class MonoBert(Reranker):
    """A cross-encoder, trained here or elsewhere: `bm25 % 100 >> monobert:checkpoint=FOLDER` or a hub name.

    The default is PyGaggle's model, from the hub. `tokenizer` is for models from elsewhere that come without one.
    """

    checkpoint: str = "castorini/monobert-large-msmarco"
    tokenizer: str = ""

    name: ClassVar[str] = "monobert"
    family: ClassVar[str] = "cross-encoder"

    def open(self) -> Network:
        """A folder that training wrote, or any cross-encoder by path or hub name."""
        if is_checkpoint(self.checkpoint):
            return super().open()
        return MonoBertModel(self.checkpoint, tokenizer=self.tokenizer).trained()


def _checked(config: PretrainedConfig, folder: Path) -> PretrainedConfig:
    """Refuse models of another shape."""
    if config.is_encoder_decoder:
        other = _RANKERS.get(config.model_type)
        hint = f"; write {other}:checkpoint={folder}" if other else ""
        raise InputError(f"{folder} holds a {config.model_type}, which is not of monobert's shape{hint}.")
    return config


def _fallback(config: PretrainedConfig) -> str:
    return _TOKENIZER if config.model_type == "bert" else ""


def _bert_shape(config: PretrainedConfig, transformer: nn.Module) -> BertShape | None:
    """What `PackedBert` must know, or None where the model is none of its kind."""
    plain = (
        type(transformer).__name__ == "BertForSequenceClassification"
        and config.hidden_act == "gelu"
        and getattr(config, "position_embedding_type", "absolute") == "absolute"
        and not config.is_decoder
    )
    return BertShape(config.num_hidden_layers, config.num_attention_heads, config.layer_norm_eps) if plain else None
