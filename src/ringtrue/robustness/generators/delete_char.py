"""DeleteChar: one character too few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ringtrue.robustness.dice import Dice
from ringtrue.robustness.generators.word_swap import WordSwap


@dataclass(frozen=True, repr=False)
class DeleteChar(WordSwap):
    """Delete a random character of a random word; not in the study."""

    category = "misspelling"
    failure = "no word of two characters besides stop words"

    def draw(self, word: str, dice: Dice) -> str:
        """Delete at one place."""
        place = dice.below(len(word))
        return word[:place] + word[place + 1 :]

    def replacements(self, word: str) -> Sequence[str]:
        """Delete at every place."""
        return [word[:place] + word[place + 1 :] for place in range(len(word))]
