"""What variations cost: the study's Table 4 for any systems and measures, and what lies behind its means.

A variation's ranking is scored with the judgments of its query. Where a method has several valid variations of a query
the query's value is their mean; where it has none the original's value stands in, as in the study, or the query is left
out (`valid_only`). Differences are tested query by query, and corrected over the methods of a system and measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from ir_measures import Judged, Measure
from numpy.typing import NDArray

from ringtrue.data.qrels import Qrels
from ringtrue.data.records import ScoredDoc
from ringtrue.data.runs import Run, RunSet
from ringtrue.errors import InputError
from ringtrue.evaluation.correlation import rbo, tie_groups
from ringtrue.evaluation.measures import direction, evaluate
from ringtrue.robustness.marking import STUDY, Marking, p_of
from ringtrue.robustness.ranking import Failure, Ranked
from ringtrue.robustness.result import Comparison
from ringtrue.robustness.task import Slot, Task

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

JUDGED = Judged @ 10
OVERLAP_DEPTH = 100  # with p = .9 all that lies below weighs less than .00003
_NOTHING = "\0nothing"


@dataclass(frozen=True, eq=False)
class Values:
    """One system's values: `original` by measure and query, `slots` by measure, slot and query.

    nan is a query that failed, or for a slot one without a valid variation. `overlap` is the rank-biased overlap of the
    original's and the variation's ranking, by slot and query.
    """

    system: str
    measures: tuple[Measure, ...]
    task: Task
    original: Floats
    slots: Floats
    overlap: Floats
    failures: tuple[Failure, ...]

    def place(self, measure: Measure) -> int:
        """A measure's row."""
        return self.measures.index(measure)

    @cached_property
    def slots_of_method(self) -> tuple[list[int], ...]:
        """For each method of the task the rows of its slots."""
        pairs = [slot[:2] for slot in self.task.slots]
        return tuple([row for row, pair in enumerate(pairs) if pair == method] for method in self.task.methods)

    @cached_property
    def varied(self) -> Floats:
        """The mean over a method's valid variations: by measure, method and query."""
        return np.stack([mean_of_known(self.slots[:, rows], axis=1) for rows in self.slots_of_method], axis=1)

    @cached_property
    def valid(self) -> Flags:
        """Which method (row) has a valid variation that was ranked, of which query (column)."""
        return np.asarray(~np.isnan(self.varied[0]) & ~np.isnan(self.original[0]))

    @cached_property
    def failed(self) -> Flags:
        """Which method (row) has valid variations of a query (column), none of which could be compared."""
        texts = texts_by_slot(self.task)
        some = np.array([texts[rows].any(axis=0) for rows in self.slots_of_method])
        return np.asarray((some & ~self.valid) | np.isnan(self.original[0]))

    def filled(self, measure: Measure) -> Floats:
        """By method and query, the original's value where there is no valid variation."""
        row = self.place(measure)
        return np.asarray(np.where(self.valid, self.varied[row], self.original[row]))


def score(ranked: Ranked, task: Task, qrels: Qrels, measures: Sequence[Measure]) -> Values:
    """Score one system's rankings of the queries and of all their variations."""
    if not measures:
        raise InputError("no measure: name one or more, such as nDCG@10.")
    asked = tuple(dict.fromkeys((*measures, JUDGED)))
    queries = [query.query_id for query in task.queries]
    runs = [ranked.original, *(_overlaid(ranked, task, slot) for slot in task.slots)]
    depth = _depth(asked)
    named = [replace(run if depth is None else run.cut(depth), name=str(place)) for place, run in enumerate(runs)]
    scores = evaluate(RunSet.from_runs(named), qrels, asked)
    columns = [scores.topics.index(query) for query in queries]
    found = scores.values[:, :, columns]
    found[:, 1:][:, ~texts_by_slot(task)] = np.nan
    for failure in ranked.failures:
        place = 0 if failure.slot is None else 1 + task.slots.index(failure.slot)
        found[:, place, queries.index(failure.query_id)] = np.nan
    return Values(ranked.name, asked, task, found[:, 0], found[:, 1:], _overlap(ranked, task), ranked.failures)


