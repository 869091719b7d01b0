"""JoinWords: a blank left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ringtrue.robustness.dice import Dice
from ringtrue.robustness.generators.base import Rule


@dataclass(frozen=True, repr=False)
class JoinWords(Rule):
    """Write two neighbouring words as one; stop words too, since people do that to them. Not in the study."""

    category = "misspelling"
    failure = "no two words beside each other"

    def candidates(self, query: str, dice: Dice) -> Iterator[str]:
        """Every pair of neighbours, in random order."""
        tokens = query.split()
        for place in dice.shuffled(range(1, len(tokens))):
            yield " ".join((*tokens[: place - 1], tokens[place - 1] + tokens[place], *tokens[place + 1 :]))
