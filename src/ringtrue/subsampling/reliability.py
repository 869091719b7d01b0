"""From the cells of leave-one-group-out to coefficients, errors and intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from ir_measures import Measure
from numpy.typing import NDArray

from ringtrue.audit import Interval
from ringtrue.data.notes import Notes
from ringtrue.errors import InputError
from ringtrue.evaluation.correlation import bulk_tau_ap_b, bulk_taus, round_scores
from ringtrue.evaluation.measures import direction, retrieved_topics
from ringtrue.evaluation.significance import PairedTest, holm, paired_t
from ringtrue.subsampling.campaign import Campaign
from ringtrue.subsampling.holdout import VIEWS, Cells, EmptySampleError, leave_one_group_out, truth
from ringtrue.subsampling.result import Agreement, Bootstrapped, Comparison, SamplerReliability
from ringtrue.subsampling.samplers import SAMPLERS, note_shortfall

Floats = NDArray[np.float64]
MeanOver = Literal["qrels", "run"]
TRUTHS = ("truth_pool10", "truth_full")
FEWEST_GROUPS = 3
FEW_REPLICATES = 200  # with fewer the ends of an interval rest on a handful of replicates
_THREADS = 2
_COEFFICIENTS = ("tau_ap_b", "tau_ap", "tau_b")  # in the order of bulk_taus


@dataclass(frozen=True, eq=False)
class Experiment:
    """One campaign and measure, with the truths that all samplers are held against."""

    campaign: Campaign
    measure: Measure
    mean: MeanOver = "qrels"
    top: float = 0.75
    replicates: int = 1000
    seed: int = 42

    @property
    def sign(self) -> int:
        """Times which a score is the better the higher it is."""
        return direction(self.measure)

    @cached_property
    def truths(self) -> Mapping[str, Floats]:
        """Per-topic values of the whole runs, by name of the truth."""
        return {name: truth(self.campaign, self.measure, pooled=name == TRUTHS[0]) for name in TRUTHS}

    @cached_property
    def retrieved(self) -> NDArray[np.bool_]:
        """Which whole run (row) has a document for which topic of the judgments (column)."""
        return retrieved_topics(self.campaign.runs, self.campaign.qrels)

    def true_means(self, name: str, weights: Floats | None = None) -> Floats:
        """One number a system, by name of the truth."""
        return self.means(self.truths[name], self.retrieved, weights)

    @cached_property
    def true_scores(self) -> Mapping[str, Mapping[str, float]]:
        """The true score of each system, by truth and name of the run."""
        names = self.campaign.runs.names
        return {name: dict(zip(names, self.true_means(name).tolist(), strict=True)) for name in TRUTHS}

    def means(self, values: Floats, retrieved: NDArray[np.bool_], weights: Floats | None = None) -> Floats:
        """The mean over topics, each with its weight; rounded so that the order of summing decides no tie.

        Over the topics that a run has, one that has none gets what a miss counts.
        """
        topics = values.shape[-1]
        weights = np.full(topics, 1 / topics) if weights is None else weights
        if self.mean == "qrels":
            return round_scores(values @ weights)
        counted = retrieved @ weights
        found = (values * retrieved) @ weights / np.where(counted > 0, counted, 1.0)
        return round_scores(np.where(counted > 0, found, float(self.measure.DEFAULT)))

    @cached_property
    def draws(self) -> _Draws:
        """The resampled topics and groups, the same for every sampler."""
        rng = np.random.default_rng(self.seed)
        topics, groups = len(self.campaign.qrels.topics), len(self.campaign.group_names)
        return _Draws(
            rng.multinomial(topics, np.full(topics, 1 / topics), size=self.replicates) / topics,
            rng.integers(0, groups, size=(self.replicates, groups)),
        )


class _Draws(NamedTuple):
    """For each replicate the weight of each topic and the groups that were drawn."""

    topic_weights: Floats
    groups: NDArray[np.int64]


class _Measured(NamedTuple):
    """One sampler's figures without intervals, and what the intervals need: not the cells, which may be large."""

    result: SamplerReliability
    group_taus: Floats
    resampled: Floats
    own: Floats
    own_retrieved: NDArray[np.bool_]


