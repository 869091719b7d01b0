from __future__ import annotations

import math
import random
from collections import Counter

import bm25s
import numpy as np
import pytest

from ringtrue.data.records import Query
from ringtrue.retrieval.analysis import Analyser
from ringtrue.retrieval.bm25 import BM25
from ringtrue.retrieval.index import open_index

METHODS = ["lucene", "robertson", "atire", "bm25l", "bm25+"]
LETTERS = [chr(code) * 2 for code in range(97, 110)]


@pytest.fixture
def texts():
    rng = random.Random(3)
    return {f"d{n:02}": " ".join(rng.choices(LETTERS, range(1, 14), k=rng.randint(0, 40))) for n in range(80)}


def formula(texts, weights, k1, b):
    """Lucene's variant straight from the definition."""
    bags = {doc_id: Counter(text.split()) for doc_id, text in texts.items()}
    average = sum(bag.total() for bag in bags.values()) / len(bags)
    scores = {}
    for doc_id, bag in bags.items():
        for term, weight in weights.items():
            if bag[term]:
                df = sum(term in other for other in bags.values())
                idf = math.log(1 + (len(bags) - df + 0.5) / (df + 0.5))
                norm = k1 * (1 - b + b * bag.total() / average)
                scores[doc_id] = scores.get(doc_id, 0.0) + weight * idf * bag[term] / (bag[term] + norm)
    return scores


def test_worked_example(fruit):
    # apple in d1: idf = ln(1 + 2.5/2.5) = ln 2, tf 2, length 3 of 2.5: 2 / (2 + 0.9 (0.6 + 0.4 * 1.2)) = 2 / 2.972
    first = BM25(stemmer="none").rank(fruit, fruit.queries).ranking("q1")[0]
    assert first.doc_id == "d1"
    assert first.score == pytest.approx(math.log(2) * 2 / 2.972, rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_scores_as_bm25s(collect, texts, method):
    oracle = bm25s.BM25(k1=1.3, b=0.6, method=method, delta=0.7)
    oracle.index([text.split() for text in texts.values()], show_progress=False)
    query = ["mm", "bb", "mm", "aa", "cc"]
    run = BM25(stemmer="none", k1=1.3, b=0.6, method=method, delta=0.7).rank(
        collect(texts), [Query("q", " ".join(query))]
    )
    constant = 0.0
    if oracle.nonoccurrence_array is not None:
        constant = sum(oracle.nonoccurrence_array[oracle.get_tokens_ids(query)].tolist())
    expected = dict(zip(texts, oracle.get_scores(query) - constant, strict=True))
    found = {line.doc_id: line.score for line in run.ranking("q")}
    assert found == pytest.approx({doc: score for doc, score in expected.items() if score > 1e-6}, abs=1e-5)


@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.2, 0.75)])
def test_weighted_terms_against_the_formula(collect, texts, k1, b):
    ranker = BM25(stemmer="none", k1=k1, b=b)
    index = open_index(collect(texts), Analyser("none"))
    weights = {"aa": 0.25, "ff": 1.5, "mm": 0.01}
    terms = {index.terms.find(term): weight for term, weight in weights.items()}
    run = ranker.rank_terms(index, {"q": terms})
    found = {line.doc_id: line.score for line in run.ranking("q")}
    assert found == pytest.approx(formula(texts, weights, k1, b), rel=1e-6)


def test_a_repeated_word_counts_as_often_as_it_is_there(collect, texts):
    ranker = BM25(stemmer="none")
    run = ranker.rank(collect(texts), [Query("q", "aa bb aa")])
    found = {line.doc_id: line.score for line in run.ranking("q")}
    assert found == pytest.approx(formula(texts, {"aa": 2, "bb": 1}, 0.9, 0.4), rel=1e-6)


def test_weights_are_kept_for_each_choice_of_parameters(collect, texts, own_cache):
    collection = collect(texts)
    rankers = (BM25(), BM25(depth=3), BM25(k1=1.2), BM25(k1=1.2), BM25(b=0.1), BM25(method="atire"), BM25(delta=0.7))
    for ranker in rankers:
        ranker.rank(collection, [Query("q", "aa")])
    folders = sorted((own_cache / "bm25").iterdir())
    assert len(folders) == 5
    assert all(np.load(folder / "weights.npy", allow_pickle=False).dtype == np.float32 for folder in folders)
    assert len(list((own_cache / "lexical").iterdir())) == 1


def test_documents_that_hold_only_a_useless_term_are_not_returned(collect):
    # with Robertson's idf, floored at zero, a word of every document says nothing
    run = BM25(method="robertson").rank(collect({"a": "xx yy", "b": "xx", "c": "xx"}), [Query("q", "xx")])
    assert run.topics == ()
