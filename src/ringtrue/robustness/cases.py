"""Where it hurts: the queries that lose most, with both rankings side by side; and systems that change places."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, zip_longest

import numpy as np
from ir_measures import Measure

from ringtrue.data.qrels import Qrels
from ringtrue.evaluation.correlation import round_scores
from ringtrue.evaluation.measures import direction
from ringtrue.evaluation.significance import PairedTest
from ringtrue.robustness.evaluate import Values, mean
from ringtrue.robustness.marking import STUDY, Marking, p_of
from ringtrue.robustness.ranking import Ranked
from ringtrue.robustness.result import Case, CaseLine, Swap

SHOWN = 5


def worst_cases(values: Values, ranked: Ranked, qrels: Qrels, measure: Measure, count: int = 10) -> tuple[Case, ...]:
    """The queries that lose most with one system, each with its worst valid variation, at most `count`."""
    row = values.place(measure)
    loss = np.nan_to_num(direction(measure) * (values.original[row] - values.slots[row]))
    places = [(int(slot), query) for query, slot in enumerate(loss.argmax(axis=0))]
    places.sort(key=lambda place: (-loss[place], place[1]))
    return tuple(_case(values, ranked, qrels, row, place) for place in places[:count] if loss[place] > 0)


def _case(values: Values, ranked: Ranked, qrels: Qrels, row: int, place: tuple[int, int]) -> Case:
    slot, query = values.task.slots[place[0]], values.task.queries[place[1]]
    grades = qrels.by_topic[query.query_id]
    rankings = (run.ranking(query.query_id)[:SHOWN] for run in (ranked.original, ranked.varied[slot]))
    lines = []
    for rank, (before, after) in enumerate(zip_longest(*rankings), start=1):
        one, two = (line.doc_id if line else "" for line in (before, after))
        lines.append(CaseLine(rank, one, grades.get(one), two, grades.get(two)))
    return Case(
        values.system,
        query.query_id,
        slot.method,
        query.title,
        values.task.texts[slot][query.query_id],
        float(values.original[row, place[1]]),
        float(values.slots[(row, *place)]),
        float(values.overlap[place]),
        tuple(lines),
    )


def swaps(systems: Sequence[Values], measure: Measure, marking: Marking = STUDY) -> tuple[Swap, ...]:
    """Pairs of systems in another order under a method than with the original queries.

    Tested is what the method changes between the two: their difference under it less that before, query by query. One
    of both orders can be significant without the change being so. The family of the correction is all pairs under all
    methods, swapped or not.
    """
    if len(systems) < 2:
        return ()
    methods = systems[0].task.methods
    looked = [
        (pair, place, *_leads(*pair, place, measure, marking))
        for place in range(len(methods))
        for pair in combinations(systems, 2)
    ]
    corrected = marking.corrected([test for *_, test in looked])
    found = []
    for (pair, place, before, after, test), p in zip(looked, corrected, strict=True):
        if round_scores(before) * round_scores(after) < 0:
            first, second = (pair if before > 0 else pair[::-1])[0], (pair if after > 0 else pair[::-1])[0]
            found.append(
                Swap(str(measure), *methods[place], first.system, second.system, abs(before), abs(after), p_of(test), p)
            )
    return tuple(found)


def _leads(
    one: Values, two: Values, place: int, measure: Measure, marking: Marking
) -> tuple[float, float, PairedTest | None]:
    """By how much the first is ahead of the second, before and after, and the test of the change."""
    use = ~one.failed[place] & ~two.failed[place]
    row, sign = one.place(measure), direction(measure)
    before = sign * (one.original[row][use] - two.original[row][use])
    after = sign * (one.filled(measure)[place][use] - two.filled(measure)[place][use])
    return mean(before), mean(after), marking.paired(after, before)
