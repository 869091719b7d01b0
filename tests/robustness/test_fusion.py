"""Fused rankings and the oracle."""

from __future__ import annotations

import numpy as np
import pytest
import toy
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import nDCG

from ringtrue.data.records import ScoredDoc
from ringtrue.evaluation.measures import MFR
from ringtrue.robustness.evaluate import score
from ringtrue.robustness.fusion import ALL, FUSIONS, comb_sum, fuse, fusion_table, min_sd, oracle, rrf
from ringtrue.robustness.ranking import rank_task
from ringtrue.robustness.task import make_task


def ranking(*pairs: tuple[str, float]) -> list[ScoredDoc]:
    return [ScoredDoc("q", *pair) for pair in pairs]


ONE = ranking(("a", 3.0), ("b", 2.0), ("c", 1.0))
TWO = ranking(("b", 9.0), ("a", 8.9), ("d", 8.8))


def test_reciprocal_ranks_add_up():
    assert rrf([ONE, TWO]) == pytest.approx({"a": 1 / 61 + 1 / 62, "b": 1 / 62 + 1 / 61, "c": 1 / 63, "d": 1 / 63})
    assert rrf([ONE], k=0) == pytest.approx({"a": 1, "b": 1 / 2, "c": 1 / 3})


def test_scores_add_up():
    assert comb_sum([ONE, TWO]) == pytest.approx({"a": 11.9, "b": 11.0, "c": 1.0, "d": 8.8})


def test_the_flattest_ranking_is_taken():
    assert min_sd([ONE, TWO]) == {"b": 9.0, "a": 8.9, "d": 8.8}
    assert min_sd([ONE, ranking(("z", 1.0))]) == {"a": 3.0, "b": 2.0, "c": 1.0}
    assert min_sd([ranking(("z", 1.0))]) == {"z": 1.0}
    assert min_sd([[], []]) == {}


@given(st.lists(st.lists(st.sampled_from("abcdef"), unique=True, max_size=6), max_size=4))
def test_fusing_neither_adds_nor_loses_documents(lists):
    rankings = [ranking(*((doc, 10.0 - place) for place, doc in enumerate(some))) for some in lists]
    every = {doc for some in lists for doc in some}
    assert set(rrf(rankings)) == set(comb_sum(rankings)) == every
    assert set(min_sd(rankings)) <= every


@pytest.fixture
def made():
    task = make_task(toy.QUERIES, toy.COLLECTION.qrels.topics, toy.checked())
    ranked = rank_task(toy.Overlap(), toy.COLLECTION, task)
    return task, ranked, score(ranked, task, toy.COLLECTION.qrels, [nDCG @ 10])


def test_a_query_without_variations_keeps_its_ranking_and_is_counted(made):
    task, ranked, _ = made
    found = fuse(ranked, task, "CombSUM")
    assert (found.rankings, found.replaced) == (4, 1)
    assert found.run.ranking("q4") == ranked.original.ranking("q4")
    expected = comb_sum([ranked.varied[slot].ranking("q1") for slot in task.slots])
    assert {line.doc_id: line.score for line in found.run.ranking("q1")} == expected
    assert fuse(ranked, task, "CombSUM", depth=1).run.ranking("q1") != found.run.ranking("q1")


def test_the_original_can_be_one_of_them(made):
    task, ranked, _ = made
    without, with_it = (fuse(ranked, task, "RRF", with_original=value) for value in (False, True))
    line = with_it.run.ranking("q3")[0]
    assert line.score > without.run.ranking("q3")[0].score


def test_the_table_has_each_way_and_scope(made):
    _, ranked, values = made
    rows = fusion_table(values, ranked, toy.COLLECTION.qrels, nDCG @ 10)
    assert {row.scope for row in rows} == {ALL, "misspelling"}
    assert len(rows) == 2 * len(FUSIONS) * 2 == rows[0].family
    assert all(row.original == pytest.approx(values.original[0].mean()) for row in rows)


def test_the_oracle_takes_the_best_of_each_query(made):
    _, _, values = made
    found = oracle(values, nDCG @ 10)
    best = np.nanmax(np.vstack((values.original[0], values.varied[0])), axis=0)
    assert found.value == pytest.approx(best.mean())
    assert found.gaining == int((best > values.original[0] + 1e-12).sum())
    assert sum(row.wins for row in found.winners) == pytest.approx(found.gaining)


def test_the_oracle_takes_the_lowest_where_lower_is_better(made):
    task, ranked, _ = made
    values = score(ranked, task, toy.COLLECTION.qrels, [MFR @ 10])
    best = np.nanmin(np.vstack((values.original[0], values.varied[0])), axis=0)
    assert oracle(values, MFR @ 10).value == pytest.approx(best.mean())
