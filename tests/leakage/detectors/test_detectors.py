from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator

import bm25s
import numpy as np
import pytest

from ringtrue.data.records import LogQuery, Query
from ringtrue.errors import InputError
from ringtrue.leakage.detectors.bm25 import BM25
from ringtrue.leakage.detectors.detector import Detector, Hit, topic_texts
from ringtrue.leakage.detectors.exact import Exact
from ringtrue.leakage.detectors.ngrams import NGrams
from ringtrue.leakage.detectors.tokens import Tokens
from ringtrue.retrieval.analysis import Analyser

BEARS = Query(
    "1", "Black Bear Attacks!", "How often do black bears attack people in the United States?", "", ("bear attack",)
)


def log(*texts: str) -> Callable[[], list[LogQuery]]:
    return lambda: [LogQuery(f"q{place}", text) for place, text in enumerate(texts)]


def found(detector: Detector, *texts: str, topics: tuple[Query, ...] = (BEARS,)) -> list[str]:
    return [hit.query for hit in detector.find(topics, log(*texts))]


def test_exact_is_blind_to_case_punctuation_spacing_and_unicode_forms():
    assert found(Exact(), "black  bear-attacks", "BLACK BEAR ATTACKS", "attacks black bear", "black bear attack") == [
        "black  bear-attacks",
        "BLACK BEAR ATTACKS",
    ]
    street = (Query("2", "\uff33traße  \u2116\uff15"),)
    assert found(Exact(), "strasse no5", "STRASSE NO5", "strase no5", topics=street) == ["strasse no5", "STRASSE NO5"]
    assert found(Exact(), "🐻", "🐼", "", topics=(Query("3", "🐻"),)) == ["🐻"]


def test_exact_names_the_first_text_that_fits():
    hit = next(Exact().find([BEARS._replace(variants=("black bear attacks",))], log("black bear attacks")))
    assert hit == Hit("1", "title", "Black Bear Attacks!", "q0", "black bear attacks", 1.0)


def test_one_line_may_hit_several_topics():
    topics = (BEARS, Query("2", "bear ATTACK"))
    hits = list(Exact().find(topics, log("bear attack")))
    assert [(hit.topic_id, hit.field) for hit in hits] == [("1", "variant"), ("2", "title")]


def test_tokens_ignore_order_and_number_and_on_request_endings_and_stop_words():
    lines = ("attacks bear bear black", "black bears attack", "attacks of the black bear", "black bear attacks maine")
    assert found(Tokens(), *lines) == [lines[0]]
    assert found(Tokens("porter2"), *lines) == [lines[0], lines[1]]
    assert found(Tokens("porter2", "english"), *lines) == list(lines[:3])
    assert found(Tokens("none", "english"), "to be or not", topics=(Query("2", "to be not or"),)) == ["to be or not"]


def test_tokens_agree_with_plain_sets():
    rng = random.Random(0)
    words = ["bears", "bear", "attack", "attacked", "black", "the", "of", "maine"]
    topics = tuple(Query(str(place), " ".join(rng.choices(words, k=rng.randint(1, 4)))) for place in range(20))
    lines = log(*(" ".join(rng.choices(words, k=rng.randint(1, 5))) for _ in range(300)))
    analyser = Analyser("porter2")
    wanted = {
        (topic.query_id, line.query_id)
        for topic in topics
        for line in lines()
        if set(analyser.tokens(topic.title)) == set(analyser.tokens(line.text))
    }
    assert {(hit.topic_id, hit.query_id) for hit in Tokens("porter2").find(topics, lines)} == wanted


def test_ngrams_count_the_runs_of_the_topic():
    (hit,) = NGrams(3).find([BEARS], log("do black bears attack people or not"))
    # how often do black bears attack people in the united states: 9 runs of three words, of which 3 are shared
    assert (hit.field, hit.score) == ("description", pytest.approx(3 / 9))
    assert found(NGrams(3, share=0.5), "do black bears attack people or not") == []
    assert found(NGrams(2), "bear attack in maine", "attack bear") == ["bear attack in maine"]
    assert found(NGrams(3), "bear attack") == []


