"""Shared runs of words, as used to keep test data out of language models: 13 words in Brown et al. 2020 (GPT-3).

A text of fewer than n words has no run, and is found by none: 13 is made for documents and hardly ever met by queries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ringtrue.data.records import LogQuery, Query
from ringtrue.errors import InputError
from ringtrue.leakage.detectors.detector import Hit, Log, TopicText, plain_words, topic_texts

Run = tuple[str, ...]


@dataclass(frozen=True)
class NGrams:
    """Lines that share a run of n words with a topic's text, and at least this `share` of all its runs."""

    n: int = 13
    share: float = 0.0

    def find(self, topics: Sequence[Query], log: Log) -> Iterator[Hit]:
        """Look each line's runs up among those of the topics; the score is the part of the text's runs that it has."""
        if self.n < 1 or not 0 <= self.share <= 1:
            raise InputError(f"{self!r}: n must be at least 1, and share lie between 0 and 1.")
        texts = topic_texts(topics)
        runs = [set(self._runs(text.text)) for text in texts]
        known: dict[Run, list[int]] = {}
        for place, some in enumerate(runs):
            for run in sorted(some):
                known.setdefault(run, []).append(place)
        for entry in log():
            shared = [run for run in self._runs(entry.text) if run in known]
            if shared:
                counts = Counter(place for run in set(shared) for place in known[run])
                yield from self._hits(
                    entry, [(texts[place], counts[place] / len(runs[place])) for place in sorted(counts)]
                )

    def _runs(self, text: str) -> Iterable[Run]:
        """All runs of a text; it stops with the shortest list, the one that begins last."""
        found = plain_words(text)
        return zip(*(found[start:] for start in range(self.n)), strict=False) if len(found) >= self.n else ()

    def _hits(self, entry: LogQuery, scored: Iterable[tuple[TopicText, float]]) -> Iterable[Hit]:
        """The best text of each topic."""
        best: dict[str, Hit] = {}
        for text, score in scored:
            if score >= self.share and (text.topic_id not in best or score > best[text.topic_id].score):
                best[text.topic_id] = text.hit(entry, score)
        return best.values()
