"""Learn from labels how likely a variation is to be valid: logistic regression, and how good it is on other queries.

The regression has few features, standardised, and one weight for each method, all drawn towards zero; a method that
was not seen has the weight of none. A logistic regression's probabilities are calibrated by what it minimises. Queries
are never split between what is learnt from and what is tested on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import rankdata

from ringtrue import cache
from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import Encoder
from ringtrue.robustness.features import SEMANTIC_FEATURES, STRING_FEATURES, Pair, semantic_features, string_features
from ringtrue.robustness.labels import Label
from ringtrue.robustness.text import key

Floats = NDArray[np.float64]
Kind = Literal["semantic", "strings"]

PENALTY = 4.0
FOLDS = 5
REPEATS = 20
# Labelled valid by the study's rule whenever they change anything: nothing can be learnt from them.
RULED_METHODS = ("NeighbCharSwap", "RandomCharSub", "QWERTYCharSub", "RmvStopWords", "RandOrderSwap")


@dataclass(frozen=True)
class Logistic:
    """A fitted regression: features are standardised by `means` and `scales`, methods add their own weight."""

    features: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    intercept: float
    methods: tuple[tuple[str, float], ...]

    def probabilities(self, features: Floats, methods: Sequence[str]) -> Floats:
        """How likely each row is to be valid."""
        known = dict(self.methods)
        own = np.array([known.get(method, 0.0) for method in methods])
        standard = (features - np.array(self.means)) / np.array(self.scales)
        found: Floats = expit(self.intercept + standard @ np.array(self.weights) + own)
        return found


class Examples(NamedTuple):
    """Labelled pairs as numbers."""

    features: Floats
    methods: tuple[str, ...]
    queries: tuple[str, ...]
    valid: NDArray[np.bool_]

    def take(self, rows: NDArray[np.bool_]) -> Examples:
        """Some of the rows."""
        kept = np.flatnonzero(rows).tolist()
        return Examples(
            self.features[rows],
            tuple(self.methods[row] for row in kept),
            tuple(self.queries[row] for row in kept),
            self.valid[rows],
        )


class Quality(NamedTuple):
    """How well probabilities fit labels: the spread is over repetitions, the interval over queries."""

    auc: float
    auc_spread: float
    auc_low: float
    auc_high: float
    auc_within_methods: float
    brier: float
    log_loss: float
    accuracy: float
    pairs: int
    valid: int
    queries: int


def judged_by_people(labels: Sequence[Label]) -> tuple[Label, ...]:
    """The labels that people gave to a changed query: neither copies nor what the study's rule labels."""
    return tuple(
        label
        for label in labels
        if label.variation.method not in RULED_METHODS
        and label.variation.variation is not None
        and key(label.variation.variation) != key(label.variation.original)
    )


def fingerprint(labels: Sequence[Label]) -> str:
    """A key for a set of labels, whatever their order."""
    return cache.key(sorted((*map(key, _pair(label)), label.variation.method, label.valid) for label in labels))


def _pair(label: Label) -> Pair:
    return Pair(label.variation.original, label.variation.variation or "")


def examples(labels: Sequence[Label], encoder: Encoder | None) -> Examples:
    """Labels as numbers, with an encoder's features or without."""
    pairs = [_pair(label) for label in labels]
    return Examples(
        string_features(pairs) if encoder is None else semantic_features(pairs, encoder),
        tuple(label.variation.method for label in labels),
        tuple(label.variation.query_id for label in labels),
        np.array([label.valid for label in labels], dtype=np.bool_),
    )


def fit(data: Examples, kind: Kind, penalty: float = PENALTY) -> Logistic:
    """The weights that give the labels the greatest likelihood, less half the penalty times their squares."""
    if data.valid.all() or not data.valid.any():
        raise InputError(f"{len(data.valid)} labels, all the same: nothing can be learnt from them.")
    means, scales = data.features.mean(axis=0), data.features.std(axis=0)
    scales = np.where(scales > 1e-9, scales, 1.0)
    methods = sorted(set(data.methods))
    own = np.array([[float(method == name) for name in methods] for method in data.methods])
    own -= 1 / len(methods)
    matrix = np.hstack(((data.features - means) / scales, own))
    found = _minimise(matrix, data.valid, penalty)
    weights, effects = found[1 : 1 + len(means)], found[1 + len(means) :]
    return Logistic(
        tuple(STRING_FEATURES) if kind == "strings" else SEMANTIC_FEATURES,
        tuple(means.tolist()),
        tuple(scales.tolist()),
        tuple(weights.tolist()),
        float(found[0]),
        tuple(zip(methods, (effects - effects.mean()).tolist(), strict=True)),
    )


