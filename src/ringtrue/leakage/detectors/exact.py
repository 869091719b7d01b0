"""The same text but for case, Unicode form, punctuation and spacing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ringtrue.data.records import Query
from ringtrue.leakage.detectors.detector import Hit, Log, TopicText, plain_words, topic_texts


@dataclass(frozen=True)
class Exact:
    """Equal after normalising."""

    def find(self, topics: Sequence[Query], log: Log) -> Iterator[Hit]:
        """Look each line up among the topics' texts."""
        known: dict[str, dict[str, TopicText]] = {}
        for text in topic_texts(topics):
            known.setdefault(" ".join(plain_words(text.text)), {}).setdefault(text.topic_id, text)
        for entry in log():
            texts = known.get(" ".join(plain_words(entry.text)))
            if texts:
                yield from (text.hit(entry) for text in texts.values())