def test_thirteen_words_in_a_row():
    long = " ".join(f"w{place}" for place in range(15))
    topics = (Query("1", "short", long),)
    assert found(NGrams(), "x " + " ".join(long.split()[1:14]), " ".join(long.split()[:12]), topics=topics) == [
        "x " + " ".join(long.split()[1:14])
    ]


def test_ngrams_take_the_best_text_of_a_topic():
    topic = Query("1", "a b c d e f", "", "", ("a b c", "x a b c"))
    (hit,) = NGrams(3).find([topic], log("a b c"))
    assert (hit.text, hit.score) == ("a b c", 1.0)


def test_bm25_is_one_for_the_text_itself_and_orders_by_score_then_id():
    lines = ("bear attack maine", "bear attack", "bear", "cheap flights to rome", "the bear attack")
    hits = list(BM25(share=0.0).find([BEARS._replace(description="")], log(*lines)))
    assert [hit.query_id for hit in hits] == ["q1", "q4", "q0", "q2"]
    assert hits[0].score == hits[1].score == pytest.approx(1)
    assert found(BM25(share=0.99), *lines, topics=(BEARS._replace(description=""),)) == [lines[1], lines[4]]
    assert len(list(BM25(k=1, share=0.0).find([Query("1", "bear attack")], log(*lines)))) == 1


def test_bm25_against_bm25s():
    rng = random.Random(5)
    words = [f"w{place}" for place in range(30)]
    lines = log(*(" ".join(rng.choices(words, k=rng.randint(1, 8))) for _ in range(200)))
    query = "w1 w2 w2 w3"
    scores = {hit.query_id: hit.score for hit in BM25(k=1000, share=0.0).find([Query("1", query)], lines)}
    peer = bm25s.BM25(method="lucene", k1=0.9, b=0.4)
    peer.index([line.text.split() for line in lines()], show_progress=False)
    wanted = peer.get_scores(query.split())
    theirs = {line.query_id: float(score) for line, score in zip(lines(), wanted, strict=True) if score > 0}
    assert set(scores) == set(theirs)
    ratio = np.array([scores[key] / theirs[key] for key in scores])
    assert ratio == pytest.approx(ratio[0], rel=1e-5)


def test_bm25_keeps_the_best_k_whatever_the_blocks(monkeypatch: pytest.MonkeyPatch):
    rng = random.Random(7)
    words = [f"w{place}" for place in range(12)]
    lines = log(*(" ".join(rng.choices(words, k=rng.randint(1, 5))) for _ in range(400)))
    topics = [Query(str(place), " ".join(rng.sample(words, 3))) for place in range(4)]
    whole = list(BM25(k=7, share=0.1).find(topics, lines))
    everything = list(BM25(k=1000, share=0.1).find(topics, lines))
    best = [hit for topic in topics for hit in [one for one in everything if one.topic_id == topic.query_id][:7]]
    assert whole == best
    monkeypatch.setattr("ringtrue.leakage.detectors.bm25._BLOCK", 10)
    assert list(BM25(k=7, share=0.1).find(topics, lines)) == whole


def test_bad_options_are_named():
    for detector in (NGrams(0), NGrams(3, 2.0), BM25(k=0)):
        with pytest.raises(InputError, match="must be at least 1"):
            list(detector.find([BEARS], log("x")))


def test_texts_of_a_topic_come_once_in_order():
    topic = BEARS._replace(variants=("bear attack", "Black Bear Attacks!", "bear attack", ""))
    assert [text.field for text in topic_texts([topic])] == ["title", "description", "variant"]


def test_lines_of_any_kind_pass_through(every: Detector):
    lines = log("", "   ", "a" * 100_000, "bear " * 20_000, "🐻🐻", "שלום עולם", "日本の経済", "\t", "bear attack")
    hits = list(every.find([BEARS, Query("9", "日本の経済")], lines))
    assert all(0 < hit.score and math.isfinite(hit.score) for hit in hits)


@pytest.fixture(params=[Exact(), Tokens("porter2"), NGrams(2), BM25()], ids=repr)
def every(request: pytest.FixtureRequest) -> Iterator[Detector]:
    return request.param
