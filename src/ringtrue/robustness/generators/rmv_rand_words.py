"""RmvRandWords: some words left out (beside the study, in its code)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from ringtrue.errors import InputError
from ringtrue.robustness.dice import Dice
from ringtrue.robustness.generators.base import Rule

_DRAWS = 12  # before all choices are gone through one by one


@dataclass(frozen=True, repr=False)
class RmvRandWords(Rule):
    """Leave out a share of the words at random, at least one."""

    share: float = 0.2

    category = "naturality"
    failure = "a single word"

    def __post_init__(self) -> None:
        """A share of words is between none and all."""
        if not 0 <= self.share <= 1:
            raise InputError(f"RmvRandWords: share should be between 0 and 1, not {self.share}.")

    def candidates(self, query: str, dice: Dice) -> Iterator[str]:
        """Random choices first; then, where they do not do, every choice."""
        tokens = query.split()
        if len(tokens) < 2:
            return
        count = min(max(int(self.share * len(tokens)), 1), len(tokens) - 1)
        for _ in range(_DRAWS):
            yield without(tokens, dice.sample(range(len(tokens)), count))
        for places in combinations(dice.shuffled(range(len(tokens))), count):
            yield without(tokens, places)


def without(tokens: list[str], places: list[int] | tuple[int, ...]) -> str:
    """The text without some of its words."""
    left_out = set(places)
    return " ".join(token for place, token in enumerate(tokens) if place not in left_out)
