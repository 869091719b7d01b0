"""Changes to single words, as TextAttack's augmenters make them (Morris et al., EMNLP 2020).

A tenth of the words, at least one, is changed at once; stop words and single characters never are. Punctuation around
a word stays where it is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import combinations, product

from ringtrue.robustness.dice import Dice
from ringtrue.robustness.generators.base import Rule
from ringtrue.robustness.text import is_content, unwrap

_SHARE = 0.1
_DRAWS = 12  # before all changes are gone through one by one


class WordSwap(Rule):
    """Replaces words by others; an unlucky draw may give the word itself, which `pick` sorts out."""

    @abstractmethod
    def replacements(self, word: str) -> Sequence[str]:
        """All that a word may become."""

    def places(self, tokens: Sequence[str]) -> list[int]:
        """Which tokens may be changed."""
        return [place for place, token in enumerate(tokens) if is_content(token)]

    def draw(self, word: str, dice: Dice) -> str:
        """One of the replacements at random; the word itself where it has none."""
        found = self.replacements(word)
        return dice.choice(found) if found else word

    def candidates(self, query: str, dice: Dice) -> Iterator[str]:
        """Random changes first; then, where they do not do, every change there is."""
        tokens = query.split()
        places = self.places(tokens)
        if not places:
            return
        count = share_of(tokens)
        for _ in range(_DRAWS):
            chosen = dice.sample(places, count) if count > 1 else (places[dice.below(len(places))],)
            redrawn = tokens.copy()
            for place in chosen:
                redrawn[place] = self._redraw(tokens[place], dice)
            yield " ".join(redrawn)
        yield from self._exhaust(tokens, dice.shuffled(places), count)

    def _redraw(self, token: str, dice: Dice) -> str:
        """A token with another word in it."""
        if token.isalnum():
            return self.draw(token, dice)
        before, word, after = unwrap(token)
        return before + self.draw(word, dice) + after

    def _exhaust(self, tokens: Sequence[str], places: Sequence[int], count: int) -> Iterator[str]:
        """Every change of `count` words that can be changed."""
        options = {place: self.rewritten(tokens[place]) for place in places}
        open_places = [place for place in places if options[place]]
        if open_places:
            for chosen in combinations(open_places, min(count, len(open_places))):
                for words in product(*(options[place] for place in chosen)):
                    yield changed(tokens, chosen, words)

    def rewritten(self, token: str) -> list[str]:
        """A token with each other word that could be in it."""
        before, word, after = unwrap(token)
        return [before + other + after for other in self.replacements(word) if other != word]


def share_of(tokens: Sequence[str]) -> int:
    """How many words are changed at once."""
    return max(int(_SHARE * len(tokens)), 1)


def changed(tokens: Sequence[str], places: Sequence[int], words: Sequence[str]) -> str:
    """The text with other words at some places."""
    copied = list(tokens)
    for place, word in zip(places, words, strict=True):
        copied[place] = word
    return " ".join(copied)
