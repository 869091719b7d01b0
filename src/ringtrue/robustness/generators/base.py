"""What generators have in common: names, dice, and the promise that a variation is never the query.

`Rule` makes candidates from one query's text. Generators that work on many queries at once, such as models, extend
`Named` alone and keep the promise through `pick`.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import ClassVar

from ringtrue.data.records import Query
from ringtrue.robustness.dice import Cup, Dice
from ringtrue.robustness.generators import Outcome
from ringtrue.robustness.text import key

EMPTY = "the query has no words"
ONLY_STOP_WORDS = "every word is a stop word"
_TRIES = 2000  # how many candidates are looked at before the search for one that is new is given up


class Named:
    """Gives a generator a name that the table reads back: `WNetSynSwap:choice=random`."""

    category: ClassVar[str]
    needs: ClassVar[str] = ""

    def check(self) -> None:
        """Nothing is needed, unless a generator says otherwise."""

    def __repr__(self) -> str:
        """The name in the table with the options that are not at their default."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        values = ((field, getattr(self, field.name)) for field in fields)
        options = ",".join(f"{field.name}={value}" for field, value in values if value != field.default)
        name = type(self).__name__
        return f"{name}:{options}" if options else name


class Rule(Named, ABC):
    """A generator that needs nothing but the text of a query and dice."""

    failure: str  # why there is no variation, where there is none

    @abstractmethod
    def candidates(self, query: str, dice: Dice) -> Iterable[str]:
        """All that the query may become, the choice first; doubles and the query itself are sorted out elsewhere."""

    def vary(self, query: str, n: int, dice: Dice) -> Outcome:
        """The first `n` candidates that are new."""
        return pick(query, self.candidates(query, dice), n, self.failure)

    def vary_all(self, queries: Sequence[Query], n: int, seed: int) -> Iterator[Outcome]:
        """One query after the other."""
        return self.vary_each(queries, n, Cup(repr(self), seed))

    def vary_each(self, queries: Sequence[Query], n: int, cup: Cup) -> Iterator[Outcome]:
        """The same with dice from some cup."""
        for query in queries:
            yield self.vary(query.title, n, cup.dice(query.title))


def pick(query: str, candidates: Iterable[str], n: int, failure: str) -> Outcome:
    """The first `n` candidates that are neither empty nor the query nor one that was taken already."""
    own = key(query)
    if not own:
        return Outcome((), EMPTY)
    seen = {own, ""}
    found: list[str] = []
    for candidate in islice(candidates, _TRIES + 10 * n):
        known = key(candidate)
        if known not in seen:
            found.append(candidate)
            if len(found) >= n:
                return Outcome(tuple(found))
            seen.add(known)
    return Outcome(tuple(found), f"only {len(found)} of {n} found" if found else failure)