def reliability(
    experiment: Experiment,
    samplers: Sequence[str],
    say: Callable[[str], None] = lambda message: None,
    *,
    skipped: Notes | None = None,
) -> tuple[tuple[SamplerReliability, ...], tuple[Comparison, ...]]:
    """Hold each sampler against the truth, and against the largest sampler.

    A sampler without a document for some group is an error, or left out and counted in `skipped`.
    """
    if len(experiment.campaign.group_names) < FEWEST_GROUPS:
        raise InputError(
            f"leave-one-group-out needs at least {FEWEST_GROUPS} groups, not {len(experiment.campaign.group_names)}."
        )
    if len(set(samplers)) < len(samplers):
        raise InputError(f"a sampler is named twice: {', '.join(samplers)}.")
    measured = []
    for spec in samplers:
        try:
            measured.append(_measure(experiment, spec, say))
        except EmptySampleError as error:
            if skipped is None:
                raise EmptySampleError(spec, error.group) from error
            skipped.add("samplers left out, for they have no document when some group is", spec)
    if not measured:
        return (), ()
    say(f"bootstrap: {experiment.replicates} replicates over topics and groups")
    intervals = _intervals(experiment, measured)
    results = tuple(replace(one.result, intervals=found) for one, found in zip(measured, intervals, strict=True))
    return results, _compare(measured)


def _measure(experiment: Experiment, spec: str, say: Callable[[str], None]) -> _Measured:
    say(f"leave one group out: {spec}")
    sampler = SAMPLERS.parse(spec)
    cells = leave_one_group_out(experiment.campaign, sampler, experiment.measure)
    note_shortfall(sampler, spec, int(cells.corpus_sizes.min()), experiment.campaign.notes)
    means = experiment.means(cells.values, cells.retrieved)
    agreement = {
        name: {view: _agree(experiment, experiment.true_means(name), means[place]) for place, view in enumerate(VIEWS)}
        for name in TRUTHS
    }
    own = experiment.campaign.group_of_run, np.arange(len(experiment.campaign.runs))
    return _Measured(
        _result(spec, cells, agreement),
        bulk_tau_ap_b(experiment.sign * experiment.true_means(TRUTHS[0]), experiment.sign * means[VIEWS.index("with")]),
        _resampled_group_taus(experiment, cells),
        cells.values[(slice(None), *own)],
        cells.retrieved[own],
    )


def _agree(experiment: Experiment, true: Floats, cells: Floats) -> Agreement:
    """The coefficients and errors of one view: `cells` has a row a left-out group, a column a system."""
    own = cells[experiment.campaign.group_of_run, np.arange(len(true))]
    truth, seen, unpooled = experiment.sign * true, experiment.sign * cells, experiment.sign * own[None]
    best = best_share(truth, experiment.campaign.runs.names, experiment.top)
    figures: dict[str, float] = {}
    for prefix, rows in (("", seen), ("unpooled_", unpooled)):
        for ending, some in (("", slice(None)), ("_top", best)):
            means = bulk_taus(truth[some], rows[:, some]).mean(axis=1).tolist()
            figures |= {f"{prefix}{name}{ending}": mean for name, mean in zip(_COEFFICIENTS, means, strict=True)}
    error = own - true
    by_group = [error[experiment.campaign.group_of_run == group] for group in range(len(cells))]
    return Agreement(
        **figures,
        delta=float(error.mean()),
        rmse=float(np.sqrt((error**2).mean())),
        delta_mean_over_groups=float(np.mean([some.mean() for some in by_group])),
        rmse_mean_over_groups=float(np.mean([np.sqrt((some**2).mean()) for some in by_group])),
    )


def best_share(true: Floats, names: Sequence[str], share: float) -> NDArray[np.intp]:
    """The best int(share · n) systems; equal scores go by name."""
    order = sorted(range(len(true)), key=lambda place: (-true[place], names[place]))
    return np.sort(np.array(order[: int(share * len(true))], dtype=np.intp))


def _resampled_group_taus(experiment: Experiment, cells: Cells) -> Floats:
    """The coefficients of every group's cell under resampled topics: replicate, coefficient, view, group."""

    def replicate(weights: Floats) -> Floats:
        rows = experiment.sign * experiment.means(cells.values, cells.retrieved, weights)
        true = experiment.sign * experiment.true_means(TRUTHS[0], weights)
        return bulk_taus(true, rows.reshape(-1, len(true))).reshape(len(_COEFFICIENTS), len(VIEWS), -1)

    with ThreadPoolExecutor(max_workers=_THREADS) as pool:
        return np.stack(list(pool.map(replicate, experiment.draws.topic_weights)))


