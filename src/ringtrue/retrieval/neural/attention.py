"""Attention within sequences that lie one after the other, without padding and without a mask.

On a GPU in bf16 one call of torch's kernel for sequences of any length does it, where torch has it and it gives what it
should; elsewhere there is one call for each length, for which sequences are sorted by length. On a CPU in bf16 that
call is ours: torch's kernel takes 40 to 110 % longer there, most of it for exponentials.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn import functional

_TOLERANCE = 0.05
_LANES = 32  # rows of scores are filled up to it, so that no operation ends within a vector instruction
_ROOM = 1 << 19  # scores that are looked at together: what is kept of them stays near the processor

Kernel = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, int, int], Tensor]
"""Queries, keys and values by token, head and feature, where sequences begin and end in each, and the longest."""


Attend = Callable[[Tensor], Tensor]
"""Queries, keys and values of sequences of one length; by sequence, head, token and feature, and so is the result."""


class Sequences(NamedTuple):
    """How many sequences of which length follow each other (`runs`), and all their edges, where the tokens are."""

    runs: Sequence[Sequence[int]]
    edges: Tensor

    @property
    def number(self) -> int:
        """How many there are."""
        return len(self.edges) - 1


class Attention(Protocol):
    """Computes softmax(q kᵀ) v; what lies behind the sequences gets anything."""

    def within(self, joined: Tensor, sequences: Sequences) -> Tensor:
        """All tokens to each other; `joined` is by token, then query, key or value, then head and feature."""

    def from_first(self, queries: Tensor, joined: Tensor, sequences: Sequences) -> Tensor:
        """One query for each sequence to all its tokens, of which `joined` has keys and values."""


class ByLength:
    """One call for each length."""

    def __init__(self, attend: Attend | None = None) -> None:
        """Take what computes sequences of one length; torch's kernel."""
        self.attend = attend or attend_fused

    def within(self, joined: Tensor, sequences: Sequences) -> Tensor:
        """All sequences of a length together."""
        attended = joined.new_zeros(joined[:, 0].shape)
        start = 0
        for count, length in sequences.runs:
            stop = start + count * length
            found = self.attend(joined[start:stop].unflatten(0, (count, length)).permute(2, 0, 3, 1, 4))
            attended[start:stop].unflatten(0, (count, length)).copy_(found.transpose(1, 2))
            start = stop
        return attended

    def from_first(self, queries: Tensor, joined: Tensor, sequences: Sequences) -> Tensor:
        """All sequences of a length together."""
        attended = torch.zeros_like(queries)
        start = row = 0
        for count, length in sequences.runs:
            stop = start + count * length
            k, v = joined[start:stop].unflatten(0, (count, length)).permute(2, 0, 3, 1, 4)
            q = queries[row : row + count].unsqueeze(2)
            attended[row : row + count] = functional.scaled_dot_product_attention(q, k, v).squeeze(2)
            start, row = stop, row + count
        return attended


class AtOnce:
    """One call for all."""

    def __init__(self, kernel: Kernel) -> None:
        """Take the function that computes it."""
        self._kernel = kernel

    def within(self, joined: Tensor, sequences: Sequences) -> Tensor:
        """One call."""
        edges, longest = sequences.edges, sequences.runs[-1][1]
        q, k, v = joined.unbind(1)
        return self._kernel(q, k, v, edges, edges, longest, longest)

    def from_first(self, queries: Tensor, joined: Tensor, sequences: Sequences) -> Tensor:
        """One call, with queries of length one."""
        ones = torch.arange(len(sequences.edges), dtype=torch.int32, device=queries.device)
        k, v = joined.unbind(1)
        return self._kernel(queries, k, v, ones, sequences.edges, 1, sequences.runs[-1][1])


def choose_attention(dtype: torch.dtype, device: torch.device, heads: int, size: int) -> Attention:
    """The fastest that is known to work here."""
    if device.type == "cpu":
        return ByLength(attend_in_blocks if dtype == torch.bfloat16 else None)
    kernel = _kernel() if device.type == "cuda" and dtype == torch.bfloat16 else None
    at_once = None if kernel is None else AtOnce(kernel)
    return at_once if at_once is not None and _agrees(at_once, dtype, device, heads, size) else ByLength()


def attend_in_blocks(parts: Tensor) -> Tensor:
    """For a CPU in bf16: products of many matrices at once, and what is between them in fp32.

    Keys that fill up a row count for nothing.
    """
    _, count, heads, length, size = parts.shape
    row = -(-length // _LANES) * _LANES
    filled = parts.new_zeros(3, count * heads, row, size)
    filled.unflatten(1, (count, heads))[..., :length, :].copy_(parts)
    attended = parts.new_empty(count * heads, length, size)
    some = heads * max(1, _ROOM // (heads * length * row))  # of whole sequences: a product of one matrix is another
    products = parts.new_empty(min(some, count * heads), length, row)
    weights = torch.empty_like(products, dtype=torch.float32)
    for q, k, v, out in zip(*(part.split(some) for part in (*filled, attended)), strict=True):
        product, weight = products[: len(q)], weights[: len(q)]
        scale = size**-0.5 * math.log2(math.e)  # powers of two are several times as fast as powers of e
        torch.baddbmm(product, q[:, :length], k.transpose(1, 2), beta=0, alpha=scale, out=product)
        weight.copy_(product)[..., length:] = -torch.inf
        weight.sub_(weight.amax(2, keepdim=True)).exp2_()
        torch.bmm(product.copy_(weight), v, out=out)
        out.div_(weight.sum(2, keepdim=True))
    return attended.unflatten(0, (count, heads))


def attend_fused(parts: Tensor) -> Tensor:
    """By torch's kernel."""
    q, k, v = parts
    return functional.scaled_dot_product_attention(q, k, v)


def _kernel() -> Kernel | None:
    try:
        from torch.nn.attention.varlen import varlen_attn  # not in every torch
    except ImportError:
        return None
    kernel: Kernel = varlen_attn
    return kernel


def _agrees(attention: Attention, dtype: torch.dtype, device: torch.device, heads: int, size: int) -> bool:
    """Whether a small example comes out right: kernels are picky about devices and sizes, and say so when called."""
    generator = torch.Generator(device).manual_seed(1)
    joined = torch.randn(32, 3, heads, size, dtype=dtype, device=device, generator=generator)
    sequences = Sequences(((2, 5), (1, 17)), torch.tensor([0, 5, 10, 27], dtype=torch.int32, device=device))
    try:
        with torch.inference_mode():
            found = attention.within(joined, sequences), attention.from_first(joined[:3, 0], joined[:, 1:], sequences)
            other = ByLength()
            right = other.within(joined, sequences), other.from_first(joined[:3, 0], joined[:, 1:], sequences)
    except (RuntimeError, TypeError, ValueError, NotImplementedError):
        return False
    pairs = ((found[0][:27], right[0][:27]), (found[1], right[1]))
    return all(bool(((one - two).abs() < _TOLERANCE).all()) for one, two in pairs)
