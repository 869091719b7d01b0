"""BritishAmerican: the spelling of the other side of the Atlantic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ringtrue.robustness.generators.word_swap import WordSwap
from ringtrue.robustness.resources.spellings import others
from ringtrue.robustness.text import cased, unwrap


@dataclass(frozen=True, repr=False)
class BritishAmerican(WordSwap):
    """Write a random word that is spelled differently in Britain and America the other way; not in the study."""

    category = "spelling"
    failure = "no word that is spelled differently in Britain and America"

    def places(self, tokens: Sequence[str]) -> list[int]:
        """Words with two spellings."""
        known = others()
        return [place for place, token in enumerate(tokens) if unwrap(token)[1].lower() in known]

    def replacements(self, word: str) -> Sequence[str]:
        """The other spelling."""
        other = others().get(word.lower())
        return [cased(other, word)] if other else []
