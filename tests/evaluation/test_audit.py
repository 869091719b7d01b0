from __future__ import annotations

import math
from dataclasses import replace

import pytest
from ir_measures import NumRet, P
from scipy import stats

from ringtrue.audit import Table, Verdict
from ringtrue.data.collection import Collection
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Qrel, Query, ScoredDoc
from ringtrue.data.runs import Run, RunSet
from ringtrue.errors import InputError
from ringtrue.evaluation import rules
from ringtrue.evaluation.audit import EvaluationAudit, audit_evaluation
from ringtrue.evaluation.measures import MFR
from ringtrue.evaluation.significance import PairedTest

QRELS = [Qrel("1", "a", 1), Qrel("2", "b", 1)]


def audit(queries: list[Query]) -> EvaluationAudit:
    runs = [Run(name, {"1": (ScoredDoc("1", doc, 1.0),)}) for name, doc in (("good", "a"), ("bad", "b"))]
    collection = Collection.from_records("c", None, queries, QRELS)
    qrels = Qrels.from_records(QRELS)
    return audit_evaluation(RunSet.from_runs(runs), qrels, collection=collection, measure=P @ 1, replicates=100)


def test_topics_under_two_numberings_are_told_with_the_first_of_each():
    found = audit([Query("01", "red"), Query("02", "blue")]).findings[0]
    assert "2 judged topics have no query (1, 2) and 2 queries no judgments (01, 02)" in found.seen
    assert found.verdict is Verdict.UNKNOWN
    assert "judged topics" not in audit([Query("1", "red"), Query("2", "blue")]).findings[0].seen
    assert "judged topics" not in audit([Query("1", "red")]).findings[0].seen


def test_without_documents_nothing_is_said_of_what_the_corpus_lacks():
    tables = [one for one in audit([Query("1", "red")]).sections() if isinstance(one, Table)]
    facts = dict(next(table for table in tables if table.name == "collection").rows)
    assert facts["documents"] is None and facts["judged documents that the corpus lacks"] is None


@pytest.mark.parametrize(
    ("tau", "words"),
    [(0.9931, "(tau-b 0.993)"), (0.99996, "(tau-b above 0.999)"), (1.0, "as it is"), (math.nan, "as it")],
)
def test_orders_that_differ_never_have_a_coefficient_of_one(tau, words):
    systems = [replace(one, tie_shift=0.004) for one in audit([Query("1", "red")]).systems]
    assert words in rules.order_without_ties(systems, tau).seen


@pytest.mark.parametrize(
    ("measure", "words"), [(MFR(mean="harmonic") @ 10, "harmonic mean"), (NumRet, "sum over topics")]
)
def test_a_measure_whose_mean_the_tests_do_not_take_is_refused(measure, words):
    qrels = Qrels.from_records(QRELS)
    runs = RunSet.from_runs([Run(name, {"1": (ScoredDoc("1", "a", 1.0),)}) for name in ("x", "y")])
    with pytest.raises(InputError, match=words):
        audit_evaluation(runs, qrels, measure=measure, replicates=10)


@pytest.mark.parametrize("neighbours", [1, 23, 142])
def test_the_detectable_difference_is_found_four_times_in_five_in_a_table_of_that_size(neighbours):
    row = audit([Query("1", "red")]).systems[0]
    test = PairedTest(0.0, 0.01, 0.0, 1.0, 50, "paired t")
    found = rules.detectable_difference([replace(row, next_test=test)] * neighbours)
    assert found is not None
    limit = stats.t.ppf(1 - 0.05 / neighbours / 2, 49)  # what the lowest of so many p has to reach for Holm
    assert stats.nct.sf(limit, 49, found / 0.01) == pytest.approx(0.8, abs=0.02)
