"""Misspellings that people make, and the two spellings of English."""

from __future__ import annotations

import pytest

from ringtrue.data.records import Query
from ringtrue.robustness.dice import Cup
from ringtrue.robustness.generators import GENERATORS
from ringtrue.robustness.generators.word_swap import WordSwap
from ringtrue.robustness.resources.misspellings import listed, ruled
from ringtrue.robustness.resources.spellings import others, pairs


def texts(spec: str, text: str, n: int = 1, seed: int = 1) -> tuple[str, ...]:
    (outcome,) = GENERATORS.parse(spec).vary_all([Query("q", text)], n, seed)
    return outcome.texts


def test_a_listed_mistake_comes_first():
    assert texts("RealMisspelling", "a separate thing") == ("a seperate thing",)
    assert texts("RealMisspelling", "a SEPARATE thing") == ("a SEPERATE thing",)
    many = texts("RealMisspelling", "the separate wattage", 9)
    assert many[0] == "the seperate wattage"
    assert "the separate watage" in many


def test_only_the_list_or_only_the_rules():
    assert texts("RealMisspelling:source=listed", "wattage") == ()
    assert texts("RealMisspelling:source=rules", "wattage", 9) == ("watage",)
    assert "seprate" in texts("RealMisspelling:source=rules", "separate", 9)


@pytest.mark.parametrize(
    ("word", "wrong"),
    [
        ("accommodate", "accomodate"),
        ("believe", "beleive"),
        ("receive", "recieve"),
        ("management", "managment"),
        ("existence", "existance"),
        ("visible", "visable"),
        ("grammar", "grammer"),
        ("science", "sience"),
        ("rhythm", "rythm"),
        ("independent", "independant"),
    ],
)
def test_the_rules_make_mistakes_that_are_known(word, wrong):
    assert wrong in ruled(word)


def test_the_rules_explain_much_of_the_list():
    explained = sum(any(one in ruled(word) for one in wrong) for word, wrong in listed().items())
    assert explained / len(listed()) > 0.25


def test_the_list_is_sound():
    assert len(listed()) > 800
    for word, wrong in listed().items():
        assert word.isalpha() and word.islower()
        assert word not in wrong and len(set(wrong)) == len(wrong) > 0


@pytest.mark.parametrize("word", ["a", "the", "маяк", "x1y2", ""])
def test_the_rules_leave_other_words_alone(word):
    assert ruled(word) == ()


def test_the_other_side_of_the_atlantic():
    assert texts("BritishAmerican", "the colour of the sea") == ("the color of the sea",)
    assert texts("BritishAmerican", "The Color of the sea") == ("The Colour of the sea",)
    assert texts("BritishAmerican", "organisations,") == ("organizations,",)
    assert set(texts("BritishAmerican", "gray colour", 9)) == {"grey colour", "gray color"}
    assert texts("BritishAmerican", "the sea") == ()


def test_each_spelling_belongs_to_one_side():
    assert len(pairs()) > 800
    assert set(pairs()).isdisjoint(pairs().values())
    assert len(set(pairs().values())) == len(pairs())
    assert all(others()[other] == word for word, other in others().items())


def test_the_forms_are_plain_words_as_the_quick_look_needs():
    assert all(form.isascii() and form.isalpha() and form.islower() for form in others())


@pytest.mark.parametrize(
    "text", ["(Colour) of money", "colour-blind people", "the theatre's plan", "grey", "", " ?! ", "a x", "coloür grey"]
)
def test_the_quick_look_changes_nothing(text):
    rule = GENERATORS.parse("BritishAmerican")
    (outcome,) = rule.vary_all([Query("q", text)], 3, 5)
    assert outcome == WordSwap.vary(rule, text, 3, Cup(repr(rule), 5).dice(text))
