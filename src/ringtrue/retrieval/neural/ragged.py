"""Sequences of different length in one array, and rectangles cut out of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtrue.retrieval.encoders.tokens import Tokens


class Ragged(NamedTuple):
    """Token numbers of many texts; text `n` has `lengths[n]` of them from `starts[n]` on."""

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @classmethod
    def from_tokens(cls, tokens: Tokens) -> Ragged:
        """Take over what a tokeniser returns; texts that are the same share their place."""
        starts = np.cumsum(tokens.lengths) - tokens.lengths
        return cls(tokens.ids, starts[tokens.places], tokens.lengths[tokens.places])

    @classmethod
    def from_lists(cls, sequences: list[list[int]]) -> Ragged:
        """Join lists of token numbers."""
        lengths = np.fromiter(map(len, sequences), np.int64, len(sequences))
        ids = np.fromiter((number for sequence in sequences for number in sequence), np.int32, int(lengths.sum()))
        return cls(ids, np.cumsum(lengths) - lengths, lengths)

    def of(self, text: int) -> NDArray[np.int32]:
        """The token numbers of one text."""
        return self.ids[self.starts[text] : self.starts[text] + self.lengths[text]]

    def cut(self, most: int) -> Ragged:
        """The same with at most so many tokens of each text."""
        return self._replace(lengths=np.minimum(self.lengths, most))

    def padded(self, texts: NDArray[np.int64], width: int, fill: int = 0) -> NDArray[np.int64]:
        """One row for each of some texts, cut or filled up to a width."""
        columns = np.arange(width)
        inside = columns < self.lengths[texts, None]
        places = np.where(inside, self.starts[texts, None] + columns, 0)
        if not len(self.ids):
            return np.full((len(texts), width), fill, np.int64)
        return np.where(inside, self.ids[places], fill).astype(np.int64)