def _intervals(experiment: Experiment, measured: Sequence[_Measured]) -> list[dict[str, Bootstrapped]]:
    """Percentile intervals for each sampler and view; topics and groups are resampled together.

    A group that is drawn twice counts its systems twice: they are tied with themselves in both orders, which tau_AP_b
    and tau-b leave out of account.
    """
    campaign, draws = experiment.campaign, experiment.draws
    members = [np.flatnonzero(campaign.group_of_run == group) for group in range(len(campaign.group_names))]
    own, retrieved = np.stack([one.own for one in measured]), np.stack([one.own_retrieved for one in measured])

    def replicate(place: int) -> Floats:
        runs = np.concatenate([members[group] for group in draws.groups[place].tolist()])
        weights = draws.topic_weights[place]
        actual = experiment.true_means(TRUTHS[0], weights)[runs]
        predicted = experiment.means(own, retrieved[:, None], weights)[..., runs].reshape(-1, len(runs))
        error = predicted - actual
        tau_ap_b, _, tau_b = bulk_taus(experiment.sign * actual, experiment.sign * predicted)
        figures = tau_ap_b, tau_b, error.mean(axis=1), np.sqrt((error**2).mean(axis=1))
        return np.stack(figures).reshape(-1, *own.shape[:2])

    with ThreadPoolExecutor(max_workers=_THREADS) as pool:
        unpooled = np.stack(list(pool.map(replicate, range(experiment.replicates))))
    chosen = draws.groups[:, None, None, :]
    over_groups = [np.take_along_axis(one.resampled, chosen, axis=3).mean(axis=3) for one in measured]
    return [
        {
            view: _of_known(
                Bootstrapped(
                    *(_percentiles(over_groups[place][:, figure, column]) for figure in range(len(_COEFFICIENTS))),
                    *(_percentiles(unpooled[:, figure, place, column]) for figure in range(unpooled.shape[1])),
                ),
                one.result.lead(view),
            )
            for column, view in enumerate(VIEWS)
        }
        for place, one in enumerate(measured)
    ]


def _of_known(intervals: Bootstrapped, figures: Agreement) -> Bootstrapped:
    """No interval for a figure that has no value: only replicates without the cell that has none would be in it."""
    none = Interval(np.nan, np.nan, 0.95, "none, for the figure has no value")
    return replace(intervals, **{name: none for name in vars(intervals) if np.isnan(getattr(figures, name))})


def _percentiles(values: Floats) -> Interval:
    known = values[~np.isnan(values)]  # a replicate with a cell in which all systems are tied has no coefficient
    low, high = np.percentile(known, (2.5, 97.5)) if len(known) else (np.nan, np.nan)
    few = f", {len(values)} replicates, which are few" if len(values) < FEW_REPLICATES else ""
    tied = len(values) - len(known)
    without = f", without {tied:,} of {len(values):,} replicates, in which a cell has all systems tied" if tied else ""
    return Interval(float(low), float(high), 0.95, f"bootstrap over topics and groups{few}{without}")


def _result(spec: str, cells: Cells, agreement: Mapping[str, Mapping[str, Agreement]]) -> SamplerReliability:
    sizes, judgments, unjudged = cells.corpus_sizes, cells.judgments.mean(axis=1), cells.unjudged.mean(axis=1)
    return SamplerReliability(
        sampler=spec,
        corpus_size_mean=float(sizes.mean()),
        corpus_size_min=int(sizes.min()),
        corpus_size_max=int(sizes.max()),
        judgments_without=float(judgments[0]),
        judgments_with=float(judgments[1]),
        unjudged_without=float(unjudged[0]),
        unjudged_with=float(unjudged[1]),
        agreement=agreement,
        intervals={},
    )


def _paired(taus: Floats, reference: Floats) -> PairedTest:
    """The test over the groups for which both have a coefficient."""
    known = ~(np.isnan(taus) | np.isnan(reference))
    if not known.any():
        return PairedTest(np.nan, np.nan, np.nan, np.nan, 0, "t")
    return paired_t(taus[known], reference[known])


def _compare(measured: Sequence[_Measured]) -> tuple[Comparison, ...]:
    """Each sampler against the largest: paired t-tests over groups, Holm over the table."""
    largest = max(reversed(measured), key=lambda one: one.result.corpus_size_mean)  # of equals, the last named
    others = [one for one in measured if one is not largest]
    tests = [_paired(one.group_taus, largest.group_taus) for one in others]
    corrected = holm([test.p for test in tests])
    return tuple(
        Comparison(one.result.sampler, largest.result.sampler, test.mean_difference, test.p, float(p), test.n)
        for one, test, p in zip(others, tests, corrected, strict=True)
    )
