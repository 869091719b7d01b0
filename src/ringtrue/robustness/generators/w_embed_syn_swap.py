"""WEmbedSynSwap: a word replaced by one whose vector is near."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ringtrue.data.records import Query
from ringtrue.errors import MissingModelError
from ringtrue.robustness.dice import Cup
from ringtrue.robustness.generators import Outcome
from ringtrue.robustness.generators.base import Named
from ringtrue.robustness.generators.synonym_swap import SynonymSwap
from ringtrue.robustness.resources import vectors, wordnet
from ringtrue.robustness.text import is_content, unwrap

_MISSING = (
    "WEmbedSynSwap needs a file of word vectors: give WEmbedSynSwap:vectors=FILE, in word2vec's or GloVe's format; the"
    " study took the counter-fitted vectors of Mrksic et al. (2016)."
)


_FAILURE = "no word with a near neighbour among the vectors besides stop words"


@dataclass(frozen=True, repr=False)
class WEmbedSynSwap(Named):
    """Replace a random word by its nearest one among `most` neighbours with a cosine of `least` or more.

    `choice=random` takes any of these, as the study's code does. Opposites have near vectors too: with
    `antonyms=wordnet` those that WordNet names are left out; counter-fitted vectors have them apart already, and need
    no more than `antonyms=kept`.
    """

    vectors: str = ""
    choice: Literal["nearest", "random"] = "nearest"
    least: float = 0.8
    most: int = 15
    antonyms: Literal["wordnet", "kept"] = "wordnet"

    category = "paraphrasing"
    needs = "vectors"

    def check(self) -> None:
        """The file must be named, and WordNet be there unless antonyms are kept."""
        if not self.vectors:
            raise MissingModelError(_MISSING)
        if self.antonyms == "wordnet":
            wordnet.find()

    def vary_all(self, queries: Sequence[Query], n: int, seed: int) -> Iterator[Outcome]:
        """Find the neighbours of all words of all queries first."""
        self.check()
        opposites = wordnet.find() if self.antonyms == "wordnet" else None
        lexicon = _lexicon(self, vectors.load(self.vectors), opposites)
        tokens = dict.fromkeys(token for query in queries for token in query.title.split() if is_content(token))
        lexicon.learn(dict.fromkeys(unwrap(token)[1].lower() for token in tokens))
        swap = SynonymSwap(lexicon.neighbours, self.choice == "random", _FAILURE)
        return swap.vary_each(queries, n, Cup(repr(self), seed))


class _Lexicon:
    """The neighbours that were found so far."""

    def __init__(self, settings: WEmbedSynSwap, source: vectors.Vectors, opposites: wordnet.WordNet | None) -> None:
        self._settings = settings
        self._vectors = source
        self._wordnet = opposites
        self._known: dict[str, tuple[str, ...]] = {}

    def learn(self, words: Iterable[str]) -> None:
        """Find the neighbours of words that are new."""
        new = [word for word in words if word not in self._known]
        found = self._vectors.neighbours(new, self._settings.most, self._settings.least)
        self._known.update((word, self._without_opposites(word, found.get(word, ()))) for word in new)

    def neighbours(self, word: str) -> tuple[str, ...]:
        """The neighbours of a word that was learned."""
        return self._known[word.lower()]

    def _without_opposites(self, word: str, found: Sequence[vectors.Neighbour]) -> tuple[str, ...]:
        names = tuple(neighbour.word for neighbour in found if neighbour.word.lower() != word)
        if self._wordnet is None or not names:
            return names
        opposites = self._wordnet.antonyms(word)
        return tuple(name for name in names if name.lower() not in opposites)


@lru_cache(maxsize=2)
def _lexicon(settings: WEmbedSynSwap, source: vectors.Vectors, opposites: wordnet.WordNet | None) -> _Lexicon:
    return _Lexicon(settings, source, opposites)
