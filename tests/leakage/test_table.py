from __future__ import annotations

import pytest

from ringtrue.leakage.candidates import Candidate
from ringtrue.leakage.table import (
    ALL_SOURCES,
    UNION,
    FieldCount,
    count_by_field,
    expected_leaks,
    expected_topics,
    list_topics,
)


def hit(
    topic_id: str, field: str, query_id: str, similarity: float, source: str = "", probability: float | None = None
) -> Candidate:
    return Candidate(
        topic_id=topic_id, field=field, text=f"{field} of {topic_id}", query_id=query_id, query=f"query {query_id}",
        similarity=similarity, type="", probability=probability, source=source,
    )  # fmt: skip


HITS = (
    hit("1", "title", "m1", 0.95, "msm"),
    hit("1", "variant", "m1", 0.97, "msm"),
    hit("1", "variant", "o1", 0.93, "orcas"),
    hit("2", "title", "o1", 0.92, "orcas"),
    hit("2", "description", "o2", 0.915, "orcas"),
    hit("3", "title", "o3", 0.91, "orcas"),
)


def test_each_field_counts_by_itself_and_the_union_once():
    counts = {(one.field, one.source): one[2:] for one in count_by_field(HITS, 0.91)}
    assert counts["title", ALL_SOURCES] == (2, 2, 2)
    assert counts["title", "msm"] == (1, 1, 1)
    assert counts["description", ALL_SOURCES] == (1, 1, 1)
    assert counts["variant", ALL_SOURCES] == (1, 2, 2)
    assert counts["variant", "orcas"] == (1, 1, 1)
    assert counts[UNION, "msm"] == (1, 1, 1)
    assert counts[UNION, "orcas"] == (2, 2, 3)  # o1 leaks two topics
    assert counts[UNION, ALL_SOURCES] == (2, 3, 4)
    assert list(dict.fromkeys(field for field, _ in counts)) == ["title", "description", "variant", UNION]


def test_a_threshold_is_strictly_greater_and_may_be_left_out():
    assert count_by_field(HITS, 0.96)[-1] == FieldCount(UNION, ALL_SOURCES, 1, 1, 1)
    assert count_by_field(HITS)[-1] == FieldCount(UNION, ALL_SOURCES, 3, 4, 5)


def test_one_source_or_none_needs_no_columns_of_its_own():
    assert {one.source for one in count_by_field(HITS[:2])} == {ALL_SOURCES}
    assert count_by_field([hit("1", "title", "q", 0.9)]) == (
        FieldCount("title", ALL_SOURCES, 1, 1, 1),
        FieldCount(UNION, ALL_SOURCES, 1, 1, 1),
    )
    assert count_by_field([]) == (FieldCount(UNION, ALL_SOURCES, 0, 0, 0),)


def test_topics_by_their_best_query():
    leaks = [
        hit("7", "title", "b", 0.95, probability=0.5),
        hit("7", "title", "a", 0.95, probability=0.25),
        hit("5", "variant", "c", 0.99, probability=1.0),
        hit("6", "title", "d", 0.95, probability=0.125),
    ]
    topics = list_topics(leaks)
    assert [(one.best.topic_id, one.best.query_id, one.queries, one.expected) for one in topics] == [
        ("5", "c", 1, 1.0),
        ("6", "d", 1, 0.125),
        ("7", "a", 2, 0.75),
    ]
    assert expected_leaks(leaks) == pytest.approx(1.875)
    assert expected_topics(leaks) == pytest.approx(1.0 + 0.125 + 0.5)


def test_expectations_need_every_probability():
    some = [hit("7", "title", "b", 0.95, probability=0.5), hit("7", "title", "a", 0.95)]
    assert (expected_leaks(some), expected_topics(some), list_topics(some)[0].expected) == (None, None, None)
    assert (expected_leaks([]), expected_topics([])) == (0, 0)
