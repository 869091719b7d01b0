"""The same words in any order and number, stemmed on request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ringtrue.data.records import Query
from ringtrue.leakage.detectors.detector import Hit, Log, TopicText, plain_words, topic_texts
from ringtrue.retrieval.analysis import Analyser, StemmerName

_FORMS = 1 << 16


@dataclass(frozen=True)
class Tokens:
    """Equal as sets of words; `stopwords` (`none`, `english` or a file) do not count, unless a text has no other."""

    stemmer: StemmerName = "none"
    stopwords: str = "none"

    def find(self, topics: Sequence[Query], log: Log) -> Iterator[Hit]:
        """Look each line's words up among the topics' texts; the first word that no topic has ends the search."""
        analyser = Analyser(self.stemmer, self.stopwords)
        stopped = analyser.stop_list()
        known: dict[frozenset[str], dict[str, TopicText]] = {}
        for text in topic_texts(topics):
            found = _content(text.text, stopped)
            known.setdefault(frozenset(map(analyser.stem(), found)), {}).setdefault(text.topic_id, text)
        stem, terms = analyser.stem(), frozenset(term for some in known for term in some)
        term_of = lru_cache(maxsize=_FORMS)(lambda word: term if (term := stem(word)) in terms else "")
        for entry in log():
            own = set()
            for word in _content(entry.text, stopped):
                if not (term := term_of(word)):
                    break
                own.add(term)
            else:
                yield from (text.hit(entry) for text in known.get(frozenset(own), {}).values())


def _content(text: str, stopped: frozenset[str]) -> list[str]:
    """The words that count."""
    found = plain_words(text)
    return [word for word in found if word not in stopped] or found if stopped else found
