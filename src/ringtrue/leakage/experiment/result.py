"""What an experiment found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ir_measures import Measure

from ringtrue.audit import Interval
from ringtrue.jobs import Failure
from ringtrue.leakage.experiment.plan import Plan
from ringtrue.leakage.trainsets.records import Trainsets


class Effect(NamedTuple):
    """A model trained with one kind of sets, cross-validated, against the same without leakage.

    `difference` is its value less that without leakage. p-values are None without leakage. `sizes` were chosen by the
    folds, in their order. `rank` is that among the models with this kind.
    """

    measure: Measure
    model: str
    kind: str
    value: float
    difference: float
    p: float | None
    p_bonferroni: float | None
    p_holm: float | None
    sizes: tuple[int, ...]
    rank: int


class ModelSwap(NamedTuple):
    """Two models whose order leakage turns; differences are those of `ahead` less `behind`, better is positive.

    `change` is the difference with leakage less that without.
    """

    measure: Measure
    kind: str
    ahead: str
    behind: str
    difference: float
    p_holm: float
    difference_leaked: float
    p_holm_leaked: float
    change: float
    p_holm_change: float

    def is_significant(self, alpha: float) -> bool:
        """Whether what leakage changed between the two is more than luck."""
        return self.p_holm_change < alpha


class SizePoint(NamedTuple):
    """The mean of a measure for one size, over leaked topics and over the others; seeds are averaged."""

    measure: Measure
    model: str
    kind: str
    size: int
    leaked: float | None
    low: float | None
    high: float | None
    others: float | None
    everything: float


class Spread(NamedTuple):
    """A mean over topics and the standard deviation between them."""

    mean: float
    sd: float


class Memory(NamedTuple):
    """How a model ranks what leaked, with and without leakage; `size` None is the mean over all sizes.

    `growth` is how much farther apart leakage puts leaked relevant and non-relevant documents, in ranks.
    """

    model: str
    kind: str
    size: int | None
    topics: int
    documents: int
    rank_without: Spread
    rank_with: Spread
    score_without: Spread
    score_with: Spread
    growth: Spread
    interval: Interval
    p: float


class CellCost(NamedTuple):
    """What one model's cells took, each on average."""

    model: str
    cells: int
    seconds: float
    triples_per_second: float
    loss: float
    device: str
    precision: str


class CellNote(NamedTuple):
    """What the training of one cell left out or did otherwise; of what is so in every cell the model alone is told."""

    model: str
    kind: str | None
    size: int | None
    seed: int | None
    what: str


@dataclass(frozen=True)
class ExperimentResult:
    """All findings; `missing` cells are not in them, and models with a gap that cannot be filled are `left_out`.

    `between_seeds` is the standard deviation of the first measure between trainings that differ in their seed alone;
    None where there is one seed.
    """

    plan: Plan
    trainsets: Trainsets
    topics: tuple[str, ...]
    leaked: tuple[str, ...]
    effects: tuple[Effect, ...]
    swaps: tuple[ModelSwap, ...]
    sizes: tuple[SizePoint, ...]
    memory: tuple[Memory, ...]
    between_seeds: float | None
    costs: tuple[CellCost, ...]
    first_stage: Mapping[Measure, float]
    missing: tuple[str, ...]
    failures: tuple[Failure, ...]
    left_out: tuple[str, ...]
    notes: tuple[CellNote, ...] = ()