def texts_by_slot(task: Task) -> Flags:
    """Which slot (row) has a valid variation of which query (column)."""
    queries = [query.query_id for query in task.queries]
    return np.array([[query in texts for query in queries] for texts in task.texts.values()], dtype=np.bool_)


def _overlaid(ranked: Ranked, task: Task, slot: Slot) -> Run:
    """A slot's ranking where it has a variation, else the original's, so that every run has the same topics."""
    texts, varied = task.texts[slot], ranked.varied[slot]
    chosen = {
        query.query_id: (varied if query.query_id in texts else ranked.original).ranking(query.query_id)
        for query in task.queries
    }
    rankings = {query_id: ranking for query_id, ranking in sorted(chosen.items()) if ranking}
    if not rankings:  # nothing was found for any query: one document that nobody judged says the same
        first = task.queries[0].query_id
        rankings = {first: (ScoredDoc(first, _NOTHING, 0.0),)}
    return Run(slot.method, rankings)


def _depth(measures: Sequence[Measure]) -> int | None:
    """How deep the measures look; None is all the way."""
    cutoffs = [measure.params.get("cutoff") for measure in measures]
    return None if None in cutoffs else max(cutoff for cutoff in cutoffs if cutoff is not None)


def _overlap(ranked: Ranked, task: Task) -> Floats:
    """Rank-biased overlap with the original's ranking, by slot and query; nan without a variation."""
    tops = {query.query_id: _top(ranked.original, query.query_id) for query in task.queries}
    found = np.full((len(task.slots), len(task.queries)), np.nan)
    for row, (slot, texts) in enumerate(task.texts.items()):
        for column, query in enumerate(task.queries):
            if query.query_id in texts:
                found[row, column] = overlap(tops[query.query_id], _top(ranked.varied[slot], query.query_id))
    return found


def overlap(first: Sequence[ScoredDoc], second: Sequence[ScoredDoc]) -> float:
    """Rank-biased overlap, tie-aware so that a ranking is wholly like itself; two empty rankings are alike."""
    if not first and not second:
        return 1.0
    one, two = (tie_groups([line.doc_id for line in some], [line.score for line in some]) for some in (first, second))
    return rbo(one, two, ties="b")


def _top(run: Run, query_id: str) -> tuple[ScoredDoc, ...]:
    return run.ranking(query_id)[:OVERLAP_DEPTH]


def mean_of_known(values: Floats, axis: int) -> Floats:
    """The mean of what is not nan; nan where nothing is known."""
    known = ~np.isnan(values)
    count = known.sum(axis=axis)
    total = np.where(known, values, 0.0).sum(axis=axis)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def compare(
    values: Values,
    measure: Measure,
    *,
    valid_only: bool = False,
    marking: Marking = STUDY,
) -> tuple[Comparison, ...]:
    """One row of Table 4: a comparison for each method; those with a valid variation are the family."""
    original, filled = values.original[values.place(measure)], values.filled(measure)
    usable = ~values.failed & (values.valid if valid_only else np.ones_like(values.valid))
    tests = [
        marking.paired(filled[place][use], original[use]) if values.valid[place].any() else None
        for place, use in enumerate(usable)
    ]
    corrected = marking.corrected(tests)
    return tuple(
        Comparison(
            values.system,
            str(measure),
            *values.task.methods[place],
            queries=int(use.sum()),
            valid=int((use & values.valid[place]).sum()),
            replaced=int((use & ~values.valid[place]).sum()),
            failed=int(values.failed[place].sum()),
            original=mean(original[use]),
            varied=mean(filled[place][use]),
            p=p_of(tests[place]),
            p_corrected=corrected[place],
            family=sum(test is not None for test in tests),
            higher_is_better=direction(measure) > 0,
        )
        for place, use in enumerate(usable)
    )


def mean(values: Floats) -> float:
    """The mean; nan where there is nothing."""
    return float(values.mean()) if len(values) else float("nan")
