"""Does leakage change what the runs say: systems on leaked and on clean topics, and their order without the leaked.

Leaked and clean topics are different topics, so that a plain difference also shows which of them are harder. Held
against a reference (another system, or the mean of all), what is hard for all systems cancels out. What remains may
still have another cause than training: leaked topics are often the popular ones. Whether the order changes by more
than it would without as many other topics is told by leaving out random ones.

Left out: anything that needs training, as the study's models with and without leaked queries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from ir_measures import Measure, nDCG
from ir_measures.measures.base import SumAgg
from numpy.typing import NDArray

from ringtrue.audit import Interval
from ringtrue.data.qrels import Qrels
from ringtrue.data.runs import RunSet
from ringtrue.errors import InputError, UnknownNameError
from ringtrue.evaluation.correlation import bulk_tau_ap_b, bulk_tau_b, round_scores
from ringtrue.evaluation.measures import direction, evaluate
from ringtrue.evaluation.significance import bulk_paired_t, bulk_welch_t, holm
from ringtrue.leakage.result import Impact, OrderChange, Swap, SystemImpact

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]

FEWEST_TOPICS = 5
FEWEST_DRAWS, DRAWS_PER_SYSTEM = 2_000, 100  # with fewer for each system none could pass Holm's first step
MEAN_OF_ALL = "the mean of all systems"
_MEANS: Mapping[str, tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]] = {
    "arithmetic": (np.asarray, np.asarray),
    "geometric": (np.log, np.exp),
    "harmonic": (np.reciprocal, np.reciprocal),
}
_EQUAL = 1e-12  # a random draw that gives the same value in another order of adding must count as a tie


def measure_impact(
    runs: RunSet,
    qrels: Qrels,
    leaked_topics: Collection[str],
    *,
    measure: Measure = nDCG @ 10,
    reference: str | None = None,
    searched: Collection[str] | None = None,
    replicates: int = 10_000,
    permutations: int | None = None,
    seed: int = 42,
) -> Impact:
    """Compare leaked with clean topics; `reference` names a run, without one it is the mean of all systems.

    Where it is known which topics were `searched` for, the others are neither clean nor leaked, and left out. With
    fewer than five leaked or five clean topics among the judged ones nothing is compared. There are 2,000 random draws
    of topics (`permutations`), or 100 for each system where that is more.
    """
    if permutations is None:
        permutations = max(FEWEST_DRAWS, DRAWS_PER_SYSTEM * len(runs))
    if reference is not None and reference not in runs.names:
        raise UnknownNameError("reference run", reference, runs.names)
    if replicates < 1 or permutations < 1:
        raise InputError(f"{replicates} replicates and {permutations} permutations; at least one of each is needed.")
    _check_mean(measure)
    values = evaluate(runs, qrels, [measure]).of(measure)
    chosen = set(leaked_topics)
    known = chosen.union(qrels.topics if searched is None else searched)
    topics = [topic for topic in qrels.topics if topic in known]
    values = values[:, [topic in known for topic in qrels.topics]]
    leaked = np.array([topic in chosen for topic in topics], dtype=np.bool_)
    compared = _Compared(runs.names, values, leaked, measure, reference, (replicates, permutations, seed))
    enough = min(leaked.sum(), (~leaked).sum()) >= FEWEST_TOPICS
    return Impact(
        measure=measure,
        higher_is_better=compared.sign > 0,
        reference=reference or MEAN_OF_ALL,
        leaked=tuple(topic for topic in topics if topic in chosen),
        clean=tuple(topic for topic in topics if topic not in chosen),
        unsearched=tuple(topic for topic in qrels.topics if topic not in known),
        not_judged=tuple(sorted(chosen.difference(qrels.topics))),
        systems=_systems(compared) if enough else (),
        order=_order(compared) if enough and len(runs) > 1 else None,
        settings={
            "measure": str(measure),
            "ties": runs.ties.rule,
            "reference": reference or MEAN_OF_ALL,
            "systems": len(runs),
            "replicates": replicates,
            "permutations": permutations,
            "seed": seed,
        },
    )


@dataclass(frozen=True, eq=False)
class _Compared:
    """All systems (rows) on all judged topics (columns), of which some are leaked."""

    names: tuple[str, ...]
    values: Floats
    leaked: Masks
    measure: Measure
    reference: str | None
    draws: tuple[int, int, int]

    @property
    def sign(self) -> int:
        """Times which a score is the better the higher it is."""
        return direction(self.measure)

    @cached_property
    def on_scale(self) -> Floats:
        """The values as the measure's mean adds them up."""
        return self._mean[0](self.values)

    @property
    def _mean(self) -> tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]:
        """To the scale on which the measure takes its mean, and back."""
        return _MEANS[self.measure["mean"] if self.measure.NAME == "MFR" else "arithmetic"]

    @cached_property
    def all(self) -> Floats:
        """Each system's score over all topics."""
        return self.scores(np.ones_like(self.leaked)[None]).ravel()

    @cached_property
    def clean(self) -> Floats:
        """Each system's score over the clean topics."""
        return self.scores(~self.leaked[None]).ravel()

    @cached_property
    def differences(self) -> Floats:
        """Each system's score over the leaked topics less that over the clean ones."""
        return self.scores(self.leaked[None]).ravel() - self.clean

    @cached_property
    def random_topics(self) -> Masks:
        """As many topics as are leaked, at random, a draw a row; the order of random numbers is a random order."""
        _, permutations, seed = self.draws
        order = np.random.default_rng(seed).random((permutations, len(self.leaked))).argsort(axis=1)
        return np.asarray(order < self.leaked.sum())

    @cached_property
    def random_clean(self) -> Floats:
        """The scores (draw, system) without the random topics."""
        return self.scores(~self.random_topics)

    @cached_property
    def resampled_differences(self) -> Floats:
        """Differences (replicate, system) where leaked and clean topics are each drawn anew from their own."""
        replicates, _, seed = self.draws
        rng = np.random.default_rng([seed, 1])  # a stream of its own beside that of the random topics
        sides = []
        for side in (np.flatnonzero(self.leaked), np.flatnonzero(~self.leaked)):
            counts = np.zeros((replicates, len(self.leaked)), dtype=np.int64)
            counts[:, side] = rng.multinomial(len(side), np.full(len(side), 1 / len(side)), size=replicates)
            sides.append(self.scores(counts))
        return sides[0] - sides[1]

    def scores(self, counts: NDArray[np.integer] | Masks) -> Floats:
        """Scores (draw, system) by the measure's own mean, where a draw (row) has each topic so many times."""
        return self._mean[1](counts @ self.on_scale.T / counts.sum(axis=1, keepdims=True))

    def relative(self, differences: Floats) -> Floats:
        """Differences (draw, system) less those of the reference."""
        if self.reference is None:
            return np.asarray(differences - differences.mean(axis=1, keepdims=True))
        return np.asarray(differences - differences[:, [self.names.index(self.reference)]])


