"""RealMisspelling: mistakes that people make, rather than random letters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from ringtrue.robustness.dice import Dice
from ringtrue.robustness.generators.base import Rule
from ringtrue.robustness.generators.word_swap import WordSwap
from ringtrue.robustness.resources.misspellings import listed, ruled
from ringtrue.robustness.text import cased, is_content, unwrap

_KINDS = {"listed": ("listed",), "rules": ("rules",), "any": ("listed", "rules")}


@dataclass(frozen=True, repr=False)
class RealMisspelling(Rule):
    """Misspell a random word as people do: from a list of common mistakes, else by the rules behind them.

    `source` restricts it to the list or to the rules. English only; not in the study.
    """

    source: Literal["any", "listed", "rules"] = "any"

    category = "misspelling"
    failure = "no word with a known misspelling besides stop words"

    def candidates(self, query: str, dice: Dice) -> Iterator[str]:
        """Mistakes of the list first."""
        return chain.from_iterable(_Mistake(kind).candidates(query, dice) for kind in _KINDS[self.source])


@dataclass(frozen=True, repr=False)
class _Mistake(WordSwap):
    """Mistakes of one kind."""

    kind: str

    category = RealMisspelling.category
    failure = RealMisspelling.failure

    def places(self, tokens: Sequence[str]) -> list[int]:
        """Words with such a mistake."""
        content = ((place, unwrap(token)[1]) for place, token in enumerate(tokens) if is_content(token))
        return [place for place, word in content if self._wrong(word.lower())]

    def replacements(self, word: str) -> Sequence[str]:
        """All mistakes of the kind."""
        return [cased(wrong, word) for wrong in self._wrong(word.lower())]

    def _wrong(self, word: str) -> tuple[str, ...]:
        return listed().get(word, ()) if self.kind == "listed" else ruled(word)
