"""Queries and variations on a plane."""

from __future__ import annotations

import numpy as np
import pytest
import toy

from ringtrue.retrieval.encoders import ENCODERS
from ringtrue.robustness.mapping import components, map_texts
from ringtrue.robustness.task import make_task


def test_points_on_a_plane_keep_their_distances():
    plane = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0], [3.0, 4.0], [1.0, 1.0]])
    turned, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(6, 6)))
    found, explained = components(np.hstack([plane, np.zeros((5, 4))]) @ turned + 7)
    assert explained == pytest.approx(1)
    before, after = (np.linalg.norm(some[:, None] - some[None], axis=2) for some in (plane, found))
    np.testing.assert_allclose(after, before, atol=1e-3)


def test_the_share_is_that_of_the_eigenvalues():
    vectors = np.random.default_rng(4).normal(size=(40, 6)) * [5, 4, 3, 2, 1, 1]
    values = np.sort(np.linalg.eigvalsh(np.cov(vectors.T)))[::-1]
    found, explained = components(vectors)
    assert explained == pytest.approx(values[:2].sum() / values.sum())
    np.testing.assert_allclose(found.var(axis=0, ddof=1), values[:2], rtol=1e-3)
    assert (found[np.abs(found).argmax(axis=0), [0, 1]] > 0).all()


@pytest.mark.parametrize("rows", [1, 2])
def test_one_or_two_texts_are_a_map_too(rows):
    found, explained = components(np.eye(4)[:rows])
    assert found.shape == (rows, 2) and np.isfinite(found).all() and explained == pytest.approx(1)


def test_all_ways_to_write_the_first_queries():
    task = make_task(toy.QUERIES, toy.COLLECTION.qrels.topics, toy.checked())
    encoder = ENCODERS.parse("hashing")
    found = map_texts(task, encoder, most=1)
    assert [(spot.group, spot.text) for spot in found.spots] == [
        ("original query", "red fox"),
        ("misspelling", "red fx"),
        ("misspelling", "re fox"),
        ("ordering", "fox red"),
        ("recorded", "snow fox"),
    ]
    assert (found.left_out, found.encoder) == (3, "hashing")
    assert map_texts(task, encoder, most=1) == found
