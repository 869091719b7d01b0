"""A predicted type of reformulation and a probability of being a true leak for every candidate.

Two small logistic models, trained on the labels of Fröbe et al. (SPIRE 2022): one tells true leaks from queries on a
different topic by the similarity and the wording beside all texts of the topic, the other tells the four types of true
leaks by the wording beside the title. Coefficients, how they were obtained and cross-validated figures are in
`reformulation.json`, which `benchmarks/train_reformulation.py` makes again. All labelled pairs had been found near by
an encoder (cosine of .90 or more): for pairs far below an encoder's threshold the probability is an extrapolation.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtrue.data.records import Query
from ringtrue.errors import InputError
from ringtrue.leakage.candidates import TYPES, Candidate
from ringtrue.leakage.wording import LEAK_FEATURES, TYPE_FEATURES, TopicWording, leak_features, type_features

Floats = NDArray[np.float64]


class Prediction(NamedTuple):
    """What the models say of one pair; `chances` are those of `TYPES`, in this order."""

    type: str
    probability: float
    chances: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class ReformulationModel:
    """Coefficients: one weight for each leak feature, and for each type feature one for each type of true leak."""

    leak_weights: Floats
    leak_intercept: float
    type_weights: Floats
    type_intercepts: Floats

    def predict(self, leak: Floats, kind: Floats) -> list[Prediction]:
        """Predict rows of features; a type's chance is the leak's probability times the share of the type."""
        probability = 1 / (1 + np.exp(-(leak @ self.leak_weights + self.leak_intercept)))
        logits = kind @ self.type_weights + self.type_intercepts
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        chances = np.column_stack((shares * probability[:, None], 1 - probability))
        best = chances.argmax(axis=1).tolist()
        return [
            Prediction(TYPES[place], float(chance), tuple(row))
            for place, chance, row in zip(best, probability, chances.tolist(), strict=True)
        ]


@cache
def shipped_model() -> ReformulationModel:
    """The model that comes with ringtrue."""
    content = json.loads(files("ringtrue.leakage").joinpath("reformulation.json").read_text(encoding="utf-8"))
    leak, kind = content["leak"], content["type"]
    assert tuple(leak["weights"]) == LEAK_FEATURES, "the model was trained on other features; train it again"
    assert tuple(kind["weights"]) == TYPE_FEATURES, "the model was trained on other features; train it again"
    return ReformulationModel(
        leak_weights=np.array(list(leak["weights"].values())),
        leak_intercept=leak["intercept"],
        type_weights=np.array(list(kind["weights"].values())),
        type_intercepts=np.array(kind["intercepts"]),
    )


def features(candidates: Sequence[Candidate], topics: Iterable[Query], threshold: float) -> tuple[Floats, Floats]:
    """Leak features and type features of some candidates; `threshold` is where their encoder is calibrated."""
    if not threshold < 1:
        raise InputError(f"the encoder's threshold is {threshold:g}; a cosine below 1 is expected.")
    needed = {one.topic_id for one in candidates}
    wordings = {topic.query_id: TopicWording.of(topic) for topic in topics if topic.query_id in needed}
    unknown = next((one for one in candidates if one.topic_id not in wordings), None)
    if unknown:
        raise InputError(
            f"candidate {unknown.query_id!r} is of topic {unknown.topic_id!r}, which is not among the topics given."
        )
    leak = [leak_features(wordings[one.topic_id], one.query, one.text, one.similarity, threshold) for one in candidates]
    kind = [type_features(wordings[one.topic_id], one.query) for one in candidates]
    return np.reshape(leak, (-1, len(LEAK_FEATURES))), np.reshape(kind, (-1, len(TYPE_FEATURES)))


def predict(
    candidates: Iterable[Candidate],
    topics: Iterable[Query],
    threshold: float,
    model: ReformulationModel | None = None,
) -> tuple[Candidate, ...]:
    """The candidates with type and probability.

    `threshold` is the one that the encoder is calibrated to, whatever the search used: similarities are read relative
    to it, so that any encoder will do.
    """
    given = tuple(candidates)
    found = (model or shipped_model()).predict(*features(given, topics, threshold))
    return tuple(
        candidate._replace(type=prediction.type, probability=prediction.probability)
        for candidate, prediction in zip(given, found, strict=True)
    )
