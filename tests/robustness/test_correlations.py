"""Whether systems lose on the same variations."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import toy
from ir_measures import nDCG
from scipy.stats import pearsonr

from ringtrue.retrieval.encoders import ENCODERS
from ringtrue.robustness.correlations import correlations
from ringtrue.robustness.evaluate import score
from ringtrue.robustness.ranking import rank_task
from ringtrue.robustness.task import make_task
from ringtrue.robustness.validity import check


@pytest.fixture
def values():
    task = make_task(toy.QUERIES, toy.COLLECTION.qrels.topics, toy.checked())
    return score(rank_task(toy.Overlap(), toy.COLLECTION, task), task, toy.COLLECTION.qrels, [nDCG @ 10])


def test_a_system_loses_where_it_loses_and_its_mirror_where_it_gains(values):
    mirror = replace(values, system="mirror", slots=2 * values.original[:, None] - values.slots)
    found = correlations([values, replace(values, system="twin"), mirror], nDCG @ 10)
    whole = {(one.first, one.second): one for one in found if one.category == "all categories"}
    assert whole["Overlap", "twin"].correlation == pytest.approx(1)
    assert whole["Overlap", "mirror"].correlation == pytest.approx(-1)
    assert whole["Overlap", "twin"].pairs == 7
    assert list(dict.fromkeys(one.category for one in found)) == [
        "all categories",
        "misspelling",
        "ordering",
        "recorded",
    ]


def test_it_is_pearsons_over_pairs_that_both_know(values):
    noise = np.random.default_rng(1).normal(size=values.slots.shape)
    other = replace(values, system="other", slots=values.slots + noise)
    other.slots[0, 0, 0] = np.nan
    row = values.place(nDCG @ 10)
    first = (values.slots[row] - values.original[row]).ravel()
    second = (other.slots[row] - other.original[row]).ravel()
    both = ~np.isnan(first) & ~np.isnan(second)
    found = correlations([values, other], nDCG @ 10)[0]
    assert found.correlation == pytest.approx(pearsonr(first[both], second[both]).statistic)
    assert found.pairs == both.sum()


def test_too_little_or_no_change_has_no_correlation(values):
    found = correlations([values, replace(values, system="twin")], nDCG @ 10)
    by_category = {one.category: one.correlation for one in found}
    assert math.isnan(by_category["ordering"])  # nothing changes
    assert math.isnan(by_category["recorded"])  # one pair
    assert correlations([], nDCG @ 10) == () == correlations([values], nDCG @ 10)


def test_losses_beside_similarity_in_meaning(values):
    checked = check(toy.VARIATIONS, encoder=ENCODERS.parse("hashing"))
    found = {one.category: one for one in correlations([values], nDCG @ 10, checked)}
    assert {one.second for one in found.values()} == {"similarity in meaning"}
    assert found["all categories"].pairs == 7
    near = {one.variation.variation: one.similarity for one in checked}
    row = values.place(nDCG @ 10)
    points = [
        (values.slots[row, slot, column] - values.original[row, column], near[texts[query.query_id]])
        for slot, texts in enumerate(values.task.texts.values())
        for column, query in enumerate(values.task.queries)
        if query.query_id in texts
    ]
    assert found["all categories"].correlation == pytest.approx(pearsonr(*zip(*points, strict=True)).statistic)
