"""What can be said of a query and its variation in numbers: from their words alone, or with an encoder.

Content words are those that are no stop words; words are the same where Porter's stemmer says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import Stemmer
from numpy.typing import NDArray

from ringtrue.retrieval.encoders import Encoder
from ringtrue.robustness.similarity import Vocabulary
from ringtrue.robustness.text import is_stop_word, key

Floats = NDArray[np.float64]


class Pair(NamedTuple):
    """A query and what became of it."""

    original: str
    variation: str


class Words(NamedTuple):
    """A text's words in order, which of them are content words, and the stems of these."""

    every: tuple[str, ...]
    content: tuple[str, ...]
    stems: tuple[str, ...]


def words_of(text: str) -> Words:
    """Take a text apart."""
    every = tuple(key(text).split())
    content = tuple(word for word in every if not is_stop_word(word))
    return Words(every, content, tuple(_stemmer().stemWords(list(content))))


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


class Change(NamedTuple):
    """A pair's words, and the content words that only one of the two has."""

    original: Words
    variation: Words
    lost: tuple[str, ...]
    added: tuple[str, ...]


def change_of(pair: Pair) -> Change:
    """Compare the words of a pair."""
    first, second = words_of(pair.original), words_of(pair.variation)
    return Change(first, second, _without(first, second), _without(second, first))


def _without(these: Words, those: Words) -> tuple[str, ...]:
    return tuple(word for word, stem in zip(these.content, these.stems, strict=True) if stem not in those.stems)


def _kept(change: Change) -> float:
    """The share of the query's content words that are still there."""
    return 1 - len(change.lost) / max(len(change.original.content), 1)


def _new(change: Change) -> float:
    """The share of the variation's content words that are new."""
    return len(change.added) / max(len(change.variation.content), 1)


def _longer(change: Change) -> float:
    """The logarithm of how many times longer the variation is, in words."""
    return float(np.log((len(change.variation.every) + 1) / (len(change.original.every) + 1)))


def _dangling(change: Change) -> float:
    """1 where the variation ends with a stop word and the query does not end so: it was cut off."""
    first, second = change.original.every[-1:], change.variation.every[-1:]
    return float(first != second and bool(second) and is_stop_word(second[0]))


STRING_FEATURES: Mapping[str, Callable[[Change], float]] = {
    "kept": _kept,
    "new": _new,
    "longer": _longer,
    "dangling": _dangling,
}
SEMANTIC_FEATURES = ("content_similarity", "swap_similarity", "dangling")
_NOTHING_TO_COMPARE = 0.5


def string_features(pairs: Sequence[Pair]) -> Floats:
    """One row a pair, one column for each of `STRING_FEATURES`."""
    changes = map(change_of, pairs)
    rows = [[feature(change) for feature in STRING_FEATURES.values()] for change in changes]
    return np.array(rows, dtype=np.float64).reshape(-1, len(STRING_FEATURES))


def semantic_features(pairs: Sequence[Pair], encoder: Encoder) -> Floats:
    """One row a pair, one column for each of `SEMANTIC_FEATURES`.

    The similarity of the content words as a whole, and of the lost words to the added ones, which does not depend on
    how long the query is.
    """
    changes = [change_of(pair) for pair in pairs]
    texts = [_texts(change) for change in changes]
    vectors = Vocabulary(encoder, [text for some in texts for text in some])
    rows = [
        (vectors.similarity(some.content, some.new_content), _swap(change, some, vectors), _dangling(change))
        for some, change in zip(texts, changes, strict=True)
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, len(SEMANTIC_FEATURES))


class _Texts(NamedTuple):
    """What is encoded of a pair."""

    content: str
    new_content: str
    lost: str
    added: str


def _texts(change: Change) -> _Texts:
    return _Texts(
        " ".join(change.original.content or change.original.every),
        " ".join(change.variation.content or change.variation.every),
        " ".join(change.lost),
        " ".join(change.added),
    )


def _swap(change: Change, texts: _Texts, vectors: Vocabulary) -> float:
    """How alike the words are that took the places of others; 1 where no content word changed."""
    if change.lost and change.added:
        return vectors.similarity(texts.lost, texts.added)
    return _NOTHING_TO_COMPARE if change.lost or change.added else 1.0
