"""Words replaced by synonyms, wherever the synonyms come from."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ringtrue.robustness.dice import Dice
from ringtrue.robustness.generators.word_swap import WordSwap, changed, share_of
from ringtrue.robustness.text import cased, is_content, unwrap


@dataclass(frozen=True, repr=False)
class SynonymSwap(WordSwap):
    """Replaces a random word that has synonyms by its best one, or with `at_random` by any of them.

    The study describes the former, its code does the latter. No generator of its own: others give it their lexicon.
    """

    synonyms: Callable[[str], Sequence[str]]
    at_random: bool
    failure: str

    def replacements(self, word: str) -> Sequence[str]:
        """The synonyms in the word's case."""
        return [cased(synonym, word) for synonym in self.synonyms(word)]

    def places(self, tokens: Sequence[str]) -> list[int]:
        """Words that have synonyms."""
        content = ((place, unwrap(token)[1]) for place, token in enumerate(tokens) if is_content(token))
        return [place for place, word in content if self.synonyms(word)]

    def candidates(self, query: str, dice: Dice) -> Iterator[str]:
        """Any choice, or the best synonym of every word, then the second of every word, and so on."""
        return super().candidates(query, dice) if self.at_random else self._best(query.split(), dice)

    def _best(self, tokens: Sequence[str], dice: Dice) -> Iterator[str]:
        order, count = dice.shuffled(self.places(tokens)), share_of(tokens)
        groups = [order[start : start + count] for start in range(0, len(order), count)]
        for rank in itertools.count():
            more = False
            for group in groups:
                words = {place: self._ranked(tokens[place], rank) for place in group}
                chosen = {place: word for place, word in words.items() if word}
                if chosen:
                    more = True
                    yield changed(tokens, list(chosen), list(chosen.values()))
            if not more:
                return

    def _ranked(self, token: str, rank: int) -> str:
        """A token with the synonym of a rank in it; nothing where it has fewer."""
        before, word, after = unwrap(token)
        synonyms = self.synonyms(word)
        return before + cased(synonyms[rank], word) + after if rank < len(synonyms) else ""
