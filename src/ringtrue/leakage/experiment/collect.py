"""From finished cells to findings: cross-validated effectiveness, swaps, size by size, and memorization.

As in Fröbe et al. (SPIRE 2022): five folds over topics, each choosing the size on the other four, for each measure
alone; paired t-tests against the same model without leakage. Decided here, where the study is silent: seeds are
averaged before anything is chosen, and the family of a correction is the printed table of one measure; for swaps see
`swaps`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from ir_measures import Measure
from numpy.typing import NDArray

from ringtrue.errors import InputError
from ringtrue.evaluation.correlation import round_scores
from ringtrue.evaluation.measures import MFR, direction, parse_measures
from ringtrue.evaluation.significance import bonferroni, holm, paired_t
from ringtrue.jobs import outcome
from ringtrue.leakage.experiment.finished import costs, read_finished, tolerated
from ringtrue.leakage.experiment.folds import Chosen, cross_validate, make_folds
from ringtrue.leakage.experiment.memorization import LeakedTopics, leaked_triples, look_at, remember
from ringtrue.leakage.experiment.plan import Cell, Plan, read_plan
from ringtrue.leakage.experiment.result import Effect, ExperimentResult, Memory, SizePoint
from ringtrue.leakage.experiment.scores import ScoredPairs
from ringtrue.leakage.experiment.swaps import find_swaps
from ringtrue.leakage.trainsets.files import read_trainsets
from ringtrue.leakage.trainsets.records import Trainsets

Floats = NDArray[np.float64]
Values = Mapping[tuple[Measure, str, str], Floats]
"""Values[sizes, seeds, topics] by measure, model and kind."""


def usual_measures(depth: int) -> tuple[Measure, ...]:
    """The study's three; MFR looks as deep as is ranked again."""
    return (*parse_measures(("nDCG@10",)), MFR @ depth, *parse_measures(("P@1",)))


def collect(folder: Path, *, measures: Sequence[Measure] | None = None) -> ExperimentResult:
    """Evaluate all cells of a folder that are done, with the folds that its plan names."""
    plan, made, pairs = read_plan(folder), read_trainsets(folder / "trainsets"), ScoredPairs.read(folder)
    wanted = tuple(measures or usual_measures(plan.depth))
    fold = make_folds(len(pairs.qrels.topics), plan.folds, plan.seed)
    values: dict[tuple[Measure, str, str], Floats] = {}
    memory: list[Memory] = []
    left_out: list[str] = []
    for model in plan.models:
        cells = [Cell(model, kind, size, number) for kind in plan.kinds for size in plan.sizes for number in plan.seeds]
        scores = pairs.scores(cells)
        shape = (len(plan.kinds), len(plan.sizes), len(plan.seeds))
        gaps = np.isnan(scores[:, 0]).reshape(shape)
        if gaps.all(axis=2).any():
            left_out.append(model)
            continue
        found = pairs.measure(scores, wanted).reshape(len(wanted), *shape, -1)
        for measure, of_kinds in zip(wanted, found, strict=True):
            values.update({(measure, model, kind): one for kind, one in zip(plan.kinds, of_kinds, strict=True)})
        memory += _memory(plan, made, pairs, model, scores)
    known = [model for model in plan.models if model not in left_out]
    if not known:
        raise InputError(f"{folder}: no model has finished cells of every kind and size; work through it first.")
    state, finished = outcome(folder), read_finished(folder, plan)
    leaked = _leaked_topics(plan, made, pairs.qrels.topics)
    chosen = {key: cross_validate(np.nanmean(one, axis=1), fold, direction(key[0])) for key, one in values.items()}
    return ExperimentResult(
        plan=plan,
        trainsets=made,
        topics=pairs.qrels.topics,
        leaked=leaked,
        effects=tuple(effect for one in wanted for effect in _effects(plan, known, one, chosen)),
        swaps=tuple(swap for one in wanted for swap in find_swaps(plan.kinds, known, one, chosen)),
        sizes=tuple(_sizes(plan, known, wanted, values, np.isin(pairs.qrels.topics, leaked))),
        memory=tuple(memory),
        between_seeds=_between_seeds([one for (measure, *_), one in values.items() if measure == wanted[0]]),
        costs=tuple(costs(finished, plan)),
        first_stage=_first_stage(pairs, wanted),
        missing=tuple(cell.name for cell in plan.cells() if cell.name not in state.done),
        failures=state.failed,
        left_out=tuple(left_out),
        notes=tuple(tolerated(finished, plan)),
    )


