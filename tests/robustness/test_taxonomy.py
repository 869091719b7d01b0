"""Kinds of change between two queries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.retrieval.encoders import ENCODERS
from ringtrue.robustness.similarity import default_encoder
from ringtrue.robustness.taxonomy import Kind, classify, classify_all, compare


@pytest.mark.parametrize(
    ("first", "second", "kinds"),
    [
        ("carotid fistula treatment", "treatment carotid fistula", {Kind.ORDERING}),
        ("flowering plants history", "what is the history of flowering plants", {Kind.NATURALITY}),
        ("average donations in the us", "the average donations us", {Kind.NATURALITY}),
        ("pink slime", "pink slime school lunches", {Kind.SPECIALISATION}),
        ("recycle a car battery", "recycle a car batetry", {Kind.MISSPELLING}),
        ("wilson disease treatment", "treatment willson disease", {Kind.MISSPELLING, Kind.ORDERING}),
        ("windsor knot", "hair colour", {Kind.ASPECT}),
        ("same words", "Same, words", set()),
        ("", "", set()),
    ],
)
def test_kinds_without_an_encoder(first, second, kinds):
    assert set(classify(first, second)) == kinds


def test_meaning_tells_a_paraphrase_from_another_aspect():
    encoder = default_encoder()
    if encoder is None:
        pytest.skip("the packages of the extra `neural` are not installed")
    assert classify("raspberry pi cost", "raspberry pi price", encoder) == (Kind.PARAPHRASING,)
    assert classify("bald spot cures", "reasons for balding", encoder) == (Kind.ASPECT,)


@pytest.mark.parametrize(
    ("first", "second", "misspelt"),
    [
        ("lighthouse", "lihgthouse", True),
        ("lighthouse", "lightouse", True),
        ("lighthouse", "lightthouse", True),
        ("lighthouse", "lijhthouse", True),
        ("lighthouse", "lifeboat", False),
        ("lamp", "lamps", False),
        ("form", "from", False),
        ("cat", "bat", False),
        ("2008", "2009", False),
    ],
)
def test_one_slip_of_a_finger(first, second, misspelt):
    assert bool(compare(first, second).misspelt) == misspelt


@given(st.text(), st.text())
def test_any_two_texts_can_be_compared_either_way(first, second):
    forth, back = classify(first, second), classify(second, first)
    assert set(forth) == set(back)
    assert classify(first, first) == ()


def test_many_pairs_are_the_same_as_one_by_one():
    pairs = [("red fox", "the red foxes of spain"), ("a", "b"), ("red fox", "fox red")]
    hashing = ENCODERS.parse("hashing")
    assert classify_all(pairs, hashing) == [classify(*pair, hashing) for pair in pairs]
