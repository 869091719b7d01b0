"""QWERTYCharSub: a letter becomes one whose key touches its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ringtrue.robustness.dice import Dice
from ringtrue.robustness.generators.word_swap import WordSwap
from ringtrue.robustness.resources.keyboard import KEYS, LETTERS


@dataclass(frozen=True, repr=False)
class QWERTYCharSub(WordSwap):
    """Substitute a neighbour on the keyboard for a random letter of a random word.

    In the study a digit or a hyphen made the method fail and gave the query back; here they are passed over, and with
    `digits=true` digits are mistyped like letters, and letters as the digits above them.
    """

    digits: bool = False

    category = "misspelling"
    failure = "no word with a letter of the QWERTY keyboard besides stop words"

    def draw(self, word: str, dice: Dice) -> str:
        """Mistype one letter."""
        place = dice.below(len(word))
        near = self._keys().get(word[place])
        return word[:place] + dice.choice(near) + word[place + 1 :] if near else word

    def replacements(self, word: str) -> Sequence[str]:
        """Mistype every letter in every way."""
        keys = self._keys()
        return [
            word[:place] + letter + word[place + 1 :]
            for place, char in enumerate(word)
            for letter in keys.get(char, "")
        ]

    def _keys(self) -> Mapping[str, str]:
        return KEYS if self.digits else LETTERS
