"""RandOrderSwap: two words change places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from ringtrue.robustness.dice import Dice
from ringtrue.robustness.generators.base import Rule

_DRAWS = 12  # before all pairs are gone through one by one


@dataclass(frozen=True, repr=False)
class RandOrderSwap(Rule):
    """Swap two random words, stop words among them; those between stay where they are."""

    category = "ordering"
    failure = "no two different words"

    def candidates(self, query: str, dice: Dice) -> Iterator[str]:
        """Random pairs first; then, where they do not do, every pair."""
        tokens = query.split()
        if len(set(tokens)) < 2:
            return
        for _ in range(_DRAWS):
            first = dice.below(len(tokens))
            yield _swapped(tokens, first, (first + 1 + dice.below(len(tokens) - 1)) % len(tokens))
        for first, second in combinations(dice.shuffled(range(len(tokens))), 2):
            if tokens[first] != tokens[second]:
                yield _swapped(tokens, first, second)


def _swapped(tokens: list[str], first: int, second: int) -> str:
    changed = tokens.copy()
    changed[first], changed[second] = tokens[second], tokens[first]
    return " ".join(changed)
