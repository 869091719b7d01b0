"""BritishAmerican: the spelling of the other side of the Atlantic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ringtrue.robustness.dice import Dice
from ringtrue.robustness.generators import Outcome
from ringtrue.robustness.generators.base import EMPTY
from ringtrue.robustness.generators.word_swap import WordSwap
from ringtrue.robustness.resources.spellings import forms, others
from ringtrue.robustness.text import cased, key, unwrap

_EMPTY = Outcome((), EMPTY)
_NONE = Outcome((), "no word that is spelled differently in Britain and America")


@dataclass(frozen=True, repr=False)
class BritishAmerican(WordSwap):
    """Write a random word that is spelled differently in Britain and America the other way; not in the study."""

    category = "spelling"
    failure = _NONE.reason

    def vary(self, query: str, n: int, dice: Dice) -> Outcome:
        """Most queries have no such word, which one look at all words together tells: the forms are plain ASCII."""
        if query.isascii() and forms().isdisjoint(words := key(query).split()):
            return _NONE if words else _EMPTY
        return super().vary(query, n, dice)

    def places(self, tokens: Sequence[str]) -> list[int]:
        """Words with two spellings."""
        known = others()
        return [place for place, token in enumerate(tokens) if unwrap(token)[1].lower() in known]

    def replacements(self, word: str) -> Sequence[str]:
        """The other spelling."""
        other = others().get(word.lower())
        return [cased(other, word)] if other else []
