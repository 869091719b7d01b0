"""Measures over many rankings of one topic at once.

Each kernel takes `grades`, whose last axis is the rank (`UNJUDGED` where there is no judgment, `ABSENT` beyond the
last document), and `judged`, the grades of the topic's judgments: one list for all rankings, or lists whose leading
axes broadcast to those of `grades` where judgments differ, padded with `UNJUDGED`. It gives one value a ranking.
The definitions are trec_eval's, and that of ERR the TREC Web track's, whose program takes topics for numbers and gives
five digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from ir_measures import Measure
from numpy.typing import NDArray

from ringtrue.errors import InputError

Grades = NDArray[np.int32]
Values = NDArray[np.float64]
Kernel = Callable[[Measure, Grades, Grades], Values]

ABSENT: Final = np.iinfo(np.int32).min
UNJUDGED: Final = ABSENT + 1
_HIGHEST = 4  # the grade that satisfies a user for certain, or nearly so: of the track, not of the judgments at hand


def kernel(measure: Measure) -> Kernel | None:
    """The vectorised form of a measure, or None where ir_measures has to do it."""
    found = _KERNELS.get(str(measure.NAME))
    known = found is not None and all(name in _PARAMETERS for name in measure.params)
    if measure.NAME == "RBP" and "rel" not in measure.params:  # graded gains: providers differ in what they mean
        return None
    return found if known and _parameter(measure, "rel", 1) >= 1 else None


def depth(measure: Measure) -> int | None:
    """How many ranks a measure looks at; None for all of them."""
    return None if _parameter(measure, "judged_only", False) else _parameter(measure, "cutoff", None)


def condense(grades: Grades, *, negative: bool = True) -> Grades:
    """Move the judged documents of each ranking up, as if the others had not been retrieved.

    A negative grade is a judgment, unless `negative` is false: trec_eval takes it for none.
    """
    flat = grades.reshape(-1, grades.shape[-1])
    rows, ranks = np.nonzero(flat > UNJUDGED if negative else flat >= 0)
    condensed = np.full_like(flat, ABSENT)
    condensed[rows, _place_in_row(rows, len(flat))] = flat[rows, ranks]
    return condensed.reshape(grades.shape)


def _place_in_row(rows: NDArray[np.intp], number: int) -> NDArray[np.intp]:
    """For ascending row numbers the place of each among those of its row, from 0."""
    first = np.searchsorted(rows, np.arange(number))
    return np.asarray(np.arange(len(rows)) - first[rows])


_PARAMETERS = ("cutoff", "rel", "dcg", "judged_only", "mean", "p")


def _parameter(measure: Measure, name: str, default: Any) -> Any:  # noqa: ANN401
    """A parameter that was given, ir_measures' own default, or ours where it has none."""
    info = measure.SUPPORTED_PARAMS.get(name)
    inherited = getattr(info, "default", default)
    value = measure.params.get(name, inherited)
    return value if isinstance(value, int | str) else default


def _relevant(measure: Measure, grades: Grades) -> NDArray[np.bool_]:
    """Where a document within the cutoff is relevant."""
    found: NDArray[np.bool_] = grades[..., : _parameter(measure, "cutoff", None)] >= _parameter(measure, "rel", 1)
    return found


def _hits(measure: Measure, grades: Grades) -> Values:
    return np.asarray(_relevant(measure, grades).sum(axis=-1, dtype=np.float64))


def _number_relevant(measure: Measure, judged: Grades) -> Values:
    """How many relevant documents there are to find, 1 where there is none: what is divided by it is 0 then."""
    found = (judged >= _parameter(measure, "rel", 1)).sum(axis=-1, dtype=np.float64)
    return np.asarray(np.maximum(found, 1.0))


def _precision(measure: Measure, grades: Grades, judged: Grades) -> Values:
    return _hits(measure, grades) / float(measure["cutoff"])


