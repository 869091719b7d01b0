"""Which models change places by leakage, and whether what leakage changed between them is more than luck.

A test of either order alone would not tell: an order can be significant that leakage did not touch. So what is tested
is the change itself, topic by topic: the difference of two models with leakage less that without. The family is every
pair of models with every kind of leakage, not only those that were seen to swap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from ir_measures import Measure

from ringtrue.evaluation.correlation import round_scores
from ringtrue.evaluation.measures import direction
from ringtrue.evaluation.significance import PairedTest, holm, paired_t
from ringtrue.leakage.experiment.folds import Chosen, Floats
from ringtrue.leakage.experiment.result import ModelSwap

Choices = Mapping[tuple[Measure, str, str], Chosen]


class _Compared(NamedTuple):
    """Two models with one kind of leakage; better is positive."""

    kind: str
    ahead: str
    behind: str
    clean: PairedTest
    leaky: PairedTest
    change: PairedTest


def find_swaps(kinds: Sequence[str], models: Sequence[str], measure: Measure, chosen: Choices) -> list[ModelSwap]:
    """Pairs that leakage puts into the other order; p-values are corrected over all pairs of models and kinds."""
    pairs = list(_compared(kinds, models, measure, chosen))
    orders = [holm([getattr(one, side).p for one in pairs]) for side in ("clean", "leaky", "change")]
    return [
        ModelSwap(
            measure, one.kind, one.ahead, one.behind,
            one.clean.mean_difference, float(clean), one.leaky.mean_difference, float(leaky),
            one.change.mean_difference, float(change),
        )
        for one, clean, leaky, change in zip(pairs, *orders, strict=True)
        if round_scores(one.clean.mean_difference) > 0 > round_scores(one.leaky.mean_difference)
    ]  # fmt: skip


def _compared(kinds: Sequence[str], models: Sequence[str], measure: Measure, chosen: Choices) -> Iterator[_Compared]:
    """Every pair of models with every kind of leakage, the model that is ahead without leakage first."""
    sign = direction(measure)

    def gap(first: str, second: str, kind: str) -> Floats:
        values: Floats = sign * (chosen[measure, first, kind].values - chosen[measure, second, kind].values)
        return values

    for kind in (kind for kind in kinds if kind != "none"):
        for first, second in combinations(models, 2):
            ahead, behind = (second, first) if gap(first, second, "none").mean() < 0 else (first, second)
            clean, leaky = gap(ahead, behind, "none"), gap(ahead, behind, kind)
            nothing = np.zeros_like(clean)
            yield _Compared(
                kind, ahead, behind, paired_t(clean, nothing), paired_t(leaky, nothing), paired_t(leaky, clean)
            )
