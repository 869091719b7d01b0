"""BERT with a head on its first token (Devlin et al., NAACL 2019), over sequences of any length without padding.

The tokens of all sequences of a batch lie one after the other and go through each matrix together; attention alone
looks at sequences, without a mask. The last layer computes no more than the first
tokens need. Dropout, training and all other heads are left out: weights are taken from a network that has these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ringtrue.retrieval.encoders.bert import Layer, Norm, Reader
from ringtrue.retrieval.encoders.matrices import Matrix
from ringtrue.retrieval.neural.attention import Sequences, choose_attention

# isort: split
import torch
from torch import Tensor
from torch.nn import functional

FILL = 32  # token rows come in multiples of it, so that no operation ends within a vector instruction


class BertShape(NamedTuple):
    """What the weights do not tell."""

    layers: int
    heads: int
    epsilon: float


class _Last(NamedTuple):
    """What the last layer needs beyond the matrices that follow its attention."""

    query: Matrix
    key_value: Matrix


class PackedBert:
    """A network for scoring: it gives the outputs of the head for each sequence, in fp32."""

    def __init__(self, weights: Mapping[str, Tensor], shape: BertShape, dtype: torch.dtype) -> None:
        """Lay out the weights, by the names of transformers' sequence classification, where they are."""
        device = weights["classifier.weight"].device
        inner = {name.removeprefix("bert."): tensor for name, tensor in weights.items()}
        read = Reader(inner, dtype, device)
        self._shape, self._matrices = shape, read.matrices
        self._words = read.tensor("embeddings.word_embeddings.weight")
        positions = inner["embeddings.position_embeddings.weight"].float()
        types = inner["embeddings.token_type_embeddings.weight"].float()
        self.positions = len(positions)
        self._slots = (types[:, None] + positions).flatten(0, 1).to(dtype)
        self._norm = read.norm("embeddings.LayerNorm")
        self._layers = [read.layer(f"encoder.layer.{number}.") for number in range(shape.layers)]
        last = f"encoder.layer.{shape.layers - 1}.attention.self."
        self._last = _Last(read.matrix(f"{last}query"), read.matrix(f"{last}key", f"{last}value"))
        hidden = self._words.shape[1]
        self._attention = choose_attention(dtype, device, shape.heads, hidden // shape.heads)
        # a handful of rows: what bf16 would save here is nothing, and scores would lose their last bits
        self._pooler = Matrix(inner["pooler.dense.weight"].float(), inner["pooler.dense.bias"].float())
        self._head = Matrix(inner["classifier.weight"].float(), inner["classifier.bias"].float())

    def __call__(self, ids: Tensor, slots: Tensor, firsts: Tensor, sequences: Sequences) -> Tensor:
        """Score sequences; `slots` is each token's type times `positions` plus its position.

        All three tensors may have more than the sequences need: what is behind them is computed and means nothing.
        """
        x = functional.embedding(ids, self._words) + functional.embedding(slots, self._slots)
        x = self._normalise(x, self._norm)
        for layer in self._layers[:-1]:
            joined = self._split(self._matrices.apply(x, layer.attention_in), 3)
            x = self._behind(layer, x, self._attention.within(joined, sequences))
        layer, first = self._layers[-1], x[firsts]
        queries = self._split(self._matrices.apply(first, self._last.query), 1)[:, 0]
        joined = self._split(self._matrices.apply(x, self._last.key_value), 2)
        attended = torch.zeros_like(queries)
        number = sequences.number
        attended[:number] = self._attention.from_first(queries[:number], joined, sequences)
        return self._classify(self._behind(layer, first, attended))

    def _split(self, x: Tensor, parts: int) -> Tensor:
        """By token, part, head and feature."""
        return x.view(len(x), parts, self._shape.heads, -1)

    def _behind(self, layer: Layer, x: Tensor, attended: Tensor) -> Tensor:
        x = self._normalise(self._matrices.apply_add(attended.flatten(1), layer.attention_out, x), layer.attention_norm)
        wide = self._matrices.apply_gelu(x, layer.widen)
        return self._normalise(self._matrices.apply_add(wide, layer.narrow, x), layer.norm)

    def _classify(self, first: Tensor) -> Tensor:
        return functional.linear(torch.tanh(functional.linear(first.float(), *self._pooler)), *self._head)

    def _normalise(self, x: Tensor, norm: Norm) -> Tensor:
        return functional.layer_norm(x, x.shape[-1:], norm.weight, norm.bias, self._shape.epsilon)
