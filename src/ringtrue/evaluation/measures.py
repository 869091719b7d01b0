"""From runs and judgments to numbers: ir_measures' measures over whole RunSets.

The common measures are computed for all runs of a topic at once; every other measure goes to ir_measures, run by
run, with scores that reproduce the RunSet's order, so that one tie rule holds for all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import ir_measures
import numpy as np
from ir_measures import Measure, Metric
from ir_measures.measures.base import SumAgg
from ir_measures.providers import Evaluator
from numpy.typing import NDArray

from ringtrue.data.qrels import Qrels
from ringtrue.data.runs import RunSet
from ringtrue.data.ties import Ties
from ringtrue.errors import InputError, UnknownNameError
from ringtrue.evaluation import kernels
from ringtrue.evaluation.kernels import ABSENT, UNJUDGED, Grades
from ringtrue.evaluation.mfr import MFR

__all__ = ["MFR", "Scores", "check_mean", "direction", "evaluate", "parse_measure", "parse_measures"]

MeanOver = Literal["qrels", "run"]
_NOT_GIVEN = re.compile(r"(\w+)=<object object")  # as ir_measures shows what has no default
_LOWER_IS_BETTER = ("MFR",)


@dataclass(frozen=True, eq=False)
class Scores:
    """The value of each measure for each run and topic.

    `topics` are all topics of the judgments. A topic that a run lacks has the measure's default (0; for MFR the
    cutoff + 1) and is marked in `retrieved`.
    """

    measures: tuple[Measure, ...]
    names: tuple[str, ...]
    topics: tuple[str, ...]
    values: NDArray[np.float64]
    retrieved: NDArray[np.bool_]
    ties: Ties

    def of(self, measure: Measure) -> NDArray[np.float64]:
        """One measure: a row a run, a column a topic."""
        if measure not in self.measures:
            raise UnknownNameError("measure of these scores", str(measure), map(str, self.measures))
        values: NDArray[np.float64] = self.values[self.measures.index(measure)]
        return values

    def means(self, measure: Measure, over: MeanOver = "qrels") -> NDArray[np.float64]:
        """One number a run, over all judged topics or only over those for which the run has a document."""
        values = self.of(measure)
        counted = np.ones_like(self.retrieved) if over == "qrels" else self.retrieved
        return np.array([_aggregate(measure, row[use]) for row, use in zip(values, counted, strict=True)])


def _aggregate(measure: Measure, values: NDArray[np.float64]) -> float:
    """The measure's own mean, summed in the order of the topics."""
    aggregator = measure.aggregator()
    for value in values.tolist():
        aggregator.add(value)
    return float(aggregator.result())


def direction(measure: Measure) -> int:
    """1 where a higher value is better, -1 where a lower one is."""
    return -1 if measure.NAME in _LOWER_IS_BETTER else 1


def check_mean(measure: Measure) -> None:
    """Refuse what is no arithmetic mean: paired tests and intervals over topics are of such means alone."""
    if isinstance(measure.aggregator(), SumAgg):
        raise InputError(f"{measure} is a sum over topics, and differences are tested as means; take a mean.")
    if measure.NAME == "MFR" and measure["mean"] != "arithmetic":
        raise InputError(
            f"{measure} is a {measure['mean']} mean, and tests and intervals are of arithmetic ones, which may put the "
            f"systems into another order; take MFR@{measure['cutoff']}, or RR@{measure['cutoff']}, which weighs ranks "
            "as the harmonic mean does."
        )


def evaluate(runs: RunSet, qrels: Qrels, measures: Sequence[Measure]) -> Scores:
    """Score all runs; documents are ranked by the RunSet's tie rule."""
    check_common_topics(runs, qrels)
    values = np.zeros((len(measures), len(runs), len(qrels.topics)))
    fast = [place for place, measure in enumerate(measures) if kernels.kernel(measure)]
    slow = [place for place in range(len(measures)) if place not in fast]
    if fast:
        depths = [kernels.depth(measures[place]) for place in fast]
        depth = None if None in depths else max(depth for depth in depths if depth is not None)
        for topic, (grades, judged) in enumerate(judged_rankings(runs, qrels, depth)):
            values[fast, :, topic] = list(_topic_values([measures[place] for place in fast], grades, judged))
    if slow:
        values[slow] = by_ir_measures(runs, qrels, [measures[place] for place in slow])
    return Scores(tuple(measures), runs.names, qrels.topics, values, retrieved_topics(runs, qrels), runs.ties)


def check_common_topics(runs: RunSet, qrels: Qrels) -> None:
    """Each run needs a topic that is judged; otherwise its scores would be zeros that mean nothing."""
    judged = np.isin(np.array(runs.topics, dtype=object), np.array(qrels.topics, dtype=object))
    strangers = ~(runs.lengths[judged] > 0).any(axis=0)
    if strangers.any():
        run = int(np.flatnonzero(strangers)[0])
        own = [topic for topic, length in zip(runs.topics, runs.lengths[:, run], strict=True) if length][:3]
        raise InputError(
            f"run {runs.names[run]!r} has no topic in common with the judgments: it has {', '.join(own)} …, "
            f"judged are {', '.join(qrels.topics[:3])} …; are these the judgments of another collection?"
        )