def _minimise(matrix: Floats, valid: NDArray[np.bool_], penalty: float) -> Floats:
    """The intercept, which is free, and the penalised weights."""
    signs = np.where(valid, 1.0, -1.0)

    def loss(weights: Floats) -> tuple[float, Floats]:
        margin = signs * (matrix @ weights[1:] + weights[0])
        slope = -signs * expit(-margin)
        value = np.logaddexp(0, -margin).sum() + penalty * (weights[1:] ** 2).sum() / 2
        return float(value), np.concatenate(([slope.sum()], matrix.T @ slope + penalty * weights[1:]))

    best = minimize(loss, np.zeros(matrix.shape[1] + 1), jac=True, method="L-BFGS-B", options={"gtol": 1e-8})
    return np.asarray(best.x)


def cross_validate(data: Examples, kind: Kind, *, repeats: int = REPEATS, seed: int = 42) -> Quality:
    """Predict each query's pairs from the other queries', many times with other folds; figures are means."""
    drawn = [_held_out(data, kind, (seed, repeat)) for repeat in range(repeats)]
    outcomes = np.array([_scores(data, found) for found in drawn])
    return _quality(data, outcomes, np.mean(drawn, axis=0))


def quality(data: Examples, probabilities: Floats) -> Quality:
    """How well given probabilities fit the labels."""
    return _quality(data, np.array([_scores(data, probabilities)]), probabilities)


def _quality(data: Examples, outcomes: Floats, probabilities: Floats) -> Quality:
    auc, within, brier, log_loss, accuracy = outcomes.mean(axis=0).tolist()
    low, high = _interval(data, probabilities)
    return Quality(
        auc,
        float(outcomes[:, 0].std()),
        low,
        high,
        within,
        brier,
        log_loss,
        accuracy,
        len(data.valid),
        int(data.valid.sum()),
        len(set(data.queries)),
    )


def _interval(data: Examples, probabilities: Floats, replicates: int = 1000) -> tuple[float, float]:
    """The 95 % bootstrap interval of the area under the curve: whole queries are drawn."""
    names = sorted(set(data.queries))
    rows = {name: [row for row, query in enumerate(data.queries) if query == name] for name in names}
    rng = np.random.default_rng(0)
    areas = []
    for _ in range(replicates):
        chosen = np.concatenate([rows[names[place]] for place in rng.integers(0, len(names), len(names)).tolist()])
        areas.append(area_under_curve(data.valid[chosen], probabilities[chosen]))
    low, high = np.nanpercentile(areas, (2.5, 97.5)).tolist()
    return low, high


def _held_out(data: Examples, kind: Kind, seed: tuple[int, int]) -> Floats:
    """Each pair's probability by a model that has not seen its query.

    Where the other queries' labels are all the same nothing can be learnt from them but that.
    """
    names = sorted(set(data.queries))
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of = {names[place]: number % FOLDS for number, place in enumerate(order.tolist())}
    folds = np.array([fold_of[query] for query in data.queries])
    found = np.empty(len(folds))
    for fold in sorted(set(folds.tolist())):
        test = folds == fold
        rest, others = data.take(test), data.take(~test)
        if others.valid.all() or not others.valid.any():
            found[test] = float(others.valid.all())
        else:
            found[test] = fit(others, kind).probabilities(rest.features, rest.methods)
    return found


def _scores(data: Examples, found: Floats) -> tuple[float, float, float, float, float]:
    methods = np.array(data.methods)
    within = [area_under_curve(data.valid[methods == name], found[methods == name]) for name in sorted(set(methods))]
    right = np.clip(np.where(data.valid, found, 1 - found), 1e-12, 1)
    return (
        area_under_curve(data.valid, found),
        float(np.nanmean(within)) if not np.isnan(within).all() else float("nan"),
        float(((found - data.valid) ** 2).mean()),
        float(-np.log(right).mean()),
        float(((found >= 0.5) == data.valid).mean()),
    )


def area_under_curve(valid: NDArray[np.bool_], scores: Floats) -> float:
    """The chance that a valid pair scores above an invalid one, ties counting half; nan where one kind is missing."""
    yes = int(valid.sum())
    no = len(valid) - yes
    if not yes or not no:
        return float("nan")
    return float((rankdata(scores)[valid].sum() - yes * (yes + 1) / 2) / (yes * no))