def _check_mean(measure: Measure) -> None:
    """A sum over topics cannot be compared between more and fewer topics."""
    if isinstance(measure.aggregator(), SumAgg):
        raise InputError(f"{measure} is a sum over topics, and leaked and clean topics differ in number; take a mean.")


def _systems(compared: _Compared) -> tuple[SystemImpact, ...]:
    """One row a system, best over all topics first; Holm over all of them."""
    relative = compared.relative(compared.differences[None])[0]
    at_random = compared.relative(compared.scores(compared.random_topics) - compared.random_clean)
    extreme = np.sum(np.abs(at_random) >= np.abs(relative) - _EQUAL, axis=0)
    p = (extreme + 1) / (len(at_random) + 1)
    compares = np.array([name != compared.reference for name in compared.names]) & (len(compared.names) > 1)
    p_holm = holm(np.where(compares, p, np.nan))
    intervals = _percentiles(compared.resampled_differences)
    relative_intervals = _percentiles(compared.relative(compared.resampled_differences))
    ranks, ranks_clean = (_ranks(compared.sign * some) for some in (compared.all, compared.clean))
    order = sorted(range(len(p)), key=lambda run: (ranks[run], compared.names[run]))
    return tuple(
        SystemImpact(
            run=compared.names[run],
            rank=ranks[run],
            rank_clean=ranks_clean[run],
            score=float(compared.all[run]),
            score_leaked=float(compared.clean[run] + compared.differences[run]),
            score_clean=float(compared.clean[run]),
            difference=float(compared.differences[run]),
            interval=intervals[run],
            relative=float(relative[run]) if compares[run] else None,
            relative_interval=relative_intervals[run] if compares[run] else None,
            p=float(p[run]) if compares[run] else None,
            p_holm=float(p_holm[run]) if compares[run] else None,
        )
        for run in order
    )


