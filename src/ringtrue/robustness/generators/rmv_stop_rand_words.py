"""RmvStopRandWords: stop words left out, and some of the others (beside the study, in its code)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ringtrue.errors import InputError
from ringtrue.robustness.dice import Dice
from ringtrue.robustness.generators import Outcome
from ringtrue.robustness.generators.base import ONLY_STOP_WORDS, Rule
from ringtrue.robustness.generators.rmv_rand_words import without
from ringtrue.robustness.text import has_content, is_stop_word

_KEPT = 3  # with so few words or fewer, none but stop words go
_DRAWS = 200


@dataclass(frozen=True, repr=False)
class RmvStopRandWords(Rule):
    """Leave out all stop words; of more than three other words, up to `most` percent at random, at least one."""

    most: int = 65

    category = "naturality"
    failure = "no stop word in the query, and too few other words"

    def __post_init__(self) -> None:
        """A share of words is between none and all."""
        if not 0 <= self.most <= 100:
            raise InputError(f"RmvStopRandWords: most should be a percentage from 0 to 100, not {self.most}.")

    def vary(self, query: str, n: int, dice: Dice) -> Outcome:
        """Say so where nothing would be left."""
        return super().vary(query, n, dice) if has_content(query) else Outcome((), ONLY_STOP_WORDS)

    def candidates(self, query: str, dice: Dice) -> Iterator[str]:
        """One text for few words, random ones for many."""
        content = [token for token in query.split() if not is_stop_word(token)]
        if len(content) <= _KEPT:
            yield " ".join(content)
            return
        for _ in range(_DRAWS):
            percent = dice.below(self.most + 1)
            count = min(max(percent * len(content) // 100, 1), len(content) - 1)
            yield without(content, dice.sample(range(len(content)), count))
