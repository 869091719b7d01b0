"""Relevance judgments as integer-coded arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ringtrue.data.records import Qrel
from ringtrue.errors import InputError


@dataclass(frozen=True, eq=False)
class Qrels:
    """All judgments of a collection, sorted by topic and document; `topics` and `docs` ascend as text.

    Row i says that document `docs[doc[i]]` has grade `relevance[i]` for topic `topics[topic[i]]`.
    """

    topics: tuple[str, ...]
    docs: tuple[str, ...]
    topic: NDArray[np.int32]
    doc: NDArray[np.int32]
    relevance: NDArray[np.int32]

    @classmethod
    def from_records(cls, records: Iterable[Qrel]) -> Qrels:
        """Code records, ours or ir_measures'; a pair with two grades is an error, with one grade it counts once."""
        grades: dict[tuple[str, str], int] = {}
        for record in records:
            query_id, doc_id, relevance = record.query_id, record.doc_id, record.relevance
            before = grades.setdefault((query_id, doc_id), relevance)
            if before != relevance:
                raise InputError(f"topic {query_id!r}, document {doc_id!r} is judged both {before} and {relevance}.")
        topics = tuple(sorted({topic for topic, _ in grades}))
        docs = tuple(sorted({doc for _, doc in grades}))
        topic_code = {name: code for code, name in enumerate(topics)}
        doc_code = {name: code for code, name in enumerate(docs)}
        rows = np.array(
            sorted((topic_code[topic], doc_code[doc], grade) for (topic, doc), grade in grades.items()), dtype=np.int32
        ).reshape(-1, 3)
        return cls(topics, docs, rows[:, 0].copy(), rows[:, 1].copy(), rows[:, 2].copy())

    def __len__(self) -> int:
        """The number of judgments."""
        return len(self.relevance)

    def __iter__(self) -> Iterator[Qrel]:
        """The judgments, sorted by topic and document."""
        for topic, doc, grade in zip(self.topic.tolist(), self.doc.tolist(), self.relevance.tolist(), strict=True):
            yield Qrel(self.topics[topic], self.docs[doc], grade)

    @cached_property
    def by_topic(self) -> Mapping[str, Mapping[str, int]]:
        """Grades by topic and document."""
        found: dict[str, dict[str, int]] = {topic: {} for topic in self.topics}
        for query_id, doc_id, relevance in self:
            found[query_id][doc_id] = relevance
        return found

    def keep(self, rows: NDArray[np.bool_]) -> Qrels:
        """Only the marked judgments; topics and documents stay known, so that codes and means do not change."""
        return Qrels(self.topics, self.docs, self.topic[rows], self.doc[rows], self.relevance[rows])
