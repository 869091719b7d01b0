"""SplitWord: a blank within a word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ringtrue.robustness.dice import Dice
from ringtrue.robustness.generators.word_swap import WordSwap
from ringtrue.robustness.text import is_content, unwrap

_PART = 2


@dataclass(frozen=True, repr=False)
class SplitWord(WordSwap):
    """Split a random word in two parts of at least two characters; not in the study."""

    category = "misspelling"
    failure = "no word of four characters besides stop words"

    def places(self, tokens: Sequence[str]) -> list[int]:
        """Words that are long enough."""
        long = 2 * _PART
        return [place for place, token in enumerate(tokens) if is_content(token) and len(unwrap(token)[1]) >= long]

    def draw(self, word: str, dice: Dice) -> str:
        """Split at one place."""
        place = _PART + dice.below(len(word) - 2 * _PART + 1)
        return f"{word[:place]} {word[place:]}"

    def replacements(self, word: str) -> Sequence[str]:
        """Split at every place."""
        return [f"{word[:place]} {word[place:]}" for place in range(_PART, len(word) - _PART + 1)]
