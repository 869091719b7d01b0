"""RmvStopWords: what is left without stop words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ringtrue.robustness.dice import Dice
from ringtrue.robustness.generators import Outcome
from ringtrue.robustness.generators.base import ONLY_STOP_WORDS, Rule
from ringtrue.robustness.text import has_content, is_stop_word


@dataclass(frozen=True, repr=False)
class RmvStopWords(Rule):
    """Leave out all English stop words; there is one such variation at most.

    The study compares words with their punctuation on, so that "of," stays; here it goes.
    """

    category = "naturality"
    failure = "no stop word in the query"

    def vary(self, query: str, n: int, dice: Dice) -> Outcome:
        """Say so where nothing would be left."""
        return super().vary(query, n, dice) if has_content(query) else Outcome((), ONLY_STOP_WORDS)

    def candidates(self, query: str, dice: Dice) -> Iterator[str]:
        """The other words."""
        yield " ".join(token for token in query.split() if not is_stop_word(token))
