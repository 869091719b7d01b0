"""How far annotators agree beyond chance: Cohen 1960 and 1968, Fleiss 1971, Krippendorff 2011.

Labels are any hashable values. A coefficient is nan where chance alone would always agree, that is where only one label
occurs: such labels cannot tell whether anyone agrees. Left out: intervals and tests, and agreement on sets of labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtrue.errors import InputError, UnknownNameError

Floats = NDArray[np.float64]
Weights = Literal["linear", "quadratic"]
Level = Literal["nominal", "ordinal", "interval", "ratio"]


def cohen_kappa(
    a: Sequence[Hashable],
    b: Sequence[Hashable],
    weights: Weights | None = None,
    categories: Sequence[Hashable] | None = None,
) -> float:
    """Cohen's kappa of two annotators who labelled the same items.

    With weights, a disagreement weighs the distance of the two labels in `categories` (default: the labels sorted),
    or its square.
    """
    if len(a) != len(b) or len(a) == 0:
        raise InputError(
            f"{len(a)} and {len(b)} labels: give one label of each annotator for each item, and some item."
        )
    if weights is not None and weights not in _POWERS:
        raise UnknownNameError("weighting of disagreements", weights, _POWERS)
    places = _places([*a, *b], categories, ordered=weights is not None)
    table = np.zeros((len(places), len(places)))
    np.add.at(table, ([places[label] for label in a], [places[label] for label in b]), 1 / len(a))
    distance = np.abs(np.subtract.outer(np.arange(len(places)), np.arange(len(places))))
    cost = (distance > 0) if weights is None else distance ** _POWERS[weights]
    chance = np.sum(cost * np.outer(table.sum(axis=1), table.sum(axis=0)))
    return float(1 - np.sum(cost * table) / chance) if chance > 0 else math.nan


def fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> float:
    """Fleiss' kappa of items that each got the same number of labels; a row holds the labels of one item."""
    places = _places((label for row in ratings for label in row), None, ordered=False)
    return fleiss_kappa_counts(_counts(ratings, places))


def fleiss_kappa_counts(counts: ArrayLike) -> float:
    """Fleiss' kappa from counts[items, categories]: how many annotators gave an item that label."""
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or len(table) == 0:
        raise InputError(f"counts have the shape {table.shape}; give one row for each item, one column for each label.")
    raters = table.sum(axis=1)
    uneven = np.flatnonzero((raters != raters[0]) | (raters < 2))
    if len(uneven):
        raise InputError(
            f"item {uneven[0]} has {raters[uneven[0]]:g} labels and item 0 has {raters[0]:g}; Fleiss' kappa needs the "
            "same number, at least two, for all: use Krippendorff's alpha."
        )
    agreed = np.mean((np.sum(table**2, axis=1) - raters) / (raters * (raters - 1)))
    chance = np.sum((table.sum(axis=0) / table.sum()) ** 2)
    return float((agreed - chance) / (1 - chance)) if np.count_nonzero(table.sum(axis=0)) > 1 else math.nan


def krippendorff_alpha(
    ratings: Sequence[Sequence[Hashable]],
    level: Level = "nominal",
    categories: Sequence[Hashable] | None = None,
) -> float:
    """Krippendorff's alpha; a row holds the labels of one item, in which None and nan are missing.

    Rows may differ in length; an item with fewer than two labels is left out. Interval and ratio labels are numbers,
    ordinal ones are ordered by `categories` (default: the labels sorted). nan also where no item has two labels.
    """
    if level not in _DISTANCES:
        raise UnknownNameError("level of measurement", level, _DISTANCES)
    rows = [[label for label in row if not _is_missing(label)] for row in ratings]
    paired = [row for row in rows if len(row) > 1]
    places = _places((label for row in paired for label in row), categories, ordered=level == "ordinal")
    counts = _counts(paired, places)
    weighted = counts / (counts.sum(axis=1, keepdims=True) - 1)
    coincidences = weighted.T @ counts - np.diag(weighted.sum(axis=0))
    totals = counts.sum(axis=0)
    distance = _DISTANCES[level](list(places), totals)
    chance = np.sum(distance * np.outer(totals, totals)) / max(totals.sum() - 1, 1)
    return float(1 - np.sum(distance * coincidences) / chance) if chance > 0 else math.nan


def _is_missing(label: Hashable) -> bool:
    """None, or the one kind of value that is not equal to itself."""
    return label is None or label != label


def _places(labels: Iterable[Hashable], categories: Sequence[Hashable] | None, *, ordered: bool) -> dict[Hashable, int]:
    """The place of each label: as `categories` say, sorted if order matters, else as they come."""
    met: list[Any] = list(dict.fromkeys(labels))
    if categories is not None:
        unknown = [label for label in met if label not in categories]
        if unknown:
            raise InputError(f"label {unknown[0]!r} is not among the categories {list(categories)!r}; add it there.")
        met = list(categories)
    elif ordered:
        try:
            met.sort()
        except TypeError as error:
            raise InputError(f"labels {met[:5]!r} have no order of their own; give `categories` in order.") from error
    return {label: place for place, label in enumerate(met)}


def _counts(ratings: Sequence[Sequence[Hashable]], places: Mapping[Hashable, int]) -> Floats:
    """How often each item (row) got each label (column)."""
    counts = np.zeros((len(ratings), len(places)))
    items = [item for item, row in enumerate(ratings) for _ in row]
    np.add.at(counts, (items, [places[label] for row in ratings for label in row]), 1)
    return counts


def _nominal(labels: list[Any], totals: Floats) -> Floats:
    """1 between any two labels."""
    return 1 - np.eye(len(labels))


def _ordinal(labels: list[Any], totals: Floats) -> Floats:
    """Square of how many given labels lie between two, half of those at the ends counted."""
    middle = np.cumsum(totals) - totals / 2
    return np.subtract.outer(middle, middle) ** 2


def _interval(labels: list[Any], totals: Floats) -> Floats:
    """Square of the difference."""
    values = _numbers(labels)
    return np.subtract.outer(values, values) ** 2


def _ratio(labels: list[Any], totals: Floats) -> Floats:
    """Square of the difference over the sum."""
    values = _numbers(labels)
    if (values < 0).any():
        raise InputError(f"label {values.min():g} is negative; on a ratio scale there is nothing below zero.")
    sums = np.add.outer(values, values)
    return (np.subtract.outer(values, values) / np.where(sums > 0, sums, 1)) ** 2


def _numbers(labels: list[Any]) -> Floats:
    """Labels as numbers."""
    try:
        return np.array([float(label) for label in labels])
    except (TypeError, ValueError) as error:
        raise InputError(f"labels {labels[:5]!r} are not numbers; use the nominal or the ordinal level.") from error


_POWERS: Mapping[str, int] = {"linear": 1, "quadratic": 2}
_DISTANCES: Mapping[str, Callable[[list[Any], Floats], Floats]] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
    "ratio": _ratio,
}