def judged_rankings(runs: RunSet, qrels: Qrels, depth: int | None = None) -> Iterator[tuple[Grades, Grades]]:
    """For each topic of the judgments the grades at each rank of each run, and the grades of its judgments."""
    places = {topic: place for place, topic in enumerate(runs.topics)}
    codes = _codes_in(qrels.docs, runs.docs)
    edges = np.searchsorted(qrels.topic, np.arange(len(qrels.topics) + 1))
    look_up = np.full(len(runs.docs), UNJUDGED, dtype=np.int32)
    for topic, (start, end) in enumerate(pairwise(edges.tolist())):
        judged = qrels.relevance[start:end]
        place = places.get(qrels.topics[topic])
        if place is None:
            yield np.full((len(runs), 1), ABSENT, dtype=np.int32), judged
            continue
        docs = codes[qrels.doc[start:end]]
        known = docs >= 0
        look_up[docs[known]] = judged[known]
        yield _grades(runs, place, look_up, depth), judged
        look_up[docs[known]] = UNJUDGED


def _codes_in(names: tuple[str, ...], vocabulary: tuple[str, ...]) -> NDArray[np.int64]:
    """The place of each name in a vocabulary, -1 where it is not there."""
    places = {name: place for place, name in enumerate(vocabulary)}
    return np.array([places.get(name, -1) for name in names], dtype=np.int64)


def _grades(runs: RunSet, place: int, look_up: Grades, depth: int | None) -> Grades:
    """One row a run with the grade at each rank."""
    starts = runs.starts[place * len(runs) : (place + 1) * len(runs) + 1]
    lengths = np.diff(starts)
    width = int(lengths.max(initial=1))
    width = max(width if depth is None else min(width, depth), 1)
    ranks = np.arange(width)
    lines = np.minimum(starts[:-1, None] + ranks, max(len(runs.doc) - 1, 0))
    grades: Grades = look_up[runs.doc[lines]]
    grades[ranks >= lengths[:, None]] = ABSENT
    return grades


def _topic_values(measures: Sequence[Measure], grades: Grades, judged: Grades) -> Iterator[NDArray[np.float64]]:
    """Each measure's values for one topic."""
    condensed: Grades | None = None
    for measure in measures:
        compute = kernels.kernel(measure)
        assert compute is not None
        if measure.params.get("judged_only"):
            condensed = kernels.condense(grades, negative=False) if condensed is None else condensed
            yield compute(measure, condensed, judged)
        else:
            yield compute(measure, grades, judged)


def retrieved_topics(runs: RunSet, qrels: Qrels) -> NDArray[np.bool_]:
    """Which run (row) has a document for which topic of the judgments (column)."""
    places = _codes_in(qrels.topics, runs.topics)
    found = np.zeros((len(qrels.topics), len(runs)), dtype=np.bool_)
    found[places >= 0] = runs.lengths[places[places >= 0]] > 0
    return found.T.copy()


def by_ir_measures(runs: RunSet, qrels: Qrels, measures: Sequence[Measure]) -> NDArray[np.float64]:
    """Any measure, one run at a time: measure, run, topic of the judgments."""
    places = {topic: place for place, topic in enumerate(qrels.topics)}
    rows = {measure: row for row, measure in enumerate(measures)}
    values = np.zeros((len(measures), len(runs), len(qrels.topics)))
    judged = {topic: dict(docs) for topic, docs in qrels.by_topic.items() if docs}
    if not judged:
        return values
    try:
        evaluator = ir_measures.evaluator(measures, judged)
    except (ValueError, TypeError) as error:
        raise InputError(f"ir_measures cannot compute {', '.join(map(str, measures))} here: {error}") from error
    for run in range(len(runs)):
        # 1/rank instead of the score: the provider's own tie rule then has nothing to decide
        ranked = {
            topic: {line.doc_id: 1.0 / rank for rank, line in enumerate(ranking, start=1)}
            for topic, ranking in runs.run(run).rankings.items()
        }
        for metric in _metrics(evaluator, ranked, runs.names[run]):
            if metric.query_id in places:
                values[rows[metric.measure], run, places[metric.query_id]] = metric.value
    return values


def _metrics(evaluator: Evaluator, ranked: dict[str, dict[str, float]], name: str) -> Iterator[Metric]:
    """What ir_measures says of one run."""
    try:
        yield from evaluator.iter_calc(ranked)
    except Exception as error:  # a provider raises whatever its library or its program raises
        measures = ", ".join(map(str, evaluator.measures))
        raise InputError(f"ir_measures cannot compute {measures} for run {name!r} ({error}); take another.") from error


def parse_measure(name: str) -> Measure:
    """A measure by its ir_measures name, such as `nDCG@10` or `P(rel=2)@5`."""
    family = name.partition("@")[0].partition("(")[0]
    try:
        measure = ir_measures.parse_measure(name)
        measure.validate_params()
    except (NameError, ValueError, AssertionError, SyntaxError) as error:
        known = ir_measures.measures.registry
        if family not in known:
            raise UnknownNameError("measure", family, known) from error
        missing = _NOT_GIVEN.search(str(error))
        why = f"it needs a {missing[1]}" if missing else str(error)
        raise InputError(f"measure {name!r}: {why}; write it as nDCG@10 or P(rel=2)@5.") from error
    if measure.params.get("cutoff") == 0:
        raise InputError(f"measure {name!r} looks at no rank; its cutoff should be 1 or more, as in {family}@10.")
    return measure


def parse_measures(names: Iterable[str]) -> tuple[Measure, ...]:
    """Several measures; each item may hold several, separated by blanks."""
    return tuple(parse_measure(name) for item in names for name in item.split())