def _memory(plan: Plan, made: Trainsets, pairs: ScoredPairs, model: str, scores: Floats) -> Iterator[Memory]:
    """The rows of one model."""
    shape = (len(plan.kinds), len(plan.sizes), len(plan.seeds))
    for kind in plan.kinds:
        found = look_at(pairs, scores, leaked_triples(made, kind))
        if not found.documents:
            continue
        sides = (_seeds_averaged(found, shape, plan.kinds.index(one)) for one in ("none", kind))
        yield from remember(model, kind, plan.sizes, *sides)


def _seeds_averaged(found: LeakedTopics, shape: tuple[int, ...], kind: int) -> LeakedTopics:
    """One kind's rows, one a size."""
    ranks, scores, offsets = (np.nanmean(one.reshape(*shape, -1)[kind], axis=1) for one in found[:3])
    return LeakedTopics(ranks, scores, offsets, found.documents)


def _effects(
    plan: Plan, models: Sequence[str], measure: Measure, chosen: Mapping[tuple[Measure, str, str], Chosen]
) -> Iterator[Effect]:
    """One measure's table: each model and kind, with tests against no leakage, corrected over the table."""
    compared = [(model, kind) for model in models for kind in plan.kinds if kind != "none"]
    tests = {key: paired_t(chosen[measure, *key].values, chosen[measure, key[0], "none"].values) for key in compared}
    raw = [tests[key].p for key in compared]
    corrected = dict(zip(compared, zip(bonferroni(raw), holm(raw), strict=True), strict=True)) if compared else {}
    for model in models:
        for kind in plan.kinds:
            one = chosen[measure, model, kind]
            test, ps = tests.get((model, kind)), corrected.get((model, kind))
            better = [
                other for other in models if _ahead(measure, chosen[measure, other, kind], chosen[measure, model, kind])
            ]
            yield Effect(
                measure,
                model,
                kind,
                float(one.values.mean()),
                float((one.values - chosen[measure, model, "none"].values).mean()),
                test.p if test else None,
                float(ps[0]) if ps else None,
                float(ps[1]) if ps else None,
                tuple(plan.sizes[place] for place in one.places),
                1 + len(better),
            )


def _ahead(measure: Measure, one: Chosen, other: Chosen) -> bool:
    return bool(round_scores(direction(measure) * (one.values.mean() - other.values.mean())) > 0)


def _sizes(
    plan: Plan, models: Sequence[str], measures: Sequence[Measure], values: Values, leaked: NDArray[np.bool_]
) -> Iterator[SizePoint]:
    """The study's Figure 2, and beside it the topics that do not leak."""
    for measure in measures:
        for model in models:
            for kind in plan.kinds:
                for place, size in enumerate(plan.sizes):
                    of_seeds = values[measure, model, kind][place]
                    of_seeds = of_seeds[~np.isnan(of_seeds).any(axis=1)]
                    if not len(of_seeds):
                        continue
                    inside = of_seeds[:, leaked].mean(axis=1) if leaked.any() else None
                    yield SizePoint(
                        measure,
                        model,
                        kind,
                        size,
                        None if inside is None else float(inside.mean()),
                        None if inside is None else float(inside.min()),
                        None if inside is None else float(inside.max()),
                        None if leaked.all() else float(of_seeds[:, ~leaked].mean()),
                        float(of_seeds.mean()),
                    )


def _between_seeds(values: Sequence[Floats]) -> float | None:
    """The standard deviation of a mean over topics between trainings by different seeds, over all kinds and sizes."""
    means = np.concatenate([one.mean(axis=2) for one in values])
    means = means[np.count_nonzero(~np.isnan(means), axis=1) > 1]
    return float(np.sqrt(np.nanvar(means, axis=1, ddof=1).mean())) if len(means) else None


def _leaked_topics(plan: Plan, made: Trainsets, topics: Sequence[str]) -> tuple[str, ...]:
    """The topics that training queries leak; where none do but test topics are trained on, these."""
    for kind in ("msm", "test"):
        if kind in plan.kinds:
            found = {triple.topic_id for triple in leaked_triples(made, kind)}
            return tuple(topic for topic in topics if topic in found)
    return ()


def _first_stage(pairs: ScoredPairs, measures: Sequence[Measure]) -> dict[Measure, float]:
    """The candidates in the order in which they were found."""
    places = -np.arange(len(pairs.topic), dtype=np.float64)[None]
    return {one: float(value.mean()) for one, value in zip(measures, pairs.measure(places, measures), strict=True)}
