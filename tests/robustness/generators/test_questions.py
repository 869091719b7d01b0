"""Questions to keywords and back."""

from __future__ import annotations

import pytest

from ringtrue.data.records import Query
from ringtrue.robustness.generators import GENERATORS


def texts(spec: str, text: str, n: int = 1) -> tuple[str, ...]:
    (outcome,) = GENERATORS.parse(spec).vary_all([Query("q", text)], n, 1)
    return outcome.texts


@pytest.mark.parametrize(
    ("question", "keywords"),
    [
        ("what is the daily life of thai people?", "daily life of thai people"),
        ("Who is Robert Gray", "Robert Gray"),
        ("do goldfish grow", "goldfish grow"),
        ("what is famvir prescribed for", "famvir prescribed"),
        ("how old is the earth", "earth age"),
        ("how long is the life cycle of a flea", "life cycle of a flea duration"),
        ("how much does a passport cost", "passport cost"),
        ("how many people live in rome", "number of people live in rome"),
        ("what does rsa mean", "rsa meaning"),
        ("where is mount etna located", "mount etna location"),
        ("when was the salvation army founded", "salvation army founded date"),
        ("why did the us enter ww1", "us enter ww1 reason"),
        ("how to tie a tie", "tie a tie"),
        ("define visceral?", "visceral"),
    ],
)
def test_a_question_loses_its_frame(question, keywords):
    assert texts("QuestionToKeyword", question) == (keywords,)


def test_then_the_word_for_what_was_asked_and_stop_words_go():
    assert texts("QuestionToKeyword", "how long is the life cycle of a flea", 9) == (
        "life cycle of a flea duration",
        "life cycle flea duration",
        "life cycle of a flea",
        "life cycle flea",
    )


@pytest.mark.parametrize("text", ["right pelvic pain causes", "what", "who is it", "wie ist das wetter", "маяк"])
def test_no_question_no_keywords(text):
    assert texts("QuestionToKeyword", text) == ()


@pytest.mark.parametrize(
    ("keywords", "question"),
    [
        ("right pelvic pain causes", "what causes right pelvic pain"),
        ("cost of interior concrete flooring", "how much does interior concrete flooring cost"),
        ("definition declaratory judgment", "what does declaratory judgment mean"),
        ("wifi vs bluetooth", "what is the difference between wifi and bluetooth"),
        ("types of dysarthria from palsy", "what are the types of dysarthria from palsy"),
        ("flu symptoms", "what are the symptoms of flu"),
        ("difference between rn and bsn", "what is the difference between rn and bsn"),
        ("mount etna location", "where is mount etna"),
        ("active margin", "what is active margin"),
        ("three percenters", "what are three percenters"),
        ("example of monotonic function", "what is the example of monotonic function"),
    ],
)
def test_keywords_become_a_question(keywords, question):
    assert texts("KeywordToQuestion", keywords) == (question,)


@pytest.mark.parametrize("text", ["do goldfish grow", "wifi or bluetooth?", "hydrogen is a liquid", "маяк", "灯台"])
def test_what_asks_already_stays(text):
    assert texts("KeywordToQuestion", text) == ()


def test_there_and_back():
    for text in ("daily life of thai people", "robert gray", "contour plowing"):
        (question,) = texts("KeywordToQuestion", text)
        assert texts("QuestionToKeyword", question) == (text,)
