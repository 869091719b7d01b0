"""What is said of pairs in numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.retrieval.encoders import ENCODERS
from ringtrue.robustness.features import (
    SEMANTIC_FEATURES,
    STRING_FEATURES,
    Pair,
    change_of,
    semantic_features,
    string_features,
    words_of,
)

HASHING = ENCODERS.parse("hashing")


def features(original: str, variation: str) -> dict[str, float]:
    return dict(zip(STRING_FEATURES, string_features([Pair(original, variation)])[0].tolist(), strict=True))


def test_words_are_taken_apart():
    assert words_of("What's the Cost of Foxes?") == (
        ("what", "s", "the", "cost", "of", "foxes"),
        ("cost", "foxes"),
        ("cost", "fox"),
    )


def test_an_inflection_is_no_change():
    change = change_of(Pair("cost of the foxes", "costs of a fox"))
    assert change.lost == change.added == ()


def test_lost_and_added_words():
    found = features("cost of red foxes", "price of the foxes and")
    assert found["kept"] == pytest.approx(1 / 3)
    assert found["new"] == pytest.approx(1 / 2)
    assert found["longer"] == pytest.approx(np.log(6 / 5))
    assert found["dangling"] == 1.0


def test_ending_as_the_query_does_is_not_dangling():
    assert features("what are foxes made of", "what foxes are made of")["dangling"] == 0.0


def test_semantic_features_of_a_changed_word():
    kept, removed, swapped = semantic_features(
        [Pair("a red fox", "the red fox"), Pair("red fox", "fox"), Pair("red fox", "red dog")], HASHING
    )
    assert kept.tolist() == pytest.approx([1.0, 1.0, 0.0])
    assert removed[1] == 0.5
    assert swapped[1] == pytest.approx(float(HASHING.encode(["fox"])[0] @ HASHING.encode(["dog"])[0]), abs=1e-6)


@given(st.lists(st.tuples(st.text(), st.text()), max_size=4))
def test_any_text_gives_finite_numbers(pairs):
    given_pairs = [Pair(*pair) for pair in pairs]
    for found, names in (
        (string_features(given_pairs), STRING_FEATURES),
        (semantic_features(given_pairs, HASHING), SEMANTIC_FEATURES),
    ):
        assert found.shape == (len(pairs), len(names))
        assert np.isfinite(found).all()
