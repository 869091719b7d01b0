"""Attention within sequences of one length, whose queries, keys and values lie side by side, one row a token."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn import functional

_SHORT = 32  # below it, torch's softmax over a row costs more than turning the rows into columns and back
_TILE = 64


class Attend(Protocol):
    """Computes softmax(q kᵀ) v."""

    def __call__(self, joined: Tensor, batch: int, heads: int) -> Tensor:
        """Rows of tokens in, rows of tokens out."""


class Ways(NamedTuple):
    """The fastest, in which a sequence that is not a number may take others along, and one in which it does not."""

    fast: Attend
    apart: Attend


def choose(device: torch.device) -> Ways:
    """What is fastest there."""
    return Ways(attend_in_tiles, attend_fused) if device.type == "cuda" else Ways(attend_short, attend_short)


def attend_fused(joined: Tensor, batch: int, heads: int, mask: Tensor | None = None) -> Tensor:
    """By torch's own kernel."""
    q, k, v = joined.view(batch, -1, 3, heads, joined.shape[1] // (3 * heads)).permute(2, 0, 3, 1, 4)
    attended = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return attended.transpose(1, 2).reshape(joined.shape[0], -1)


def attend_in_tiles(joined: Tensor, batch: int, heads: int) -> Tensor:
    """For a GPU, whose kernels compute tiles of 64 tokens or more however short a sequence is.

    As many sequences as fit into a tile are taken for one, in which a mask keeps them apart: for queries of nine tokens
    this is five to eight times as fast on an H200. What is masked counts for nothing unless it is not a number.
    """
    length = joined.shape[0] // batch
    if not 0 < length <= _TILE:
        return attend_fused(joined, batch, heads)
    group = _TILE // length
    mask = _apart(length, group, joined.dtype, joined.device)
    tiles, rest = divmod(batch, group)
    edge = tiles * group * length
    parts = [attend_fused(joined[:edge], tiles, heads, mask)] if tiles else []
    if rest:
        parts.append(attend_fused(joined[edge:], 1, heads, mask[: rest * length, : rest * length]))
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def attend_short(joined: Tensor, batch: int, heads: int) -> Tensor:
    """For a CPU and short sequences, where the fused kernel spends its time on calls."""
    length, size = joined.shape[0] // batch, joined.shape[1] // (3 * heads)
    split = joined.view(batch, length, 3, heads, size).permute(2, 0, 3, 1, 4).contiguous()
    q, k, v = split.view(3, batch * heads, length, size)
    scores = torch.bmm(q, k.transpose(1, 2)).mul_(size**-0.5)
    if length < _SHORT:
        weights = scores.view(-1, length).t().contiguous().softmax(0).t().contiguous().view_as(scores)
    else:
        weights = scores.softmax(-1)
    return torch.bmm(weights, v).view(batch, heads, length, size).transpose(1, 2).reshape(batch * length, -1)


@lru_cache(maxsize=4 * _TILE)
def _apart(length: int, group: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """What keeps sequences apart: nothing within each, minus infinity between two."""
    number = torch.arange(group * length, device=device) // length
    apart = number[:, None] != number[None, :]
    return torch.zeros(apart.shape, dtype=dtype, device=device).masked_fill_(apart, -torch.inf)
