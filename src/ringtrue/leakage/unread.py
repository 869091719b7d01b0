"""Pairs that are alike only in what the encoder cannot read.

To a model with a vocabulary every word whose characters it does not have is the same token: two texts of a script that
it was not made for, or two emoji, have a cosine of 1 whatever they say. Where such words are a good part of both texts
they are compared letter by letter instead. Left out: telling what they mean.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache

from ringtrue.leakage.wording import dice, grams
from ringtrue.retrieval.encoders import Encoder, Unread, Vocabulary

_GOOD_PART = 1 / 3
_ALIKE = 0.5
_NOTHING = Unread((), 0)


@dataclass
class Unreadable:
    """What an encoder does not know of texts; texts that come again are looked at once."""

    encoder: Encoder
    _kept: dict[str, Unread] = field(default_factory=dict)

    def is_all(self, text: str) -> bool:
        """Whether the encoder knows no word of a text."""
        return self._of(text).share == 1

    def only_likeness(self, text: str, query: str) -> bool:
        """Whether a topic's text and a query may be near only by words that are both unknown, and not the same."""
        mine = self._of(text)
        if mine.share < _GOOD_PART:
            return False
        its = self._of(query)
        if its.share < _GOOD_PART:
            return False
        beside_words = mine.share < 1 and its.share < 1
        if beside_words and not _has_letters(mine) and not _has_letters(its):  # an emoji says little there
            return False
        return dice(_letters(mine.parts), _letters(its.parts)) < _ALIKE

    def _of(self, text: str) -> Unread:
        if not isinstance(self.encoder, Vocabulary):
            return _NOTHING
        if text not in self._kept:
            self._kept[text] = self.encoder.unread(text)
        return self._kept[text]


def _has_letters(unread: Unread) -> bool:
    return any(character.isalnum() for part in unread.parts for character in part)


@lru_cache(maxsize=1 << 14)
def _letters(parts: tuple[str, ...]) -> frozenset[str]:
    """Pairs of neighbouring letters, without case and forms of writing."""
    return grams(unicodedata.normalize("NFKC", " ".join(parts)).casefold(), 2)
