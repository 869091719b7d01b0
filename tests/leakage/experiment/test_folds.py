from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.errors import InputError
from ringtrue.leakage.experiment.folds import cross_validate, make_folds


@given(st.integers(5, 40), st.integers(1, 5), st.sampled_from((1, -1)), st.integers(0, 99))
def test_choice_equals_a_plain_loop(topics: int, sizes: int, direction: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 4, (sizes, topics)) / 4
    fold = make_folds(topics, 5, seed)
    found = cross_validate(values, fold, direction)
    for number in range(5):
        inside = [topic for topic in range(topics) if fold[topic] == number]
        others = [topic for topic in range(topics) if fold[topic] != number]
        means = [direction * sum(values[size][topic] for topic in others) / len(others) for size in range(sizes)]
        best = max(means)
        chosen = found.places[number]
        assert means[chosen] == pytest.approx(best)
        assert all(mean < best - 1e-12 for mean in means[:chosen])
        assert [found.values[topic] for topic in inside] == [values[chosen][topic] for topic in inside]


def test_folds_are_even_and_the_seed_decides() -> None:
    fold = make_folds(52, 5, 1)
    assert sorted(np.bincount(fold)) == [10, 10, 10, 11, 11]
    assert (fold == make_folds(52, 5, 1)).all()
    assert (fold != make_folds(52, 5, 2)).any()
    with pytest.raises(InputError, match="4 topics cannot be cut into 5 folds"):
        make_folds(4, 5, 1)


def test_worked_by_hand() -> None:
    values = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    found = cross_validate(values, np.array([0, 0, 1, 1]), 1)
    # the first fold looks at the last two topics and takes the second size; the other one takes the first
    assert found.places == (1, 0)
    assert found.values.tolist() == [0.0, 0.0, 0.0, 0.0]


def test_sizes_that_are_level_but_for_rounding_are_equal() -> None:
    level = np.array([[0.0, 0.1, 0.2, 0.3, 0.4], [0.0, 0.2, 0.4, 0.3, 0.1]])
    fold = np.array([0, 1, 1, 1, 1])
    assert np.ptp(level[:, fold == 1].mean(axis=1)) > 0
    for values in (level, level[::-1].copy()):
        assert cross_validate(values, fold, 1).places[0] == cross_validate(values, fold, -1).places[0] == 0
