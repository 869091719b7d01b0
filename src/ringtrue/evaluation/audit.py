"""Can these runs be compared at all? Topics, judgments, ties and differences between systems.

The ground on which the three questions stand: before asking about leakage, samples or robustness, see whether the
evaluation tells systems apart, and whether unjudged documents or ties decide its order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from ir_measures import Judged, Measure, nDCG
from numpy.typing import NDArray

from ringtrue.audit import Finding, Interval, Section
from ringtrue.data.collection import Collection
from ringtrue.data.notes import Note, notes_tables
from ringtrue.data.qrels import Qrels
from ringtrue.data.runs import RunSet
from ringtrue.data.ties import Ties
from ringtrue.errors import InputError
from ringtrue.evaluation import rules, sections
from ringtrue.evaluation.correlation import kendall_tau_b
from ringtrue.evaluation.facts import CollectionFacts, JudgmentFacts, collection_facts, judgment_facts
from ringtrue.evaluation.measures import Scores, check_mean, direction, evaluate
from ringtrue.evaluation.pooling import tied_lines
from ringtrue.evaluation.significance import PairedTest, bootstrap_means, holm, paired_t
from ringtrue.provenance import Provenance, stamp

JUDGED_DEPTH = 10


@dataclass(frozen=True)
class SystemRow:
    """One system, in order of the measure: best first."""

    run: str
    group: str
    mean: float
    interval: Interval
    unjudged: float
    tied: float
    tie_shift: float
    next_test: PairedTest | None
    next_p: float | None

    @property
    def told_apart(self) -> bool | None:
        """Whether the next system is significantly worse; None for the last one."""
        return None if self.next_p is None else self.next_p < rules.ALPHA


@dataclass(frozen=True, eq=False)
class EvaluationAudit:
    """Facts and differences that decide whether a table of systems can be trusted."""

    collection: CollectionFacts | None
    judgments: JudgmentFacts
    measure: Measure
    scores: Scores
    systems: tuple[SystemRow, ...]
    tie_tau: float
    notes: tuple[Note, ...]
    provenance: Provenance

    name = "evaluation"
    title = "Can these systems be compared?"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the rules say."""
        return (
            rules.enough_topics(self.judgments, self.systems, self.collection),
            rules.all_judged(self.systems, JUDGED_DEPTH),
            rules.order_without_ties(self.systems, self.tie_tau),
            rules.best_is_better(self.systems, self.measure),
        )

    def sections(self) -> tuple[Section, ...]:
        """Systems first, then what they were judged with."""
        return (
            sections.systems_table(self.systems, self.measure, JUDGED_DEPTH),
            sections.systems_figure(self.systems, self.measure),
            *sections.collection_tables(self.collection),
            sections.judgments_table(self.judgments),
            sections.relevant_figure(self.judgments),
            *notes_tables(self.notes),
        )


def audit_evaluation(
    runs: RunSet,
    qrels: Qrels,
    groups: Sequence[str] | None = None,
    *,
    collection: Collection | None = None,
    measure: Measure = nDCG @ 10,
    replicates: int = 10_000,
    seed: int = 42,
) -> EvaluationAudit:
    """Score the runs and see what separates them; `groups` has one name a run."""
    if not len(qrels):
        raise InputError("no judgments: an evaluation needs qrels (--qrels FILE, or a collection that has them).")
    check_mean(measure)
    judged = Judged @ JUDGED_DEPTH
    scores = evaluate(runs, qrels, list(dict.fromkeys((measure, judged))))
    notes = [*runs.notes, *(collection.notes if collection else ())]
    inputs = {"collection": collection.fingerprint} if collection else {}
    settings: dict[str, str | int | float | bool | None] = {
        "measure": str(measure),
        "ties": runs.ties.rule,
        "mean": "over all judged topics, missing = default",
        "replicates": replicates,
        "seed": seed,
        "systems": len(runs),
    }
    shift, tau = _tie_shift(runs, qrels, measure)
    return EvaluationAudit(
        collection=collection_facts(collection) if collection else None,
        judgments=judgment_facts(qrels),
        measure=measure,
        scores=scores,
        systems=_systems(runs, scores, measure, groups or [""] * len(runs), shift, (replicates, seed)),
        tie_tau=tau,
        notes=tuple(notes),
        provenance=stamp(inputs=inputs, settings=settings),
    )


def _systems(
    runs: RunSet,
    scores: Scores,
    measure: Measure,
    groups: Sequence[str],
    shift: NDArray[np.float64],
    bootstrap: tuple[int, int],
) -> tuple[SystemRow, ...]:
    """One row a run, best first, each tested against the next; Holm over all neighbours."""
    values, means = scores.of(measure), scores.means(measure)
    unjudged = 1 - _share(scores.of(Judged @ JUDGED_DEPTH), scores.retrieved)
    tied = _tied_share(runs)
    intervals = bootstrap_means(values, replicates=bootstrap[0], seed=bootstrap[1])
    sign = direction(measure)
    order = sorted(range(len(runs)), key=lambda run: (-sign * round(float(means[run]), 10), runs.names[run]))
    tests = [paired_t(sign * values[better], sign * values[worse]) for better, worse in pairwise(order)]
    corrected = holm([test.p for test in tests])
    return tuple(
        SystemRow(
            run=runs.names[run],
            group=groups[run],
            mean=float(means[run]),
            interval=intervals[run],
            unjudged=float(unjudged[run]),
            tied=float(tied[run]),
            tie_shift=float(shift[run]),
            next_test=tests[place] if place < len(tests) else None,
            next_p=float(corrected[place]) if place < len(tests) else None,
        )
        for place, run in enumerate(order)
    )


def _share(values: NDArray[np.float64], counted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Each run's mean over the topics that it has."""
    return np.asarray((values * counted).sum(axis=1) / np.maximum(counted.sum(axis=1), 1))


def _tied_share(runs: RunSet) -> NDArray[np.float64]:
    """Each run's share of lines that share their score with a neighbour."""
    run = runs.segment % np.int32(len(runs))
    tied = np.bincount(run, weights=tied_lines(runs), minlength=len(runs))
    return np.asarray(tied / np.maximum(np.bincount(run, minlength=len(runs)), 1))


def _tie_shift(runs: RunSet, qrels: Qrels, measure: Measure) -> tuple[NDArray[np.float64], float]:
    """How far each mean moves, and how alike the orders are, when ties go by document id the other way."""
    one, other = (evaluate(runs.with_ties(ties), qrels, [measure]).means(measure) for ties in (Ties.ASC, Ties.DESC))
    return np.abs(one - other), kendall_tau_b(one, other)
