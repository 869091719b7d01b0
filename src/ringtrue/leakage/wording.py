"""How a query is worded beside the texts of a topic, in numbers that a small model can read.

Content words are compared after stemming, without function words and accents, with a few spellings made one (numbers,
dotted initials, the United States), and with misspelt or derived forms taken as the topic's own word. Left out:
meaning. That is the encoder's part, and comes in as one number.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from ringtrue.data.records import Query
from ringtrue.retrieval.analysis import Analyser, words

LEAK_FEATURES = (
    "distance",  # of the query from the nearest text, 1 at the encoder's threshold
    "asks_meaning",  # what is …, definition of …
    "missing_weight",  # title words that the query lacks, each weighing the share of texts that have it
    "new_share",  # of its words that no text of the topic has
    "texts_contained",  # share of texts all of whose words the query has
    "texts_equal",  # share of texts with just the query's words
    "letters",  # how alike query and nearest text are, letter by letter
    "known_extra",  # words that the title lacks and another text has
)
TYPE_FEATURES = (
    "equal", "subset", "superset", "overlap", "missing_share", "extra_share", "missing", "extra", "length", "letters",
    "near_words",
)  # fmt: skip

_FARTHEST = 4.0
_PRIOR_TEXTS = 2  # texts that are thought to say nothing, so that shares of few texts mean less
_ALIKE = 0.8
_SHORTEST_ALIKE = 4
_FUNCTION_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "
    "to was will with what how why who where when which whose does do did can could should would may might has have "
    "had been being from about its my your our his her i you we he she me them than so s am were any some all".split()
)
_SAME = {
    "us": "usa", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10",
}  # fmt: skip
_ACCENTS = re.compile("(?<=[a-z])[\u0300-\u036f]+")  # of Latin letters: in other scripts marks make other letters
_INITIALS = re.compile(r"\b(?:[a-z]\.){2,}")
_STATES = re.compile(r"\bunited states(?: of america)?\b")
_KINGDOM = re.compile(r"\bunited kingdom\b")
_stem = Analyser().stem()
_MEANING = re.compile(r"^(?:what|who)(?:'s|s| is| are| was| were)\b|\b(?:definition|meaning|define|defined|means?)\b")


@dataclass(frozen=True)
class TopicWording:
    """The words of a topic's texts, prepared once for all its candidates."""

    title: tuple[str, ...]
    texts: tuple[frozenset[str], ...]
    weights: dict[str, float]
    known: frozenset[str]

    @classmethod
    def of(cls, topic: Query) -> TopicWording:
        """Read the title and the variants as texts that people typed, the description as more words they mean.

        Without a title the first variant stands for it; where nobody typed anything, the description or narrative.
        """
        texts = [text for text in (topic.title, *topic.variants) if text.strip()]
        typed = [content_words(text) for text in texts or (topic.description.strip() or topic.narrative,)]
        counts = Counter(word for text in typed for word in text)
        weights = {word: count / (len(typed) + _PRIOR_TEXTS) for word, count in counts.items()}
        known = frozenset((*weights, *content_words(topic.description)))
        return cls(typed[0], tuple(map(frozenset, typed)), weights, known)


def leak_features(topic: TopicWording, query: str, text: str, similarity: float, threshold: float) -> list[float]:
    """The numbers of `LEAK_FEATURES`; `text` is the one that came nearest, `threshold` the encoder's own."""
    own = content_words(query)
    asked = frozenset(_folded(own, topic.weights))
    texts = len(topic.texts) + _PRIOR_TEXTS
    return [
        min(max(1 - similarity, 0.0) / (1 - threshold), _FARTHEST),
        float(bool(_MEANING.search(query.lower()))),
        sum(topic.weights[word] for word in topic.title if word not in asked),
        sum(word not in topic.known for word in asked) / len(asked),
        sum(words_of_text <= asked for words_of_text in topic.texts) / texts,
        sum(words_of_text == asked for words_of_text in topic.texts) / texts,
        dice(grams(" ".join(sorted(content_words(text)))), grams(" ".join(sorted(own)))),
        float(min(sum(word in topic.known for word in asked.difference(topic.title)), 3)),
    ]


def type_features(topic: TopicWording, query: str) -> list[float]:
    """The numbers of `TYPE_FEATURES`, all of them about the title."""
    asked = _folded(content_words(query), topic.weights)
    title, own = frozenset(topic.title), frozenset(asked)
    missing, extra = [word for word in topic.title if word not in own], own - title
    near = sum(max((dice(grams(one, 2), grams(other, 2)) for other in extra), default=0.0) for one in missing)
    return [
        float(title == own),
        float(own < title),
        float(own > title),
        len(title & own) / len(title | own),
        len(missing) / len(title),
        len(extra) / len(own),
        float(min(len(missing), 4)),
        float(min(len(extra), 4)),
        math.log((len(own) + 0.5) / (len(title) + 0.5)),
        dice(grams(" ".join(sorted(topic.title))), grams(" ".join(sorted(asked)))),
        near / len(title),
    ]


@lru_cache(maxsize=1 << 14)
def content_words(text: str) -> tuple[str, ...]:
    """The stems of a text's content words, each once; of all its words where none is one, or else the text itself."""
    plain = _INITIALS.sub(lambda found: found[0].replace(".", "") + " ", _without_accents(text.lower()))
    plain = _KINGDOM.sub("uk", _STATES.sub("usa", plain))
    found = [_SAME.get(word, word) for word in words(plain)]
    content = [_stem(word) for word in found if word not in _FUNCTION_WORDS] or [_stem(word) for word in found]
    return tuple(dict.fromkeys(content)) or (plain.strip(),)


def _without_accents(text: str) -> str:
    """Latin letters as people type them who have no accents at hand; all else in its usual form."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))


def _folded(own: Iterable[str], known: Collection[str]) -> list[str]:
    """Words that are nearly one of the topic's become that one; each comes once."""
    found = (word if word in known else next((one for one in known if _alike(word, one)), word) for word in own)
    return list(dict.fromkeys(found))


def _alike(a: str, b: str) -> bool:
    """Whether two words are the same but for a slip or an ending."""
    if min(len(a), len(b)) < _SHORTEST_ALIKE or a[0] != b[0] or abs(len(a) - len(b)) > _SHORTEST_ALIKE - 1:
        return False
    return SequenceMatcher(None, a, b, autojunk=False).ratio() >= _ALIKE


def grams(text: str, n: int = 3) -> frozenset[str]:
    """All runs of n letters, those at the ends with a blank."""
    padded = f" {text} "
    return frozenset(padded[start : start + n] for start in range(max(len(padded) - n + 1, 1)))


def dice(a: frozenset[str], b: frozenset[str]) -> float:
    """How alike two sets are, from 0 to 1."""
    return 2 * len(a & b) / (len(a) + len(b))
