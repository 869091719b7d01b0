"""Cross-validation over topics: each fold's size of training set is the one that does best on the other folds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import InputError
from ringtrue.evaluation.correlation import round_scores

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Chosen(NamedTuple):
    """A value for each topic, with the size that its fold chose; `places` are those of the sizes, one a fold."""

    values: Floats
    places: tuple[int, ...]


def make_folds(topics: int, folds: int, seed: int) -> Ints:
    """The fold of each topic: topics in random order, dealt out one to each fold in turn."""
    if not 2 <= folds <= topics:
        raise InputError(
            f"{topics} topics cannot be cut into {folds} folds; give from 2 folds to one a topic (--folds)."
        )
    fold = np.empty(topics, np.int64)
    fold[np.random.default_rng(seed).permutation(topics)] = np.arange(topics) % folds
    return fold


def cross_validate(values: Floats, fold: Ints, direction: int) -> Chosen:
    """Values[sizes, topics] to one value a topic; a size without values is not chosen, of equal sizes the first is."""
    found = np.empty(values.shape[1])
    places = []
    for number in range(int(fold.max()) + 1):
        inside = fold == number
        means = round_scores(direction * values[:, ~inside].mean(axis=1))
        place = int(np.argmax(np.where(np.isnan(means), -np.inf, means)))
        found[inside] = values[place, inside]
        places.append(place)
    return Chosen(found, tuple(places))
