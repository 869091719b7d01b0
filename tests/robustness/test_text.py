"""What counts as the same query."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.robustness.text import cased, is_content, is_stop_word, key, like, unwrap


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Do goldfish grow?", "do goldfish  grow"),
        ("cost-effective", "Cost Effective"),
        ("STRASSE", "straße"),
        ("«маяк»", "МАЯК"),
        ("灯台。", "灯台"),
        ("", " ?! "),
    ],
)
def test_case_gaps_and_punctuation_do_not_count(text, other):
    assert key(text) == key(other)


@pytest.mark.parametrize(("text", "other"), [("blue tooth", "bluetooth"), ("a b", "b a"), ("में", "म"), ("é", "e")])
def test_all_else_does(text, other):
    assert key(text) != key(other)


@given(st.text())
def test_a_key_is_its_own_key(text):
    assert key(key(text)) == key(text)
    assert key(f" {text.upper()} ").casefold() == key(text.upper())


@given(st.text(alphabet=st.characters(exclude_categories=["Zs", "Cc"]), min_size=1))
def test_unwrapping_loses_nothing(token):
    assert "".join(unwrap(token)) == token


def test_words_that_may_be_changed():
    assert [token for token in "What 's x of, the Sea; a-b 42 ?!".split() if is_content(token)] == ["Sea;", "a-b", "42"]
    assert is_stop_word("Don't") and is_stop_word("don\u2019t") and is_stop_word("(the)")


def test_written_as_the_query_is():
    assert like("goldfish", "Do Goldfish  grow? ") == "do goldfish grow"
    assert like("Goldfish?", "Do goldfish grow?") == "Do goldfish grow?"
    assert like("goldfish?", "Do goldfish grow?") == "do goldfish grow?"
    assert like("", "X.") == "x."


def test_in_the_case_of_another_word():
    assert [cased("Auto", word) for word in ("car", "CAR", "Car", "cAR", "A")] == [
        "auto",
        "AUTO",
        "Auto",
        "Auto",
        "Auto",
    ]
