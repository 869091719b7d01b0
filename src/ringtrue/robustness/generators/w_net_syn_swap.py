"""WNetSynSwap: a word replaced by a synonym from WordNet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Literal

from ringtrue.data.records import Query
from ringtrue.robustness.dice import Cup
from ringtrue.robustness.generators import Outcome
from ringtrue.robustness.generators.base import Named
from ringtrue.robustness.generators.synonym_swap import SynonymSwap
from ringtrue.robustness.resources import wordnet

_FAILURE = "no word with a synonym in WordNet besides stop words"


@dataclass(frozen=True, repr=False)
class WNetSynSwap(Named):
    """Replace a random word by its first synonym in WordNet: that of its most frequent sense, nouns before verbs.

    `choice=random` takes any synonym of any sense, as the study's code does. There a word may also become its own base
    form (states, state), which is no synonym and left out here. The code's filter by sentence similarity is left out
    too: it was not active for queries of less than 15 words.
    """

    choice: Literal["first", "random"] = "first"

    category = "paraphrasing"
    needs = "wordnet"

    def check(self) -> None:
        """WordNet must be on this machine."""
        wordnet.find()

    def vary_all(self, queries: Sequence[Query], n: int, seed: int) -> Iterator[Outcome]:
        """One query after the other."""
        swap = SynonymSwap(partial(_synonyms, wordnet.find()), self.choice == "random", _FAILURE)
        return swap.vary_each(queries, n, Cup(repr(self), seed))


@lru_cache(maxsize=1 << 17)
def _synonyms(source: wordnet.WordNet, word: str) -> tuple[str, ...]:
    return source.synonyms(word)
