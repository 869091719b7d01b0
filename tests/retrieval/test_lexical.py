from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.data.records import Query
from ringtrue.data.runs import Run
from ringtrue.errors import InputError
from ringtrue.retrieval.bm25 import BM25
from ringtrue.retrieval.lexical import best
from ringtrue.retrieval.weighting import DPH, TFIDF, Dirichlet


def ids(run, query_id="q"):
    return [line.doc_id for line in run.ranking(query_id)]


@given(st.lists(st.integers(-3, 3), max_size=30), st.integers(1, 12))
def test_best_is_a_full_sort_cut(scores, depth):
    docs, values = best(np.arange(len(scores)), np.array(scores, dtype=float), depth)
    expected = sorted(range(len(scores)), key=lambda doc: (-scores[doc], doc))[:depth]
    assert docs.tolist() == expected
    assert values.tolist() == [scores[doc] for doc in expected]


@pytest.mark.parametrize("ranker", [BM25, TFIDF])
def test_ties_at_the_cut_go_by_document_id(collect, ranker):
    names = [f"d{number}" for number in (7, 10, 2, 33, 1, 5, 21, 9, 100, 4)]
    texts = {name: "same words here" for name in names} | {"z": "same same words", "other": "unlike"}
    run = ranker(depth=5).rank(collect(texts), [Query("q", "same")])
    assert ids(run) == ["z", *sorted(names)[:4]]
    deeper = ranker(depth=8).rank(collect(texts), [Query("q", "same")])
    assert ids(deeper)[:5] == ids(run)


def test_documents_without_a_query_term_are_never_returned(fruit):
    run = BM25(stemmer="none").rank(fruit, fruit.queries)
    assert run.topics == ("q1", "q2")
    assert ids(run, "q1") == ["d1", "d3"]
    assert ids(run, "q3") == ids(run, "q4") == []


def test_scores_below_zero_are_returned(collect):
    texts = {"long": "the " + "filler " * 50, "short": "the cat"}
    run = Dirichlet(mu=1.0).rank(collect(texts), [Query("q", "the")])
    assert ids(run) == ["short", "long"]
    assert run.ranking("q")[1].score < 0


def test_the_order_of_the_words_does_not_matter(collect):
    texts = {f"d{n}": " ".join("abcdefg"[i % 7] * 2 for i in range(n, n * 3 + 1)) for n in range(1, 20)}
    runs = {
        DPH().rank(collect(texts), [Query("q", " ".join(order))]).to_trec()
        for order in permutations(["aa", "bb", "cc", "dd"])
    }
    assert len(runs) == 1


def test_candidates_keep_the_scores_of_the_whole_collection(fruit):
    ranker = BM25(stemmer="none")
    whole = {line.doc_id: line.score for line in ranker.rank(fruit, fruit.queries).ranking("q2")}
    candidates = Run.from_results("given", {"q2": [("d4", 9.0), ("d3", 8.0), ("d1", 7.0)]})
    again = ranker.rank(fruit, fruit.queries, candidates)
    assert again.topics == ("q2",)
    assert {line.doc_id: line.score for line in again.ranking("q2")} == {doc: whole[doc] for doc in ("d1", "d3")}


def test_a_depth_of_none_is_an_error(fruit):
    with pytest.raises(InputError, match="depth is 0"):
        BM25(depth=0).rank(fruit, fruit.queries)
