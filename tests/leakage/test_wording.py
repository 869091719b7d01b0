from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.data.records import Query
from ringtrue.leakage.wording import (
    LEAK_FEATURES,
    TYPE_FEATURES,
    TopicWording,
    content_words,
    leak_features,
    type_features,
)

BEARS = Query(
    "1", "Black Bear Attacks", "how often do black bears attack people", "", ("bear attack", "bears attacking hikers")
)


def leak(query: str, text: str = "bear attack", similarity: float = 0.9, topic: Query = BEARS) -> dict[str, float]:
    return dict(zip(LEAK_FEATURES, leak_features(TopicWording.of(topic), query, text, similarity, 0.88), strict=True))


def kind(query: str, topic: Query = BEARS) -> dict[str, float]:
    return dict(zip(TYPE_FEATURES, type_features(TopicWording.of(topic), query), strict=True))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What are the attacks of Bears?", ("attack", "bear")),
        ("to be or not to be", ("to", "be", "or", "not")),
        ("U.S. gasoline tax", ("usa", "gasolin", "tax")),
        ("taxes in the United States of America", ("tax", "usa")),
        ("us u.k. united kingdom", ("usa", "uk")),
        ("three gorges", ("3", "gorg")),
        ("?!", ("?!",)),
        ("🐻", ("🐻",)),
        ("Ünited Nåtions", ("unit", "nation")),
        ("phở Việt Nam", ("pho", "viet", "nam")),
        ("мой дом", ("мой", "дом")),
    ],
)
def test_content_words(text: str, found: tuple[str, ...]):
    assert content_words(text) == found


def test_relations_to_the_title():
    assert kind("attacks by black bears")["equal"] == 1
    assert kind("black bears")["subset"] == 1
    assert kind("black bear attacks in alaska")["superset"] == 1
    assert kind("black bear atacks")["equal"] == 1  # a slip is not another word
    both = kind("grizzly bear attacks")
    assert (both["missing"], both["extra"], both["overlap"]) == (1, 1, 0.5)
    assert kind("black bear attacks")["letters"] == 1


def test_what_speaks_for_a_leak():
    found = leak("bear attack")
    # three texts and two that say nothing: "bear" and "attack" in all, "black" in one; one text is equal
    assert found["missing_weight"] == pytest.approx(1 / 5)
    assert found["texts_equal"] == pytest.approx(1 / 5)
    assert found["distance"] == pytest.approx(0.1 / 0.12)
    assert found["letters"] == 1
    more = leak("bear attack people montana")
    assert more["new_share"] == pytest.approx(1 / 4)
    assert more["known_extra"] == 1  # people, from the description
    assert more["texts_contained"] == pytest.approx(1 / 5)
    assert leak("what is a bear attack")["asks_meaning"] == 1
    assert leak("bear attack definition")["asks_meaning"] == 1
    assert leak("bear attack")["asks_meaning"] == 0


@pytest.mark.parametrize(
    "topic",
    [
        Query("1", "", "black bear attacks"),
        Query("1", " ", " ", "black bear attacks"),
        Query("1", "", "about bears", "", ("black bear attacks", "bears")),
    ],
)
def test_without_a_title_another_text_stands_for_it(topic: Query):
    assert TopicWording.of(topic).title == ("black", "bear", "attack")
    assert kind("black bears", topic)["subset"] == 1
    texts = max(len(topic.variants), 1) + 2
    assert leak("black bear attacks", topic=topic)["texts_equal"] == pytest.approx(1 / texts)


def test_distance_is_bounded():
    assert leak("x", similarity=-1)["distance"] == 4
    assert leak("x", similarity=1.0000002)["distance"] == 0


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_any_text_gives_finite_numbers(query: str, title: str, variant: str):
    topic = Query("1", title, "", "", (variant,))
    for value in (*leak(query, title, topic=topic).values(), *kind(query, topic).values()):
        assert -10 < value < 10
