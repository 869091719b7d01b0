from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.retrieval.training.batching import count_updates, epoch_updates, pairs_of, updates_from


def test_both_documents_of_a_query_are_side_by_side():
    assert pairs_of(np.array([[7, 1, 2], [8, 3, 4]])).tolist() == [[7, 1], [7, 2], [8, 3], [8, 4]]


@given(st.lists(st.integers(1, 300), min_size=1, max_size=400), st.integers(1, 40), st.integers(0, 3))
def test_an_epoch_has_every_triple_once(lengths, size, epoch):
    updates = epoch_updates(np.array(lengths), size, seed=3, epoch=epoch)
    assert sorted(np.concatenate(updates).tolist()) == list(range(len(lengths)))
    assert len(updates) == count_updates(len(lengths), size)
    assert sorted(map(len, updates), reverse=True)[:-1] == [size] * (len(updates) - 1)


def test_updates_have_similar_lengths_and_come_in_no_order_of_length():
    lengths = np.random.default_rng(1).integers(10, 500, 5_000)
    updates = epoch_updates(lengths, 16, seed=1, epoch=0)
    wasted = sum(len(one) * lengths[one].max() - lengths[one].sum() for one in updates) / lengths.sum()
    shuffled = np.split(np.random.default_rng(1).permutation(len(lengths))[:4_992], 312)
    naive = sum(len(one) * lengths[one].max() - lengths[one].sum() for one in shuffled) / lengths.sum()
    assert wasted < 0.05 < 0.5 < naive
    means = np.array([lengths[one].mean() for one in updates])
    assert abs(np.corrcoef(np.arange(len(means)), means)[0, 1]) < 0.15


def test_epochs_and_seeds_differ_and_the_same_seed_does_not():
    lengths = np.arange(100)
    first = [one.tolist() for one in epoch_updates(lengths, 8, 1, 0)]
    assert first == [one.tolist() for one in epoch_updates(lengths, 8, 1, 0)]
    assert first != [one.tolist() for one in epoch_updates(lengths, 8, 1, 1)]
    assert first != [one.tolist() for one in epoch_updates(lengths, 8, 2, 0)]


def test_going_on_in_the_middle_gives_the_rest():
    lengths = np.random.default_rng(2).integers(1, 50, 45)
    whole = [(step, one.tolist()) for step, one in updates_from(0, lengths, 8, 7, 3)]
    assert [step for step, _ in whole] == list(range(18))
    for start in (1, 5, 6, 7, 17, 18):
        assert [(step, one.tolist()) for step, one in updates_from(start, lengths, 8, 7, 3)] == whole[start:]
