"""Real queries: the figures of PISA 0.4.9 on Vaswani, an implementation that shares nothing with ours.

PISA stemmed with Porter2 without stop words, counted repeated query words once and returned 1000 documents. Its
Dirichlet model takes a term's weight as zero where it would be negative, and its PL2 has ln(1/2) where Amati's
formula has log2(e): these two differ by that, the others are the same to four digits.
"""

from __future__ import annotations

import ir_measures
import pytest
from ir_measures import AP, nDCG

from ringtrue.data.load import load
from ringtrue.retrieval.index import open_index
from ringtrue.retrieval.pipeline import parse_ranker

PISA = [
    ("bm25:method=robertson", 0.4363, 0.2886, 0.0001),
    ("dph", 0.4147, 0.2634, 0.0001),
    ("dirichlet:mu=1000", 0.3494, 0.2255, 0.01),
    ("pl2", 0.4111, 0.2574, 0.01),
]


@pytest.fixture(scope="module")
def vaswani(shared):
    folder = shared / "collections" / "vaswani"
    return load(documents=folder / "doc-text.trec", queries=folder / "query-text.trec", qrels=folder / "qrels")


def evaluate(collection, run):
    lines = (line for topic in run.topics for line in run.ranking(topic))
    means = ir_measures.calc_aggregate([nDCG @ 10, AP @ 1000], list(collection.qrels), lines)
    return means[nDCG @ 10], means[AP @ 1000]


@pytest.mark.parametrize(("spec", "ndcg", "ap", "tolerance"), PISA, ids=[row[0] for row in PISA])
def test_as_good_as_pisa(vaswani, spec, ndcg, ap, tolerance):
    ranker = parse_ranker(spec)
    index = open_index(vaswani, ranker.analyser)
    once = {
        query.query_id: dict.fromkeys(index.count(ranker.analyser.tokens(query.title)), 1.0)
        for query in vaswani.queries
    }
    assert evaluate(vaswani, ranker.rank_terms(index, once)) == pytest.approx((ndcg, ap), abs=tolerance)


def test_expansion_finds_more(vaswani):
    plain, expanded = (parse_ranker(spec).rank(vaswani, vaswani.queries) for spec in ("bm25", "bm25 >> rm3"))
    assert evaluate(vaswani, expanded)[1] > evaluate(vaswani, plain)[1] + 0.005