def _recall(measure: Measure, grades: Grades, judged: Grades) -> Values:
    return _hits(measure, grades) / _number_relevant(measure, judged)


def _success(measure: Measure, grades: Grades, judged: Grades) -> Values:
    return np.minimum(_hits(measure, grades), 1.0)


def _average_precision(measure: Measure, grades: Grades, judged: Grades) -> Values:
    relevant = _relevant(measure, grades)
    rows, ranks = np.nonzero(relevant.reshape(-1, relevant.shape[-1]))
    number = relevant.size // relevant.shape[-1]
    sums = np.bincount(rows, weights=(_place_in_row(rows, number) + 1) / (ranks + 1), minlength=number)
    return sums.reshape(relevant.shape[:-1]) / _number_relevant(measure, judged)


def _first_rank(measure: Measure, grades: Grades) -> Values:
    """The rank of the first relevant document, infinite where there is none."""
    relevant = _relevant(measure, grades)
    return np.where(relevant.any(axis=-1), relevant.argmax(axis=-1) + 1.0, np.inf)


def _reciprocal_rank(measure: Measure, grades: Grades, judged: Grades) -> Values:
    return np.reciprocal(_first_rank(measure, grades))


def _mean_first_rank(measure: Measure, grades: Grades, judged: Grades) -> Values:
    return np.minimum(_first_rank(measure, grades), float(measure["cutoff"]) + 1.0)


def _rank_biased_precision(measure: Measure, grades: Grades, judged: Grades) -> Values:
    p = float(measure["p"])
    relevant = _relevant(measure, grades)
    return (1 - p) * (relevant @ p ** np.arange(relevant.shape[-1], dtype=np.float64))


def _judged_share(measure: Measure, grades: Grades, judged: Grades) -> Values:
    top = grades[..., : _parameter(measure, "cutoff", None)]
    retrieved = np.maximum((top > ABSENT).sum(axis=-1, dtype=np.float64), 1.0)
    return np.asarray((top > UNJUDGED).sum(axis=-1, dtype=np.float64) / retrieved)


def _ndcg(measure: Measure, grades: Grades, judged: Grades) -> Values:
    cutoff = _parameter(measure, "cutoff", None)
    exponential = _parameter(measure, "dcg", "log2") == "exp-log2"

    def gained(some: Grades) -> Values:
        positive = np.maximum(some, 0).astype(np.float64)
        gain = np.exp2(positive) - 1 if exponential else positive
        discount = np.log2(np.arange(2, some.shape[-1] + 2))
        total: Values = (gain / discount).sum(axis=-1)
        return total

    ideal = gained(np.sort(judged, axis=-1)[..., ::-1][..., :cutoff])
    return np.where(ideal > 0, gained(grades[..., :cutoff]) / np.where(ideal > 0, ideal, 1.0), 0.0)


def _expected_reciprocal_rank(measure: Measure, grades: Grades, judged: Grades) -> Values:
    """Chapelle et al. 2009: a user goes down the list and stops with a probability that the grade gives."""
    if judged.max(initial=0) > _HIGHEST:
        raise InputError(f"{measure} is for grades up to {_HIGHEST}, and one is {judged.max()}; take nDCG, or regrade.")
    top = np.maximum(grades[..., : _parameter(measure, "cutoff", None)], 0).astype(np.float64)
    stops = (np.exp2(top) - 1) / 2**_HIGHEST
    goes_on = np.cumprod(1 - stops, axis=-1) / (1 - stops)
    return np.asarray((goes_on * stops / np.arange(1, top.shape[-1] + 1)).sum(axis=-1))


_KERNELS: dict[str, Kernel] = {
    "nDCG": _ndcg,
    "P": _precision,
    "R": _recall,
    "AP": _average_precision,
    "RBP": _rank_biased_precision,
    "RR": _reciprocal_rank,
    "ERR": _expected_reciprocal_rank,
    "Success": _success,
    "Judged": _judged_share,
    "MFR": _mean_first_rank,
}
