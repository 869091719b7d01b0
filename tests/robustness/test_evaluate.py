"""Table 4: against its definition written down slowly, ir_measures and scipy."""

from __future__ import annotations

import ir_measures
import numpy as np
import pytest
import toy
from ir_measures import AP, Judged, nDCG
from scipy import stats

from ringtrue.data.records import Query, ScoredDoc
from ringtrue.errors import InputError
from ringtrue.evaluation.measures import MFR
from ringtrue.robustness.evaluate import compare, mean_of_known, overlap, score
from ringtrue.robustness.marking import Marking
from ringtrue.robustness.ranking import rank_task
from ringtrue.robustness.task import make_task


def values_of(ranker, measures=(nDCG @ 10, AP)):
    task = make_task(toy.QUERIES, toy.COLLECTION.qrels.topics, toy.checked())
    return score(rank_task(ranker, toy.COLLECTION, task), task, toy.COLLECTION.qrels, measures)


def slowly(text: str, query_id: str, measure) -> float:
    """One query's value by ir_measures itself."""
    run = toy.Overlap().rank(toy.COLLECTION, [Query(query_id, text)])
    # 1/rank for the score, since ir_measures has another tie rule
    ranked = enumerate(run.ranking(query_id), start=1)
    lines = [ir_measures.ScoredDoc(query_id, line.doc_id, 1 / rank) for rank, line in ranked]
    qrels = [ir_measures.Qrel(*one) for one in toy.QRELS if one.query_id == query_id]
    return float(next((one.value for one in ir_measures.iter_calc([measure], qrels, lines)), 0.0))


@pytest.mark.parametrize("measure", [nDCG @ 10, AP])
def test_values_are_those_of_ir_measures(measure):
    values = values_of(toy.Overlap())
    row = values.place(measure)
    titles = [query.title for query in values.task.queries]
    ids = [query.query_id for query in values.task.queries]
    expected = [slowly(text, query_id, measure) for text, query_id in zip(titles, ids, strict=True)]
    np.testing.assert_allclose(values.original[row], expected)
    for place, texts in enumerate(values.task.texts.values()):
        expected = [slowly(texts[q], q, measure) if q in texts else np.nan for q in ids]
        np.testing.assert_allclose(values.slots[row, place], expected)


def test_several_variations_of_one_query_count_by_their_mean():
    values = values_of(toy.Overlap())
    expected = np.mean([slowly(text, "q1", nDCG @ 10) for text in ("red fx", "re fox")])
    assert values.varied[0, 0, 0] == pytest.approx(expected)


def test_the_original_stands_in_where_there_is_no_valid_variation():
    values = values_of(toy.Overlap())
    found = compare(values, nDCG @ 10)
    original = values.original[0]
    ordering = found[1]
    assert (ordering.queries, ordering.valid, ordering.replaced) == (4, 2, 2)
    assert ordering.original == pytest.approx(original.mean())
    assert ordering.varied == pytest.approx(original.mean())
    filled = np.array([values.varied[0, 0, 0], values.varied[0, 0, 1], values.varied[0, 0, 2], original[3]])
    assert found[0].varied == pytest.approx(filled.mean())
    assert found[0].p == pytest.approx(stats.ttest_rel(filled, original).pvalue)
    assert found[0].p_corrected == pytest.approx(min(1, 3 * found[0].p))
    assert found[0].family == 3


def test_only_valid_queries_where_that_is_asked_for():
    values = values_of(toy.Overlap())
    found = compare(values, nDCG @ 10, valid_only=True)[0]
    assert (found.queries, found.replaced) == (3, 0)
    assert found.original == pytest.approx(values.original[0, :3].mean())
    assert found.varied == pytest.approx(values.varied[0, 0, :3].mean())
    assert found.relative == pytest.approx(found.varied / found.original - 1)


def test_a_query_that_failed_is_left_out_of_both_means():
    values = values_of(toy.Fragile())
    found = compare(values, nDCG @ 10)[0]
    assert (found.queries, found.valid, found.failed) == (3, 2, 1)
    kept = [0, 2, 3]
    assert found.original == pytest.approx(values.original[0, kept].mean())
    whole = compare(values_of(toy.Overlap()), nDCG @ 10)
    assert [one.varied for one in compare(values, nDCG @ 10)[1:]] == [one.varied for one in whole[1:]]


def test_an_original_that_failed_is_left_out_everywhere():
    values = values_of(toy.Fragile(word="lamp"))
    assert np.isnan(values.original[0, 1])
    assert all(one.queries == 3 and one.failed == 1 for one in compare(values, nDCG @ 10))


def test_marks_follow_the_corrected_test():
    values = values_of(toy.Overlap())
    row = compare(values, nDCG @ 10)[0]
    assert row.mark == ""
    assert type(row)(**{**vars(row), "p_corrected": 0.01}).mark == "▼"
    assert type(row)(**{**vars(row), "p_corrected": 0.01, "varied": 2.0}).mark == "▲"
    exact = compare(values, nDCG @ 10, marking=Marking("permutation", "holm"))[0]
    assert exact.p == 2 / 4  # both changed queries lose: two of four sign flips are as extreme
    assert exact.p_corrected >= exact.p


def test_a_method_that_finds_nothing_scores_nothing():
    rows = [one for one in toy.checked() if one.variation.method == "DeleteChar"]
    rows = [one._replace(variation=one.variation._replace(variation="xxxx"), valid=True) for one in rows]
    task = make_task(toy.QUERIES, toy.COLLECTION.qrels.topics, rows)
    values = score(rank_task(toy.Overlap(), toy.COLLECTION, task), task, toy.COLLECTION.qrels, [nDCG @ 10])
    assert compare(values, nDCG @ 10)[0].varied == 0.0
    assert (values.overlap[0] == 0).all()


def test_a_method_without_a_valid_variation_is_not_tested():
    rows = [one._replace(valid=one.variation.method == "DeleteChar") for one in toy.checked()]
    task = make_task(toy.QUERIES, toy.COLLECTION.qrels.topics, rows)
    values = score(rank_task(toy.Overlap(), toy.COLLECTION, task), task, toy.COLLECTION.qrels, [nDCG @ 10])
    found = compare(values, nDCG @ 10)
    assert [one.family for one in found] == [1, 1, 1]
    assert np.isnan(found[1].p) and found[1].varied == pytest.approx(found[1].original)


def test_judged_share_is_scored_beside_every_measure():
    values = values_of(toy.Overlap(), [AP])
    assert values.measures == (AP, Judged @ 10)
    with pytest.raises(InputError, match="no measure"):
        values_of(toy.Overlap(), [])


def test_overlap_of_a_ranking_with_itself_is_whole_despite_ties():
    lines = [ScoredDoc("q", doc, score) for doc, score in (("a", 2.0), ("b", 1.0), ("c", 1.0), ("d", 0.5))]
    assert overlap(lines, lines) == pytest.approx(1.0)
    assert overlap(lines, lines[::-1][:2]) < 1
    assert overlap(lines, []) == 0.0
    assert overlap([], []) == 1.0


def test_mean_of_known_ignores_nan():
    values = np.array([[1.0, np.nan], [3.0, np.nan]])
    np.testing.assert_array_equal(mean_of_known(values, axis=0), [2.0, np.nan])


def test_a_mark_says_worse_where_a_measure_grows_that_should_be_low():
    row = compare(values_of(toy.Overlap(), [MFR @ 10]), MFR @ 10)[0]
    assert row.difference > 0
    assert type(row)(**{**vars(row), "p_corrected": 0.01}).mark == "▼"
