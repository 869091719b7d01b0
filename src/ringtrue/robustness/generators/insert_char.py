"""InsertChar: one letter too many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ringtrue.robustness.dice import Dice
from ringtrue.robustness.generators.word_swap import WordSwap
from ringtrue.robustness.resources.letters import strangers


@dataclass(frozen=True, repr=False)
class InsertChar(WordSwap):
    """Insert a random letter before or behind a random character of a random word; not in the study."""

    category = "misspelling"
    failure = "no word of two letters besides stop words"

    def draw(self, word: str, dice: Dice) -> str:
        """Insert at one place."""
        place = dice.below(len(word) + 1)
        letters = _letters(word, place)
        return word[:place] + dice.choice(letters) + word[place:] if letters else word

    def replacements(self, word: str) -> Sequence[str]:
        """Every letter at every place."""
        places = range(len(word) + 1)
        return [word[:place] + letter + word[place:] for place in places for letter in _letters(word, place)]


def _letters(word: str, place: int) -> str:
    """What may come in: letters of the script around the place, the neighbour doubled among them."""
    char = word[max(place - 1, 0)]
    found = strangers(char)
    return found + char if found else ""
