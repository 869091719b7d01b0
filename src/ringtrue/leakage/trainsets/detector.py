"""Is any query near a test topic: the search of the leakage audit, over the queries of a training set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ringtrue.data.collection import Collection
from ringtrue.data.records import LogQuery
from ringtrue.leakage.search import Settings as SearchSettings
from ringtrue.leakage.search import search_log
from ringtrue.leakage.thresholds import check_threshold, default_threshold
from ringtrue.leakage.trainsets.records import Nearest


@dataclass(frozen=True)
class Detector:
    """Compares queries with each text of each topic; above the threshold is near."""

    test: Collection
    encoder: str
    threshold: float

    @classmethod
    def of(cls, test: Collection, encoder: str, threshold: float | None) -> Detector:
        """With the encoder's own threshold where none is given."""
        value = default_threshold(encoder).value if threshold is None else check_threshold(threshold)
        return cls(test, encoder, value)

    def near(self, queries: Mapping[str, str]) -> frozenset[str]:
        """Those queries, given as texts by id, that are near a topic."""
        found = search_log(self.test, _as_log(queries), self._settings).result
        return frozenset(candidate.query_id for candidate in found.candidates)

    def nearest(self, queries: Mapping[str, str]) -> tuple[Nearest, ...]:
        """For each topic the query that comes nearest, most similar first."""
        best: dict[str, Nearest] = {}
        for one in search_log(self.test, _as_log(queries), self._settings).neighbours:
            before = best.get(one.topic_id)
            if before is None or one.similarity > before.similarity:
                best[one.topic_id] = Nearest(one.topic_id, one.text, one.query, float(one.similarity))
        return tuple(sorted(best.values(), key=lambda one: (-one.similarity, one.topic_id)))

    @property
    def _settings(self) -> SearchSettings:
        return SearchSettings(self.encoder, self.threshold, k=1)


def _as_log(queries: Mapping[str, str]) -> Collection:
    return Collection.from_records("training queries", log=_entries(queries.items()))


def _entries(items: Iterable[tuple[str, str]]) -> Iterable[LogQuery]:
    return (LogQuery(query_id, text) for query_id, text in items)
