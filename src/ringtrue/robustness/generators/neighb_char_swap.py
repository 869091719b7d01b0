"""NeighbCharSwap: two neighbouring characters of a word change places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ringtrue.robustness.dice import Dice
from ringtrue.robustness.generators.word_swap import WordSwap


@dataclass(frozen=True, repr=False)
class NeighbCharSwap(WordSwap):
    """Swap a random pair of neighbouring characters in a random word; the first and last may be among them."""

    category = "misspelling"
    failure = "no word with two different characters besides stop words"

    def draw(self, word: str, dice: Dice) -> str:
        """Swap at one place."""
        return _swapped(word, dice.below(len(word) - 1))

    def replacements(self, word: str) -> Sequence[str]:
        """Swap at every place."""
        return [_swapped(word, place) for place in range(len(word) - 1)]


def _swapped(word: str, place: int) -> str:
    return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
