"""The seam of the lexical detectors: topics and a log in, hits out.

A detector reads the log as a stream and keeps no more than the topics call for, however long the log is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from ringtrue.data.records import LogQuery, Query
from ringtrue.retrieval.analysis import words

# each call starts from the first line: `collection.log` is one
Log = Callable[[], Iterable[LogQuery]]


class Hit(NamedTuple):
    """A training query that a detector holds to be a topic's text; `score` is 1 where nothing is missing."""

    topic_id: str
    field: str
    text: str
    query_id: str
    query: str
    score: float


class TopicText(NamedTuple):
    """One text of a topic."""

    topic_id: str
    field: str
    text: str

    def hit(self, entry: LogQuery, score: float = 1.0) -> Hit:
        """The text as found in a line of a log."""
        return Hit(*self, entry.query_id, entry.text, score)


class Detector(Protocol):
    """Finds topics in a log; its `repr` names it in reports."""

    def find(self, topics: Sequence[Query], log: Log) -> Iterator[Hit]:
        """One hit for each topic and log line, with the text that fits best, the earlier of equal ones."""


def topic_texts(topics: Iterable[Query]) -> list[TopicText]:
    """All texts of all topics but narratives, in order; one that a topic has twice comes once."""
    found: dict[tuple[str, str], TopicText] = {}
    for topic in topics:
        for field, text in topic.texts():
            found.setdefault((topic.query_id, text), TopicText(topic.query_id, field, text))
    return list(found.values())


def plain_words(text: str) -> list[str]:
    """Words without case, punctuation and spacing, after Unicode's NFKC; a text without any word is one itself."""
    found = words(text) if text.isascii() else words(text.casefold())
    return found or text.casefold().split()