def _percentiles(drawn: Floats) -> list[Interval]:
    """One interval a system."""
    method = f"percentile bootstrap over leaked and over clean topics, {len(drawn)} replicates"
    lows, highs = np.quantile(drawn, (0.025, 0.975), axis=0).tolist()
    return [Interval(low, high, 0.95, method) for low, high in zip(lows, highs, strict=True)]


def _ranks(scores: Floats) -> list[int]:
    """One more than the number of better systems."""
    rounded = round_scores(scores)
    return [1 + int(np.sum(rounded > score)) for score in rounded.tolist()]


def _order(compared: _Compared) -> OrderChange:
    """The order of all systems with and without the leaked topics, and without random ones."""
    truth, sign = compared.sign * compared.all, compared.sign
    without = np.concatenate((sign * compared.clean[None], sign * compared.random_clean))
    tau_ap_b, tau_b = bulk_tau_ap_b(truth, without), bulk_tau_b(truth, without)
    ranked, at_random = round_scores(truth), tau_ap_b[1:][~np.isnan(tau_ap_b[1:])]
    return OrderChange(
        tau_ap_b=float(tau_ap_b[0]),
        tau_b=float(tau_b[0]),
        random_tau_ap_b=float(np.mean(at_random)) if len(at_random) else math.nan,
        random_low=float(np.quantile(at_random, 0.05)) if len(at_random) else math.nan,
        p_tau_ap_b=_chance_of_less(tau_ap_b),
        p_tau_b=_chance_of_less(tau_b),
        pairs=sum(bool(ranked[one] != ranked[other]) for one, other in combinations(range(len(ranked)), 2)),
        swaps=_swaps(compared),
    )


def _chance_of_less(taus: Floats) -> float:
    """How often a random draw agrees as little as the first value; nan where that is nan, as with tied systems only.

    A draw that ties all systems agrees in nothing.
    """
    if math.isnan(taus[0]):
        return math.nan
    return float((np.sum(~(taus[1:] > taus[0] + _EQUAL)) + 1) / len(taus))


def _swaps(compared: _Compared) -> tuple[Swap, ...]:
    """All pairs that change places, with their tests; the family of each kind of test is all pairs of systems."""
    with_leaks, without = (round_scores(compared.sign * some) for some in (compared.all, compared.clean))
    order = sorted(range(len(with_leaks)), key=lambda run: (-with_leaks[run], compared.names[run]))
    pairs = list(combinations(order, 2))
    tests = zip(*(holm(column).tolist() for column in _tests(compared, order)), strict=True)
    return tuple(
        Swap(
            ahead=compared.names[ahead],
            behind=compared.names[behind],
            difference=float(compared.all[ahead] - compared.all[behind]),
            p_holm=p_all,
            difference_clean=float(compared.clean[ahead] - compared.clean[behind]),
            p_holm_clean=p_clean,
            change=float(compared.differences[ahead] - compared.differences[behind]),
            p_holm_change=p_change,
        )
        for (ahead, behind), (p_all, p_clean, p_change) in zip(pairs, tests, strict=True)
        if with_leaks[ahead] > with_leaks[behind] and without[ahead] < without[behind]
    )


def _tests(compared: _Compared, order: list[int]) -> list[Floats]:
    """For each pair in this order: p of its difference over all topics, over clean ones, and between both kinds."""
    values, leaked = compared.on_scale[order], compared.leaked
    columns: list[list[Floats]] = [[], [], []]
    for place in range(len(order) - 1):
        gaps = values[place] - values[place + 1 :]
        columns[0].append(bulk_paired_t(gaps))
        columns[1].append(bulk_paired_t(gaps[:, ~leaked]))
        columns[2].append(bulk_welch_t(gaps[:, leaked], gaps[:, ~leaked]))
    return [np.concatenate(column) for column in columns]
