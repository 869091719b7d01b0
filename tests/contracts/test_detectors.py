"""What holds for every lexical detector of the table."""

from __future__ import annotations

import random

import pytest

from ringtrue.data.records import LogQuery, Query
from ringtrue.leakage.detectors.catalog import DETECTORS
from ringtrue.leakage.detectors.detector import Detector

TOPICS = (
    Query("1", "black bear attacks", "how often do black bears attack people", "", ("bear attack", "bears attack")),
    Query("2", "wolf packs"),
)  # fmt: skip
LINES = [
    LogQuery("a", "Black Bear attacks"),
    LogQuery("b", "how often do black bears attack people"),
    LogQuery("c", "wolf packs"),
    LogQuery("d", "cheap flights to rome"),
    LogQuery("e", "wolf packs"),
]


@pytest.fixture(params=[*DETECTORS.names(), "ngrams:n=2"])
def detector(request: pytest.FixtureRequest) -> Detector:
    return DETECTORS.parse(request.param)


def test_hits_name_real_texts_and_lines_with_scores_up_to_one(detector: Detector):
    texts = {(topic.query_id, *text) for topic in TOPICS for text in topic.texts()}
    lines = {(line.query_id, line.text) for line in LINES}
    for hit in detector.find(TOPICS, lambda: LINES):
        assert hit[:3] in texts
        assert hit[3:5] in lines
        assert 0 < hit.score <= 1 + 1e-9


def test_each_topic_and_line_comes_once(detector: Detector):
    hits = [(hit.topic_id, hit.query_id) for hit in detector.find(TOPICS, lambda: LINES)]
    assert len(hits) == len(set(hits))


def test_the_same_text_is_found_unless_it_is_too_short(detector: Detector):
    hits = {(hit.topic_id, hit.query_id) for hit in detector.find(TOPICS, lambda: LINES)}
    if repr(detector) != "NGrams(n=13, share=0.0)":
        assert {("1", "b"), ("2", "c"), ("2", "e")} <= hits
    assert not any(query_id == "d" for _, query_id in hits)


def test_the_order_of_the_log_does_not_change_what_is_found(detector: Detector):
    shuffled = random.Random(1).sample(LINES, len(LINES))
    first, second = (sorted(detector.find(TOPICS, lambda lines=lines: lines)) for lines in (LINES, shuffled))
    assert first == second


def test_empty_logs_and_no_topics_give_nothing(detector: Detector):
    assert list(detector.find(TOPICS, list)) == []
    assert list(detector.find((), lambda: LINES)) == []
