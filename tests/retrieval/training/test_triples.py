from __future__ import annotations

import numpy as np
import pytest

from ringtrue.errors import InputError
from ringtrue.retrieval.training.triples import Triples, usable


def test_texts_are_numbered_once():
    triples = Triples.from_texts([("q", "a", "b"), ("r", "a", "c"), ("q", "c", "b")])
    assert triples.queries == ("q", "r")
    assert triples.documents == ("a", "b", "c")
    assert triples.rows.tolist() == [[0, 0, 1], [1, 0, 2], [0, 2, 1]]
    assert triples.texts(1) == ("r", "a", "c")
    assert len(triples) == 3


def test_the_fingerprint_knows_texts_and_order():
    first = Triples.from_texts([("q", "a", "b"), ("r", "a", "c")])
    assert first.fingerprint() == Triples.from_texts([("q", "a", "b"), ("r", "a", "c")]).fingerprint()
    for other in (
        [("r", "a", "c"), ("q", "a", "b")],
        [("q", "a", "b"), ("r", "a", "d")],
        [("q", "a", "b")],
        [("q", "\ud800", "b"), ("r", "a", "c")],
    ):
        assert first.fingerprint() != Triples.from_texts(other).fingerprint()


def test_blank_and_contradictory_triples_are_counted():
    triples = Triples.from_texts(
        [("q", "a", "b"), (" ", "a", "b"), ("q", "", "b"), ("q", "a", "\n"), ("q", "a", "a"), ("r", "b", "a")]
    )
    found = usable(triples)
    assert found.numbers.tolist() == [0, 5]
    assert found.notes == (
        "1 triples left out: they have a query without text (the first is triple 1)",
        "2 triples left out: they have a document without text (the first is triple 2)",
        "1 triples left out: they have the same document as relevant and as non-relevant (the first is triple 4)",
    )


def test_nothing_to_train_on():
    with pytest.raises(InputError, match="no triple can be used: there are none"):
        usable(Triples.from_texts([]))
    with pytest.raises(InputError, match="no triple can be used: 1 triples left out"):
        usable(Triples.from_texts([("", "a", "b")]))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0, 0, 1], [1, 0, 1]], "triple 1 names query 1, but there are 1"),
        ([[0, 0, 2]], "triple 0 names document 2, but there are 2"),
        ([[0, -1, 1]], "triple 0 names document -1"),
        ([[0, 1]], "rows of three numbers"),
    ],
)
def test_wrong_numbers(rows, message):
    with pytest.raises(InputError, match=message):
        usable(Triples(["q"], ["a", "b"], np.array(rows)))
