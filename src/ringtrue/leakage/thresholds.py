"""The threshold of each encoder above which a training query counts as a candidate, and where it comes from.

Cosines of different encoders are not comparable: each has its own. `benchmarks/train_thresholds.py` finds them again.
An encoder that is not in the table needs a threshold given by the user, or labels and `calibrate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ringtrue.audit import Interval
from ringtrue.errors import InputError

_RULE = (
    "The lowest hundredth with a precision of at least .9 on the 827 pairs labelled by Fröbe et al. (SPIRE 2022), "
    "scored again as the best over title, description and variants."
)
_CAVEAT = (
    "These pairs had been chosen as near by another encoder (paraphrase-MiniLM-L6-v2, cosine of .90 or more), at most "
    "five for a topic; among all pairs above the threshold the precision may be lower."
)


@dataclass(frozen=True)
class Threshold:
    """A default with its precision on labelled pairs above it; `origin` says how it was found, for reports."""

    value: float
    origin: str
    true: int
    pairs: int
    interval: Interval

    @property
    def precision(self) -> float:
        """The share of true leaks among the labelled pairs above it."""
        return self.true / self.pairs


_TABLE: Mapping[str, Threshold] = {
    "minilm": Threshold(
        0.88,
        f"{_RULE} {_CAVEAT} In the built-in collection, where no encoder chose pairs, 100 of 102 above it are true.",
        true=649,
        pairs=719,
        interval=Interval(0.8695, 0.9281, 0.95, "Wilson"),
    ),
    "static": Threshold(
        0.89, f"{_RULE} {_CAVEAT}", true=597, pairs=658, interval=Interval(0.8699, 0.9347, 0.95, "Wilson")
    ),
    "hashing": Threshold(
        0.66, f"{_RULE} {_CAVEAT}", true=640, pairs=707, interval=Interval(0.8695, 0.9319, 0.95, "Wilson")
    ),
    "paraphrase-minilm-l6-v2": Threshold(
        0.91,
        "The threshold of Fröbe et al. (SPIRE 2022), the lowest with a precision of at least .9 on a stratified sample "
        "of 100 pairs above .8. On the pairs above it that they labelled later the precision is lower.",
        true=689,
        pairs=784,
        interval=Interval(0.8407, 0.9088, 0.95, "Wilson"),
    ),
}
_SAME = {"all-minilm-l6-v2": "minilm"}
_WITHOUT_EFFECT = ("precision=", "device=", "budget=")


def find_threshold(encoder: str) -> Threshold | None:
    """The default of an encoder as it is named on the command line, None where it has none."""
    name, _, rest = encoder.strip().partition(":")
    options = [one.strip() for one in rest.split(",") if one.strip() and not one.strip().startswith(_WITHOUT_EFFECT)]
    values = [one.partition("=")[2] or one for one in options]
    if name == "sbert" and values:
        name = values[0].replace("\\", "/").rstrip("/").rsplit("/", 1)[-1].lower()
    elif values and name != "minilm" and (name, values) != ("static", ["minilm"]):
        return None  # other dimensions, another model behind it: other similarities
    return _TABLE.get(_SAME.get(name, name))


def default_at(encoder: str, threshold: float | None) -> Threshold | None:
    """The default of an encoder where a search went by it, so that a report can say where it comes from."""
    found = find_threshold(encoder)
    return found if found is not None and found.value == threshold else None


def check_threshold(value: float) -> float:
    """A threshold that a cosine can be above or below."""
    if not -1 <= value <= 1:
        raise InputError(f"the threshold is {value:g}; a cosine lies between -1 and 1.")
    return value


def default_threshold(encoder: str) -> Threshold:
    """The default of an encoder; one that was never calibrated is an error that says what to do."""
    found = find_threshold(encoder)
    if found is None:
        raise InputError(
            f"encoder {encoder!r} has no calibrated threshold; give one (--threshold), or label a sample of its "
            f"candidates and calibrate it. Calibrated are {', '.join(_TABLE)}."
        )
    return found
