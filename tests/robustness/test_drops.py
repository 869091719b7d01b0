"""What categories cost, and how far rankings move."""

from __future__ import annotations

import numpy as np
import pytest
import toy
from ir_measures import nDCG

from ringtrue.evaluation.measures import MFR
from ringtrue.robustness.drops import category_drops, stability
from ringtrue.robustness.evaluate import score
from ringtrue.robustness.ranking import rank_task
from ringtrue.robustness.task import make_task


@pytest.fixture
def values():
    task = make_task(toy.QUERIES, toy.COLLECTION.qrels.topics, toy.checked())
    return score(rank_task(toy.Overlap(), toy.COLLECTION, task), task, toy.COLLECTION.qrels, [nDCG @ 10])


def test_the_loss_is_over_valid_pairs(values):
    found = {one.category: one for one in category_drops(values, nDCG @ 10, replicates=200)}
    before, after = values.original[0, :3], values.varied[0, 0, :3]
    spelling = found["misspelling"]
    assert (spelling.queries, spelling.pairs, spelling.zeros) == (3, 3, 0)
    assert spelling.original == pytest.approx(before.mean())
    assert spelling.drop == pytest.approx(1 - after.sum() / before.sum())
    assert spelling.drop_by_query == pytest.approx(np.mean(1 - after / before))
    assert spelling.interval.low <= spelling.drop <= spelling.interval.high
    assert found["ordering"].drop == pytest.approx(0)
    assert found["ordering"].interval[:2] == pytest.approx((0, 0))


def test_one_query_has_no_interval(values):
    alone = category_drops(values, nDCG @ 10, replicates=20)[-1]
    assert alone.queries == 1
    assert np.isnan(alone.interval.low)


def test_intervals_depend_on_the_seed_alone(values):
    once, again = (category_drops(values, nDCG @ 10, replicates=50, seed=3) for _ in range(2))
    assert [one.interval for one in once[:2]] == [one.interval for one in again[:2]]


def test_another_order_of_words_moves_nothing(values):
    spelling, ordering, recorded = stability(values)
    assert ordering.overlap == pytest.approx(1.0)
    assert ordering.judged_before == ordering.judged_after
    assert spelling.overlap < 1
    assert recorded.queries == 1


def test_a_measure_that_is_better_the_lower_it_is_loses_where_it_grows():
    task = make_task(toy.QUERIES, toy.COLLECTION.qrels.topics, toy.checked())
    values = score(rank_task(toy.Overlap(), toy.COLLECTION, task), task, toy.COLLECTION.qrels, [MFR @ 10])
    spelling = category_drops(values, MFR @ 10, replicates=200)[0]
    before, after = values.original[0, :3], values.varied[0, 0, :3]
    assert after.sum() > before.sum()
    assert spelling.drop == pytest.approx(after.sum() / before.sum() - 1)
    assert spelling.drop_by_query == pytest.approx(np.mean(after / before) - 1)
    assert 0 <= spelling.interval.low <= spelling.drop <= spelling.interval.high
