"""Queries and their variations on a plane, by meaning.

Principal components of an encoder's vectors. The study's code draws t-SNE of systems instead; that needs a seed, a
perplexity and a library of its own, and its distances mean nothing, whereas components need one decomposition and say
how much of the whole they show.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtrue.retrieval.encoders import Encoder
from ringtrue.robustness.similarity import name_of
from ringtrue.robustness.task import Task

ORIGINAL = "original query"


class Spot(NamedTuple):
    """A text on the map; its group is a category, or the original queries."""

    group: str
    text: str
    x: float
    y: float


class TextMap(NamedTuple):
    """All spots, the share of the variance that the map shows, and how many queries are not on it."""

    spots: tuple[Spot, ...]
    explained: float
    left_out: int
    encoder: str


def map_texts(task: Task, encoder: Encoder, most: int = 50) -> TextMap:
    """The first `most` queries of a task with their valid variations; the same text is encoded once."""
    shown = task.queries[:most]
    ids = {query.query_id for query in shown}
    texts = [(ORIGINAL, query.title) for query in shown]
    texts += [
        (slot.category, text)
        for slot, found in task.texts.items()
        for query_id, text in found.items()
        if query_id in ids
    ]
    places = {text: place for place, text in enumerate(dict.fromkeys(text for _, text in texts))}
    plane, explained = components(np.asarray(encoder.encode(list(places)), np.float64))
    spots = tuple(Spot(group, text, *plane[places[text]].tolist()) for group, text in dict.fromkeys(texts))
    return TextMap(spots, explained, len(task.queries) - len(shown), name_of(encoder))


def components(vectors: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """The rows on their first two principal components, and the share of the variance that these hold.

    The sign of a component is arbitrary: here the row that is furthest from the middle is on the positive side.
    """
    centred = vectors - vectors.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    plane = np.zeros((len(vectors), 2))
    kept = min(2, len(sizes))
    plane[:, :kept] = left[:, :kept] * sizes[:kept]
    furthest = plane[np.abs(plane).argmax(axis=0), [0, 1]]
    total = float((sizes**2).sum())
    explained = float((sizes[:kept] ** 2).sum()) / total if total else 1.0
    return np.round(plane * np.where(furthest < 0, -1.0, 1.0), 4), explained
