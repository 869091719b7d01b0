"""Whether a variation still asks for the same thing.

What is no variation at all, what people labelled and what cannot change the meaning is decided without a model. For the
rest a logistic regression gives a probability. It was fitted to 187 labels of the study (variations of 43 TREC-DL-2019
queries by five methods): its figures on queries that it has not seen stand in `validity.json` beside its weights, and
are no better than such a number of labels allows. With the packaged encoder it sees meaning, without one words alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import Encoder
from ringtrue.robustness.calibration import Kind, Logistic, Quality
from ringtrue.robustness.features import Pair, semantic_features, string_features
from ringtrue.robustness.labels import Label, by_paper_names
from ringtrue.robustness.similarity import DEFAULT, Vocabulary, name_of
from ringtrue.robustness.text import key
from ringtrue.robustness.variations import Variation

THRESHOLD = 0.5
# A character, an order or a spelling that people read over, or what they wrote themselves, asks for the same thing.
SAFE_CATEGORIES = ("misspelling", "ordering", "spelling", "recorded")
SAFE_METHODS = ("RmvStopWords",)


class Basis(StrEnum):
    """What a decision rests on."""

    MISSING = "no variation"
    COPY = "the query itself"
    LABEL = "label"
    CONSTRUCTION = "construction"
    SEMANTIC = "model with an encoder"
    STRINGS = "model of words"


class Checked(NamedTuple):
    """A variation and whether it is valid; the probability is there where a model decided."""

    variation: Variation
    valid: bool
    basis: Basis
    probability: float | None = None
    similarity: float | None = None


@dataclass(frozen=True)
class Shipped:
    """A fitted regression with its figures."""

    kind: Kind
    model: Logistic
    quality: Quality
    fingerprint: str


def check(
    variations: Sequence[Variation],
    *,
    labels: Iterable[Label] = (),
    encoder: Encoder | None = None,
    threshold: float = THRESHOLD,
) -> tuple[Checked, ...]:
    """Decide for each variation, by the paper's names; labels come before all rules but that a copy is none.

    The model that sees meaning needs the packaged encoder: with another one the similarities are that encoder's and
    the probabilities are those of the model of words.
    """
    variations = [by_paper_names(variation) for variation in variations]
    known = {_identity(label.variation): label.valid for label in labels}
    _check_labels(variations, known)
    found = [_without_model(variation, known) for variation in variations]
    asked = [place for place, one in enumerate(found) if one is None]
    kind: Kind = "semantic" if encoder is not None and name_of(encoder) == DEFAULT else "strings"
    chances = probabilities([variations[place] for place in asked], kind, encoder)
    basis = Basis.SEMANTIC if kind == "semantic" else Basis.STRINGS
    for place, chance in zip(asked, chances, strict=True):
        found[place] = Checked(variations[place], chance >= threshold, basis, chance)
    decided = [one for one in found if one is not None]
    return tuple(decided) if encoder is None else _with_similarity(decided, encoder)


def _check_labels(variations: Sequence[Variation], known: Mapping[tuple[str, str, str], bool]) -> None:
    """Labels that are of no variation at all are those of other ones."""
    if known and variations and not any(_identity(variation) in known for variation in variations):
        labelled, first = next(iter(known)), _identity(variations[0])
        raise InputError(
            f"none of the {len(known):,} labels (query {labelled[0]}, {labelled[1]}, {labelled[2]!r}, …) is of one of "
            f"the {len(variations):,} variations (query {first[0]}, {first[1]}, {first[2]!r}, …); are these the labels "
            "of other variations?"
        )


def _without_model(variation: Variation, labels: Mapping[tuple[str, str, str], bool]) -> Checked | None:
    """What needs no model; None for the rest."""
    text = key(variation.variation or "")
    if not text:
        return Checked(variation, False, Basis.MISSING)
    if text == key(variation.original):
        return Checked(variation, False, Basis.COPY)
    if (label := labels.get(_identity(variation))) is not None:
        return Checked(variation, label, Basis.LABEL)
    name = variation.method.partition(":")[0]
    if variation.category in SAFE_CATEGORIES or name in SAFE_METHODS:
        return Checked(variation, True, Basis.CONSTRUCTION)
    return None


def _identity(variation: Variation) -> tuple[str, str, str]:
    return variation.query_id, variation.method, key(variation.variation or "")


def probabilities(variations: Sequence[Variation], kind: Kind, encoder: Encoder | None = None) -> list[float]:
    """How likely each is to be valid, by one of the shipped models."""
    pairs = [Pair(variation.original, variation.variation or "") for variation in variations]
    if not pairs:
        return []
    if kind == "semantic":
        assert encoder is not None, "the model that sees meaning needs an encoder"
        features = semantic_features(pairs, encoder)
    else:
        features = string_features(pairs)
    methods = [variation.method.partition(":")[0] for variation in variations]
    chances: list[float] = shipped(kind).model.probabilities(features, methods).tolist()
    return chances


def _with_similarity(checked: Sequence[Checked], encoder: Encoder) -> tuple[Checked, ...]:
    texts = [text for one in checked for text in _texts(one.variation)]
    vectors = Vocabulary(encoder, texts)
    return tuple(
        one if one.basis is Basis.MISSING else one._replace(similarity=vectors.similarity(*_texts(one.variation)))
        for one in checked
    )


def _texts(variation: Variation) -> tuple[str, str]:
    return variation.original, variation.variation or ""


@cache
def shipped(kind: Kind) -> Shipped:
    """The model that comes with the package."""
    content = json.loads(files("ringtrue.robustness").joinpath("validity.json").read_text(encoding="utf-8"))
    entry = content[kind]
    model = entry["model"]
    logistic = Logistic(
        tuple(model["features"]),
        tuple(model["means"]),
        tuple(model["scales"]),
        tuple(model["weights"]),
        model["intercept"],
        tuple(model["methods"].items()),
    )
    return Shipped(kind, logistic, Quality(**entry["quality"]), content["fingerprint"])
