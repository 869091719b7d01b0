"""Mean, variance and risk over the ways to write a query."""

from __future__ import annotations

import numpy as np
import pytest
import toy
from ir_measures import nDCG

from ringtrue.evaluation.measures import MFR
from ringtrue.robustness.consistency import consistency
from ringtrue.robustness.evaluate import score
from ringtrue.robustness.ranking import rank_task
from ringtrue.robustness.task import make_task


def test_figures_by_hand():
    task = make_task(toy.QUERIES, toy.COLLECTION.qrels.topics, toy.checked())
    values = score(rank_task(toy.Overlap(), toy.COLLECTION, task), task, toy.COLLECTION.qrels, [nDCG @ 10])
    found = consistency(values, nDCG @ 10, aversion=2.0)
    ways = [
        [values.original[0, query], *(value for value in values.slots[0, :, query] if not np.isnan(value))]
        for query in range(3)
    ]
    assert [len(some) for some in ways] == [5, 2, 3]
    assert (found.queries, found.variations) == (3, 7)
    means = [np.mean(some) for some in ways]
    assert found.mean == pytest.approx(np.mean(means))
    assert found.within == pytest.approx(np.mean([np.std(some, ddof=1) for some in ways]))
    assert found.between == pytest.approx(np.std(means, ddof=1))
    assert found.worst == pytest.approx(np.mean([min(some) for some in ways]))
    assert found.best == pytest.approx(np.mean([max(some) for some in ways]))
    assert found.risk_adjusted == pytest.approx(found.mean - 2 * np.mean([np.var(some, ddof=1) for some in ways]))
    gains = [[after - some[0] for after in some[1:]] for some in ways]
    weighed = [np.mean([gain if gain > 0 else 3 * gain for gain in some]) for some in gains]
    assert found.gain_less_risk == pytest.approx(np.mean(weighed))


def test_nothing_valid_gives_no_figures():
    rows = [one._replace(valid=False) for one in toy.checked()]
    task = make_task(toy.QUERIES, toy.COLLECTION.qrels.topics, rows)
    values = score(rank_task(toy.Overlap(), toy.COLLECTION, task), task, toy.COLLECTION.qrels, [nDCG @ 10])
    found = consistency(values, nDCG @ 10)
    assert found.queries == found.variations == 0
    assert np.isnan(found.mean) and np.isnan(found.worst)


def test_where_lower_is_better_the_highest_is_the_worst():
    task = make_task(toy.QUERIES, toy.COLLECTION.qrels.topics, toy.checked())
    values = score(rank_task(toy.Overlap(), toy.COLLECTION, task), task, toy.COLLECTION.qrels, [MFR @ 10])
    found = consistency(values, MFR @ 10)
    assert found.best < found.mean < found.worst and found.mean < found.risk_adjusted
    assert found.gain_less_risk < 0
