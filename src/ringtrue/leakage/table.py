"""The study's first table: how many topics and queries leak, by field of the topic and by source of the training query.

The study counts a pair under each field whose text is similar enough, so that fields overlap and their union is less
than their sum. That needs hits of every field; a list of candidates has only the field that won, and its fields add up
to the union.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ringtrue.leakage.candidates import Candidate

UNION = "union"
ALL_SOURCES = "all"
_FIELDS = ("title", "description", "narrative", "variant")


class FieldCount(NamedTuple):
    """One cell: distinct topics, distinct queries, and pairs of both."""

    field: str
    source: str
    topics: int
    queries: int
    pairs: int


class TopicLeaks(NamedTuple):
    """One topic: its most similar query, how many there are, and how many true leaks the probabilities add up to."""

    best: Candidate
    queries: int
    expected: float | None


def count_by_field(hits: Iterable[Candidate], threshold: float | None = None) -> tuple[FieldCount, ...]:
    """Count what is above a threshold, for each field and their union, for each source and all of them."""
    above = [hit for hit in hits if threshold is None or hit.similarity > threshold]
    known = {hit.field for hit in above}
    fields = [field for field in _FIELDS if field in known] + sorted(known.difference(_FIELDS))
    sources = sorted({hit.source for hit in above if hit.source})
    return tuple(
        _count(above, field, source)
        for field in (*fields, UNION)
        for source in ((*sources, ALL_SOURCES) if len(sources) > 1 else (ALL_SOURCES,))
    )


def _count(hits: Sequence[Candidate], field: str, source: str) -> FieldCount:
    chosen = [
        hit
        for hit in hits
        if (field == UNION or hit.field == field) and (source == ALL_SOURCES or hit.source == source)
    ]
    return FieldCount(
        field,
        source,
        len({hit.topic_id for hit in chosen}),
        len({hit.identity for hit in chosen}),
        len({(hit.topic_id, hit.identity) for hit in chosen}),
    )


def list_topics(leaks: Iterable[Candidate]) -> tuple[TopicLeaks, ...]:
    """Each topic that leaks, most similar first; equal similarities go by query id, topics by their own."""
    found: dict[str, list[Candidate]] = {}
    for leak in leaks:
        found.setdefault(leak.topic_id, []).append(leak)
    topics = [
        TopicLeaks(
            min(some, key=lambda leak: (-leak.similarity, leak.query_id)),
            len({leak.identity for leak in some}),
            expected_leaks(some),
        )
        for some in found.values()
    ]
    return tuple(sorted(topics, key=lambda topic: (-topic.best.similarity, topic.best.topic_id)))


def best_texts(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """One row for each topic and query, in order of first appearance: the most similar text, the first where equal."""
    best: dict[tuple[str, tuple[str, str, str]], Candidate] = {}
    for one in candidates:
        key = one.topic_id, one.identity
        if key not in best or one.similarity > best[key].similarity:
            best[key] = one
    return tuple(best.values())


def expected_leaks(leaks: Iterable[Candidate]) -> float | None:
    """The sum of the probabilities; None where one is missing."""
    probabilities = [leak.probability for leak in leaks]
    known = [probability for probability in probabilities if probability is not None]
    return sum(known) if len(known) == len(probabilities) else None


def expected_topics(leaks: Iterable[Candidate]) -> float | None:
    """How many topics leak at least, as the probabilities say; None where one is missing.

    Each topic counts with the highest probability of its candidates: these are no independent chances, since they are
    near to each other.
    """
    highest: dict[str, float] = {}
    for leak in leaks:
        if leak.probability is None:
            return None
        highest[leak.topic_id] = max(highest.get(leak.topic_id, 0.0), leak.probability)
    return sum(highest.values())
