"""The forward pass of BERT (Devlin et al., NAACL 2019) over batches of one length, without a mask.

All tokens of a batch go through each matrix together, queries, keys and values through one. Dropout, training and
everything else that a finished encoder does not need is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional

from ringtrue.errors import InputError
from ringtrue.retrieval.encoders.attention import Attend, choose
from ringtrue.retrieval.encoders.checkpoint import Checkpoint
from ringtrue.retrieval.encoders.matrices import Matrices, Matrix, choose_matrices

_FIRST = "embeddings.word_embeddings.weight"
_OLD_NAMES = re.compile("gamma$|beta$")


class Norm(NamedTuple):
    """Layer normalisation."""

    weight: Tensor
    bias: Tensor


class Layer(NamedTuple):
    """One layer's weights."""

    attention_in: Matrix
    attention_out: Matrix
    attention_norm: Norm
    widen: Matrix
    narrow: Matrix
    norm: Norm


class BertNetwork:
    """A loaded network; call it with token numbers, one row a sequence, to get vectors of length one."""

    def __init__(self, checkpoint: Checkpoint, dtype: torch.dtype, device: torch.device) -> None:
        """Read the weights and lay them out for the device."""
        read = Reader(_load(checkpoint), dtype, device)
        self._checkpoint = checkpoint
        self._matrices = read.matrices
        self._attention = choose(device)
        self._words = read.tensor("embeddings.word_embeddings.weight")
        # a single text is always of type 0, so that its constant joins the positions
        self._positions = read.sum("embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight")
        self._norm = read.norm("embeddings.LayerNorm")
        self._layers = [read.layer(f"encoder.layer.{number}.") for number in range(checkpoint.layers)]

    def __call__(self, ids: Tensor, *, apart: bool = False) -> Tensor:
        """Encode a batch; the result is fp32 whatever the network computes in.

        Unless they are kept `apart`, which takes longer on a GPU, a sequence for which the network gives no numbers may
        spoil others.
        """
        attend = self._attention.apart if apart else self._attention.fast
        with torch.inference_mode():
            return functional.normalize(self._pool(self._forward(ids, attend)), dim=1)

    def tokens(self, ids: Tensor) -> Tensor:
        """One vector of length one for each token of each sequence, in fp32."""
        with torch.inference_mode():
            return functional.normalize(self._forward(ids, self._attention.apart).float(), dim=2)

    def _forward(self, ids: Tensor, attend: Attend) -> Tensor:
        batch, length = ids.shape
        x = (functional.embedding(ids, self._words) + self._positions[:length]).view(batch * length, -1)
        x = self._normalise(x, self._norm)
        for layer in self._layers:
            attended = attend(self._matrices.apply(x, layer.attention_in), batch, self._checkpoint.heads)
            x = self._normalise(self._matrices.apply_add(attended, layer.attention_out, x), layer.attention_norm)
            wide = self._matrices.apply_gelu(x, layer.widen)
            x = self._normalise(self._matrices.apply_add(wide, layer.narrow, x), layer.norm)
        return x.view(batch, length, -1)

    def _pool(self, tokens: Tensor) -> Tensor:
        return tokens.float().mean(1) if self._checkpoint.pooling == "mean" else tokens[:, 0].float()

    def _normalise(self, x: Tensor, norm: Norm) -> Tensor:
        return functional.layer_norm(x, x.shape[-1:], norm.weight, norm.bias, self._checkpoint.epsilon)


class Reader:
    """Takes weights by their names."""

    def __init__(self, weights: Mapping[str, Tensor], dtype: torch.dtype, device: torch.device) -> None:
        self._weights, self._dtype, self._device = weights, dtype, device
        self.matrices: Matrices = choose_matrices(dtype, device)

    def tensor(self, name: str) -> Tensor:
        """One tensor, in the wanted precision and place."""
        return self._weights[name].to(self._device, self._dtype)

    def sum(self, positions: str, types: str) -> Tensor:
        """The positions with the first type added, rounded once."""
        return (self._weights[positions].float() + self._weights[types][0].float()).to(self._device, self._dtype)

    def norm(self, name: str) -> Norm:
        """A layer normalisation."""
        return Norm(self.tensor(f"{name}.weight"), self.tensor(f"{name}.bias"))

    def matrix(self, *names: str) -> Matrix:
        """A linear map, or several side by side."""
        weight = torch.cat([self.tensor(f"{name}.weight") for name in names])
        return self.matrices.pack(weight, torch.cat([self.tensor(f"{name}.bias") for name in names]))

    def layer(self, prefix: str) -> Layer:
        """One layer."""
        return Layer(
            attention_in=self.matrix(*(f"{prefix}attention.self.{part}" for part in ("query", "key", "value"))),
            attention_out=self.matrix(f"{prefix}attention.output.dense"),
            attention_norm=self.norm(f"{prefix}attention.output.LayerNorm"),
            widen=self.matrix(f"{prefix}intermediate.dense"),
            narrow=self.matrix(f"{prefix}output.dense"),
            norm=self.norm(f"{prefix}output.LayerNorm"),
        )


def _load(checkpoint: Checkpoint) -> dict[str, Tensor]:
    """The weights on the CPU, by the names that BERT gives them.

    Models that were saved with a head on top have a prefix before each name, and some call a norm's weights otherwise.
    """
    if checkpoint.weights.suffix == ".safetensors":
        weights = load_file(checkpoint.weights)
    else:
        weights = torch.load(checkpoint.weights, map_location="cpu", weights_only=True)
    prefix = next((name.removesuffix(_FIRST) for name in weights if name.endswith(_FIRST)), None)
    if prefix is None:
        raise InputError(f"{checkpoint.weights} has no {_FIRST}: it does not hold the BERT that config.json tells of.")
    renamed = ((_OLD_NAMES.sub(_new_name, name.removeprefix(prefix)), weight) for name, weight in weights.items())
    return dict(renamed)


def _new_name(old: re.Match[str]) -> str:
    return "weight" if old[0] == "gamma" else "bias"
