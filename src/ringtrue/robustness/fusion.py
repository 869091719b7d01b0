"""Many rankings of one query made into one, and what the best of them would give.

Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009), CombSUM over raw scores (Fox and Shaw, TREC-2), and
minSD, which takes the ranking whose ten highest scores vary least; the three of the study's longer version. They fuse
the rankings of a query's valid variations, of all methods or of one category, with the original's ranking or without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from ir_measures import Measure

from ringtrue.data.qrels import Qrels
from ringtrue.data.records import ScoredDoc
from ringtrue.data.runs import Run, RunSet
from ringtrue.evaluation.measures import direction, evaluate
from ringtrue.robustness.evaluate import Values, mean
from ringtrue.robustness.marking import STUDY, Marking, p_of
from ringtrue.robustness.ranking import Ranked
from ringtrue.robustness.result import FusionRow, Oracle, OracleRow
from ringtrue.robustness.task import Slot, Task

RRF_K = 60
DEPTH = 100
ALL = "all methods"
_TOP = 10

Rankings = Sequence[Sequence[ScoredDoc]]
Scored = dict[str, float]


def rrf(rankings: Rankings, k: int = RRF_K) -> Scored:
    """Each document's sum of 1 / (k + rank)."""
    found: Scored = {}
    for ranking in rankings:
        for rank, line in enumerate(ranking, start=1):
            found[line.doc_id] = found.get(line.doc_id, 0.0) + 1 / (k + rank)
    return found


def comb_sum(rankings: Rankings) -> Scored:
    """Each document's sum of scores, as they are."""
    found: Scored = {}
    for ranking in rankings:
        for line in ranking:
            found[line.doc_id] = found.get(line.doc_id, 0.0) + line.score
    return found


def min_sd(rankings: Rankings) -> Scored:
    """The one ranking whose ten highest scores vary least, the first of equals; one document alone does not vary."""
    usable = [ranking for ranking in rankings if len(ranking) > 1] or [ranking for ranking in rankings if ranking]
    if not usable:
        return {}
    spreads = [
        float(np.std([line.score for line in ranking[:_TOP]], ddof=min(1, len(ranking) - 1))) for ranking in usable
    ]
    return {line.doc_id: line.score for line in usable[spreads.index(min(spreads))]}


FUSIONS: Mapping[str, Callable[[Rankings], Scored]] = {"RRF": rrf, "CombSUM": comb_sum, "minSD": min_sd}


class Fused(NamedTuple):
    """One way to fuse, and its run; `replaced` queries had nothing to fuse."""

    scope: str
    method: str
    with_original: bool
    rankings: int
    run: Run
    replaced: int


def fuse(
    ranked: Ranked, task: Task, method: str, scope: str = ALL, *, with_original: bool = False, depth: int = DEPTH
) -> Fused:
    """One run out of a scope's rankings; a query without a valid variation keeps the original's and is counted."""
    results, replaced, slots = {}, 0, scopes(task)[scope]
    for query in task.queries:
        query_id = query.query_id
        rankings = [ranked.varied[slot].ranking(query_id)[:depth] for slot in slots if query_id in task.texts[slot]]
        if not rankings or with_original:
            replaced += not rankings
            rankings.append(ranked.original.ranking(query_id)[:depth])
        if found := FUSIONS[method](rankings):
            results[query_id] = list(found.items())
    return Fused(scope, method, with_original, len(slots), Run.from_results(method, results), replaced)


def fusion_table(
    values: Values, ranked: Ranked, qrels: Qrels, measure: Measure, *, marking: Marking = STUDY, depth: int = DEPTH
) -> tuple[FusionRow, ...]:
    """Every way to fuse every scope, tested against the original; all of them are one family."""
    made = [
        fuse(ranked, values.task, method, scope, with_original=with_original, depth=depth)
        for scope in scopes(values.task)
        for method in FUSIONS
        for with_original in (False, True)
    ]
    made = [one for one in made if one.run.rankings]
    if not made:
        return ()
    runs = RunSet.from_runs([replace(one.run, name=str(place)) for place, one in enumerate(made)])
    scores = evaluate(runs, qrels, [measure])
    usable = ~np.isnan(values.original[0])
    columns = [scores.topics.index(query.query_id) for query in values.task.queries]
    found = scores.of(measure)[:, columns][:, usable]
    original = values.original[values.place(measure)][usable]
    tests = [marking.paired(row, original) for row in found]
    corrected = marking.corrected(tests)
    return tuple(
        FusionRow(
            values.system,
            str(measure),
            one.scope,
            one.method,
            one.with_original,
            one.rankings,
            one.replaced,
            mean(original),
            mean(found[place]),
            p_of(tests[place]),
            corrected[place],
            len(tests),
            direction(measure) > 0,
        )
        for place, one in enumerate(made)
    )


def scopes(task: Task) -> dict[str, tuple[Slot, ...]]:
    """All slots, and those of each category that has more than one."""
    found = {ALL: task.slots}
    for category in dict.fromkeys(category for category, _ in task.methods):
        slots = tuple(slot for slot in task.slots if slot.category == category)
        if 1 < len(slots) < len(task.slots):
            found[category] = slots
    return found


def oracle(values: Values, measure: Measure) -> Oracle:
    """The best way to write each query, if one knew; methods that win together share the query."""
    row, sign = values.place(measure), direction(measure)
    usable = ~np.isnan(values.original[row])
    original = values.original[row][usable]
    gains = np.where(values.valid, sign * (values.varied[row] - values.original[row]), -np.inf)[:, usable]
    gain = np.maximum(gains.max(axis=0), 0.0)
    won = (gains >= gain - 1e-12) & (gain > 0)
    shares = won / np.maximum(won.sum(axis=0), 1)
    rows = [
        OracleRow(values.system, str(measure), method, float(own.sum()), float(own @ gain / own.sum()))
        for (_, method), own in zip(values.task.methods, shares, strict=True)
        if own.any()
    ]
    return Oracle(
        values.system,
        str(measure),
        len(original),
        mean(original),
        mean(original + sign * gain),
        int((gain > 0).sum()),
        tuple(sorted(rows, key=lambda one: -one.wins)),
    )
