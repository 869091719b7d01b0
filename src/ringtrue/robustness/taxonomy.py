"""What kind of change lies between two queries: the study's taxonomy of how people write the same need differently.

Transparent rules over words and, where there is an encoder, similarity in meaning. Several kinds may hold. The
thresholds were set on one half of the study's annotated pairs (see `annotations.py`). Without an encoder similarity is
guessed from the words that both queries have, which agrees with people much less.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from ringtrue.retrieval.encoders import Encoder
from ringtrue.robustness.features import Words, words_of
from ringtrue.robustness.similarity import Vocabulary

SAME_MEANING = 0.7
FAR_APART = 0.3
_CONTAINED = 0.7
_QUESTION_WORDS = frozenset(
    "what how who whom whose when where why which whats is are am do does did can could should would will was were has "
    "have".split()
)


class Kind(StrEnum):
    """The study's categories."""

    SPECIALISATION = "generalisation/specialisation"
    ASPECT = "aspect change"
    MISSPELLING = "misspelling"
    NATURALITY = "naturality"
    ORDERING = "ordering"
    PARAPHRASING = "paraphrasing"


class Compared(NamedTuple):
    """All that the rules look at."""

    first: Words
    second: Words
    similarity: float
    misspelt: tuple[tuple[str, str], ...]

    @property
    def contained(self) -> float:
        """The share of the smaller set of content words that the other query has."""
        smaller = min(len(set(self.first.stems)), len(set(self.second.stems)))
        return len(self._shared) / smaller if smaller else float(self.first.stems == self.second.stems)

    @property
    def overlap(self) -> float:
        """The share of all content words that both have."""
        every = set(self.first.stems) | set(self.second.stems)
        return len(self._shared) / len(every) if every else 1.0

    @property
    def content_difference(self) -> int:
        """By how many content words one is longer."""
        return abs(len(set(self.first.stems)) - len(set(self.second.stems)))

    @property
    def length_difference(self) -> int:
        """By how many words one is longer."""
        return abs(len(self.first.every) - len(self.second.every))

    @property
    def stop_words_differ(self) -> bool:
        """Whether one has more stop words."""
        first, second = (len(words.every) - len(words.content) for words in (self.first, self.second))
        return first != second

    @property
    def one_is_a_question(self) -> bool:
        """Whether just one begins as questions do."""
        return _asks(self.first) != _asks(self.second)

    @property
    def reordered(self) -> bool:
        """Whether the content words that both have come in another order."""
        return _in_order(self.first, self._shared) != _in_order(self.second, self._shared)

    @property
    def _shared(self) -> set[str]:
        return set(self.first.stems) & set(self.second.stems)


def classify(first: str, second: str, encoder: Encoder | None = None) -> tuple[Kind, ...]:
    """The kinds of change from one query to the other, in alphabetical order; none where they are the same."""
    return classify_all([(first, second)], encoder)[0]


def classify_all(pairs: Sequence[tuple[str, str]], encoder: Encoder | None = None) -> list[tuple[Kind, ...]]:
    """The same for many pairs; all texts are encoded together."""
    if encoder is None:
        return [_kinds(compare(*pair)) for pair in pairs]
    vectors = Vocabulary(encoder, [text for pair in pairs for text in pair])
    return [_kinds(compare(*pair, vectors.similarity(*pair))) for pair in pairs]


def compare(first: str, second: str, similarity: float | None = None) -> Compared:
    """Take two queries apart; a misspelt word counts as the word that it stands for."""
    one, two = words_of(first), words_of(second)
    misspelt = _misspelt(one, two)
    corrected = words_of(" ".join({wrong: right for right, wrong in misspelt}.get(word, word) for word in two.every))
    found = Compared(one, corrected, 0.0, misspelt)
    return found._replace(similarity=_guess(found) if similarity is None else similarity)


def _kinds(pair: Compared) -> tuple[Kind, ...]:
    """Apply the rules."""
    kinds = {Kind.MISSPELLING} if pair.misspelt else set()
    if pair.first.every != pair.second.every:
        kinds |= _of_same_meaning(pair) if pair.similarity >= SAME_MEANING or pair.misspelt else _of_other_meaning(pair)
    return tuple(sorted(kinds))


def _of_same_meaning(pair: Compared) -> set[Kind]:
    kinds = set()
    all_shared = pair.contained == 1
    asked = pair.one_is_a_question and pair.length_difference >= 2
    filled = all_shared and pair.content_difference <= 1 and pair.stop_words_differ and not pair.reordered
    if asked or filled:
        kinds.add(Kind.NATURALITY)
    if pair.overlap >= 0.5 and pair.length_difference <= 2 and pair.reordered:
        kinds.add(Kind.ORDERING)
    if pair.content_difference >= 3 or (all_shared and pair.content_difference >= 1 and not kinds):
        kinds.add(Kind.SPECIALISATION)
    return kinds or {Kind.PARAPHRASING}


def _of_other_meaning(pair: Compared) -> set[Kind]:
    if pair.contained > _CONTAINED:
        return {Kind.SPECIALISATION}
    near = pair.similarity >= FAR_APART
    return {Kind.SPECIALISATION} if near and pair.length_difference >= 2 else {Kind.ASPECT}


def _guess(pair: Compared) -> float:
    """Similarity from words alone."""
    if pair.contained == 1:
        return 1.0 if pair.content_difference <= 1 else SAME_MEANING - 0.05
    return 0.45 + 0.5 * pair.overlap


def _asks(words: Words) -> bool:
    return bool(words.every) and words.every[0] in _QUESTION_WORDS


def _in_order(words: Words, shared: set[str]) -> list[str]:
    return [stem for stem in dict.fromkeys(words.stems) if stem in shared]


def _misspelt(first: Words, second: Words) -> tuple[tuple[str, str], ...]:
    """Pairs of words, one in each query alone, that differ in one slip of a finger and are no inflection."""
    lost = [word for word, stem in zip(first.content, first.stems, strict=True) if stem not in second.stems]
    added = [word for word, stem in zip(second.content, second.stems, strict=True) if stem not in first.stems]
    found = []
    for word in dict.fromkeys(lost):
        slip = next((other for other in added if _one_slip(word, other)), None)
        if slip is not None:
            found.append((word, slip))
            added.remove(slip)
    return tuple(found)


def _one_slip(first: str, second: str) -> bool:
    """One character inserted, deleted, replaced, or two neighbours swapped, in words of four characters or more.

    A different end is more often an inflection that the stemmer does not know, and digits are meant.
    """
    if min(len(first), len(second)) < 4 or not (first + second).isalpha():
        return False
    start = next((place for place, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]), None)
    if start is None:
        return False
    one, two = first[start:], second[start:]
    swapped = len(one) > 1 and one[:2] == two[1::-1] and one[2:] == two[2:]
    replaced = len(one) > 1 and one[1:] == two[1:]
    return swapped or replaced or one[1:] == two or one == two[1:]
