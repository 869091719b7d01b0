"""Convolutions over the words of a text, written as products.

Torch's own run on a GPU in a lower precision than asked for, unless a global setting is changed.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional


class NGrams(nn.Module):
    """Vectors for all n-grams of one length: at each word, of it and the words behind it; beyond the end are zeros."""

    def __init__(self, dim: int, filters: int, size: int) -> None:
        """Make the filters."""
        super().__init__()
        self.size = size
        self.convolution = nn.Conv1d(dim, filters, size)  # for its weights and their random start

    def forward(self, words: Tensor) -> Tensor:
        """From (texts, words, dim) to (texts, words, filters)."""
        weight, bias = self.convolution.weight, self.convolution.bias
        parts = functional.linear(words, weight.permute(2, 0, 1).flatten(0, 1)).unflatten(2, (self.size, -1))
        parts = functional.pad(parts, (0, 0, 0, 0, 0, self.size - 1))
        shifted = (parts[:, place : place + words.shape[1], place] for place in range(self.size))
        return sum(shifted, start=bias)
