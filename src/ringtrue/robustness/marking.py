"""Which differences are marked: a paired test, and a correction over the family of tests in one printed row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtrue.evaluation.significance import PairedTest, bonferroni, holm, paired_permutation, paired_t

Floats = NDArray[np.float64]

_TESTS: Mapping[str, Callable[[ArrayLike, ArrayLike], PairedTest]] = {"t": paired_t, "permutation": paired_permutation}
_CORRECTIONS: Mapping[str, Callable[[ArrayLike], Floats]] = {"bonferroni": bonferroni, "holm": holm}


@dataclass(frozen=True)
class Marking:
    """How differences are tested."""

    test: Literal["t", "permutation"] = "t"
    correction: Literal["bonferroni", "holm"] = "bonferroni"

    def paired(self, first: Floats, second: Floats) -> PairedTest | None:
        """Test the differences; None where there is nothing to test."""
        return _TESTS[self.test](first, second) if len(first) else None

    def corrected(self, tests: Sequence[PairedTest | None]) -> list[float]:
        """The adjusted p-values of one family."""
        found: list[float] = _CORRECTIONS[self.correction]([p_of(test) for test in tests]).tolist()
        return found

    @property
    def words(self) -> str:
        """For notes below tables."""
        test = {"t": "paired t-tests", "permutation": "paired permutation tests"}[self.test]
        return f"{test}, {self.correction.capitalize()}'s correction"


STUDY = Marking()


def p_of(test: PairedTest | None) -> float:
    """A test's p; nan where there was none."""
    return float("nan") if test is None else test.p
