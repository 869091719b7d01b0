"""Worst queries, and systems that change places."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import toy
from ir_measures import nDCG

from ringtrue.evaluation.measures import MFR
from ringtrue.evaluation.significance import paired_t
from ringtrue.robustness.cases import swaps, worst_cases
from ringtrue.robustness.evaluate import score
from ringtrue.robustness.ranking import rank_task
from ringtrue.robustness.task import make_task


@pytest.fixture
def task():
    return make_task(toy.QUERIES, toy.COLLECTION.qrels.topics, toy.checked())


def measured(ranker, task):
    ranked = rank_task(ranker, toy.COLLECTION, task)
    return ranked, score(ranked, task, toy.COLLECTION.qrels, [nDCG @ 10])


def test_each_query_is_shown_with_its_worst_variation(task):
    ranked, values = measured(toy.Overlap(), task)
    cases = worst_cases(values, ranked, toy.COLLECTION.qrels, nDCG @ 10)
    assert [case.query_id for case in cases] == ["q2", "q1"]
    first = cases[0]
    assert (first.method, first.variation, first.before, first.after) == ("DeleteChar", "lmp dor", 1.0, 0.0)
    assert [tuple(line) for line in first.lines] == [
        (1, "d2", 1, "", None),
        (2, "d4", None, "", None),
        (3, "d5", 0, "", None),
    ]
    losses = [case.before - case.after for case in cases]
    assert losses == sorted(losses, reverse=True) and min(losses) > 0
    assert worst_cases(values, ranked, toy.COLLECTION.qrels, nDCG @ 10, count=1) == cases[:1]


def test_systems_that_change_places_are_named(task):
    class Reversed(toy.Overlap):
        """Loses a little on the original q1 and wins where it is misspelt."""

        def rank(self, collection, queries, candidates=None):
            run = toy.Overlap().rank(collection, queries, candidates)
            worse = toy.Overlap().rank(collection, [query for query in queries if query.title != "lamp door"])
            helped = toy.Overlap().rank(
                collection, [query._replace(title="lamp door") for query in queries if query.title == "lmp dor"]
            )
            return type(run)(repr(self), dict(sorted({**worse.rankings, **helped.rankings}.items())))

    systems = [measured(ranker, task)[1] for ranker in (toy.Overlap(), Reversed(first=1))]
    found = swaps(systems, nDCG @ 10)
    assert [(one.method, one.ahead_before, one.ahead_after) for one in found] == [
        ("DeleteChar", systems[0].system, systems[1].system)
    ]
    assert found[0].lead_before == pytest.approx(systems[0].original[0].mean() - systems[1].original[0].mean())
    assert found[0].lead_after > 0
    place = task.methods.index((found[0].category, found[0].method))
    before = systems[0].original[0] - systems[1].original[0]
    after = systems[0].filled(nDCG @ 10)[place] - systems[1].filled(nDCG @ 10)[place]
    assert found[0].p == paired_t(after, before).p


def test_one_system_has_no_one_to_change_places_with(task):
    assert swaps([measured(toy.Overlap(), task)[1]], nDCG @ 10) == ()


def test_systems_that_are_level_do_not_change_places(task):
    _, values = measured(toy.Overlap(), task)
    first, second = np.array([0.1, 0.1, 0.2, 0.6]), np.array([0.1, 0.6, 0.1, 0.2])
    assert -1e-16 < (first - second).mean() < 0  # by rounding alone
    one, two = (
        replace(values, system=name, original=row + 0 * values.original, slots=row + gain + 0 * values.slots)
        for name, row, gain in (("one", first, 0.1), ("two", second, 0.0))
    )
    assert one.filled(nDCG @ 10)[0].mean() > two.filled(nDCG @ 10)[0].mean()
    assert swaps([one, two], nDCG @ 10) == ()


def test_the_lowest_is_ahead_and_the_highest_worst_where_lower_is_better(task):
    ranked = rank_task(toy.Overlap(), toy.COLLECTION, task)
    values = score(ranked, task, toy.COLLECTION.qrels, [MFR @ 10])
    worst = worst_cases(values, ranked, toy.COLLECTION.qrels, MFR @ 10)[0]
    assert (worst.query_id, worst.before, worst.after) == ("q2", 1.0, 11.0)
    steady = replace(values, system="steady", original=values.original + 1, slots=values.slots * 0 + 2)
    found = swaps([values, steady], MFR @ 10)
    assert [(one.method, one.ahead_before, one.ahead_after) for one in found] == [("DeleteChar", "Overlap", "steady")]
