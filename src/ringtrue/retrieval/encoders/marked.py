"""Token numbers with the marks that a model wants at both ends of a text, by words that are tokenised once each.

The same as `Tokeniser` gives, several times as fast for very many short texts.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.retrieval.encoders.tokens import Tokeniser, Tokens
from ringtrue.retrieval.encoders.wordpieces import WordPieces

if TYPE_CHECKING:
    from collections.abc import Sequence

_PROBE = "a"


@dataclass
class MarkedPieces:
    """A tokenizer whose marks are the same before and behind every text."""

    tokeniser: Tokeniser
    _pieces: WordPieces = field(init=False, repr=False)
    _before: list[int] = field(init=False, repr=False)
    _behind: list[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Find the marks."""
        bare = replace(self.tokeniser, special=False)
        word, marked = bare([_PROBE]).ids.tolist(), self.tokeniser([_PROBE]).ids.tolist()
        begin = next(place for place in range(len(marked)) if marked[place : place + len(word)] == word)
        self._before, self._behind = marked[:begin], marked[begin + len(word) :]
        marks = len(self._before) + len(self._behind)
        self._pieces = WordPieces(replace(bare, max_length=self.tokeniser.max_length - marks))

    def __call__(self, texts: Sequence[str]) -> Tokens:
        """Tokenise a block."""
        distinct = dict.fromkeys(texts)
        given = list(distinct)
        bare = self._pieces(given)
        lengths = np.diff(bare.starts)
        order = np.argsort(lengths, kind="stable")
        place_of = np.empty_like(order)
        place_of[order] = np.arange(len(order))
        if len(given) < len(texts):
            number_of = dict(zip(given, place_of.tolist(), strict=True))
            place_of = np.fromiter(map(number_of.__getitem__, texts), np.int64, len(texts))
        return Tokens(self._framed(bare.ids, bare.starts[order], lengths[order]), self._whole(lengths[order]), place_of)

    def _whole(self, lengths: np.ndarray) -> np.ndarray:
        return lengths + len(self._before) + len(self._behind)

    def _framed(self, ids: np.ndarray, firsts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """The tokens of each text between its marks, one text after the other."""
        whole = self._whole(lengths)
        ends = np.cumsum(whole)
        result = np.empty(int(whole.sum()), np.int32)
        for place, mark in enumerate(self._before):
            result[ends - whole + place] = mark
        for place, mark in enumerate(reversed(self._behind), start=1):
            result[ends - place] = mark
        before = np.cumsum(lengths) - lengths
        inside = np.arange(int(lengths.sum()))
        starts = ends - whole + len(self._before)
        result[inside + np.repeat(starts - before, lengths)] = ids[inside + np.repeat(firsts - before, lengths)]
        return result
