"""RandomCharSub: a character of a word becomes any other letter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ringtrue.robustness.dice import Dice
from ringtrue.robustness.generators.word_swap import WordSwap
from ringtrue.robustness.resources.letters import strangers


@dataclass(frozen=True, repr=False)
class RandomCharSub(WordSwap):
    """Substitute a random letter for a random character in a random word.

    The study's code draws capitals too (`upper=true`), so that a letter may become its own capital and the query stays
    as it was once it is lower-cased; here that never counts as a change. In other scripts than Latin the letter is one
    of the same script.
    """

    upper: bool = False

    category = "misspelling"
    failure = "no word of two letters besides stop words"

    def draw(self, word: str, dice: Dice) -> str:
        """Substitute at one place."""
        place = dice.below(len(word))
        letters = strangers(word[place], self.upper)
        return word[:place] + dice.choice(letters) + word[place + 1 :] if letters else word

    def replacements(self, word: str) -> Sequence[str]:
        """Every letter at every place."""
        return [
            word[:place] + letter + word[place + 1 :]
            for place, char in enumerate(word)
            for letter in strangers(char, self.upper)
        ]
