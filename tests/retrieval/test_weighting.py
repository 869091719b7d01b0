from __future__ import annotations

import math
import random
from collections import Counter
from math import log2, pi, sqrt

import pytest

from ringtrue.data.records import Query
from ringtrue.errors import InputError
from ringtrue.retrieval.weighting import DFIZ, DLH, DPH, IFB2, PL2, TFIDF, Dirichlet, Hiemstra, InB2

LOG2_E = log2(math.e)


# The formulas term by term, as Terrier writes them: tf and length of the document, df and F of the term,
# N documents and T tokens in the collection.
def dirichlet(tf, dl, df, F, N, T, mu=2500.0):
    return log2(1 + tf / (mu * (F / T))) + log2(mu / (dl + mu))


def hiemstra(tf, dl, df, F, N, T, lam=0.15):
    return log2(1 + (lam * tf * T) / ((1 - lam) * F * dl))


def tfidf(tf, dl, df, F, N, T, k1=1.2, b=0.75):
    return k1 * tf / (tf + k1 * (1 - b + b * dl / (T / N))) * log2(N / df + 1)


def pl2(tf, dl, df, F, N, T, c=1.0):
    tfn, f = tf * log2(1 + c * (T / N) / dl), F / N
    return (tfn * log2(1 / f) + f * LOG2_E + 0.5 * log2(2 * pi * tfn) + tfn * (log2(tfn) - LOG2_E)) / (tfn + 1)


def ifb2(tf, dl, df, F, N, T, c=1.0):
    tfn = tf * log2(1 + c * (T / N) / dl)
    return tfn * log2((N + 1) / (F + 0.5)) * (F + 1) / (df * (tfn + 1))


def inb2(tf, dl, df, F, N, T, c=1.0):
    tfn = tf * log2(1 + c * (T / N) / dl)
    return tfn * log2((N + 1) / (df + 0.5)) * (F + 1) / (df * (tfn + 1))


def dlh(tf, dl, df, F, N, T):
    f = tf / dl if tf < dl else 0.99999
    common = tf * log2((tf * (T / N) / dl) * (N / F)) + 0.5 * log2(2 * pi * tf * (1 - f))
    return (common + (dl - tf) * log2(1 - f)) / (tf + 0.5)


def dph(tf, dl, df, F, N, T):
    f = tf / dl if tf < dl else 0.99999
    common = tf * log2((tf * (T / N) / dl) * (N / F)) + 0.5 * log2(2 * pi * tf * (1 - f))
    return (1 - f) ** 2 / (tf + 1) * common


def dfiz(tf, dl, df, F, N, T):
    expected = F * dl / T
    return log2((tf - expected) / sqrt(expected) + 1) if tf > expected else 0.0


CASES = [
    (Dirichlet, dirichlet, 0.002112),
    (Hiemstra, hiemstra, 0.477322),
    (TFIDF, tfidf, 1.125417),
    (PL2, pl2, 0.881861),
    (IFB2, ifb2, 0.654767),
    (InB2, inb2, 1.272446),
    (DLH, dlh, 0.700924),
    (DPH, dph, 0.123603),
    (DFIZ, dfiz, 1.110699),
]
OTHER_OPTIONS = [
    (Dirichlet, dirichlet, {"mu": 50.0}),
    (Hiemstra, hiemstra, {"lam": 0.6}),
    (TFIDF, tfidf, {"k1": 0.5, "b": 0.1}),
    (PL2, pl2, {"c": 7.0}),
    (IFB2, ifb2, {"c": 0.3}),
    (InB2, inb2, {"c": 2.5}),
]


def slow_scores(texts, query, formula, options):
    """Every document by its words, one at a time."""
    bags = {doc_id: Counter(text.split()) for doc_id, text in texts.items()}
    documents, tokens = len(bags), sum(bag.total() for bag in bags.values())
    scores = {}
    for doc_id, bag in bags.items():
        score = 0.0
        for term, key_frequency in Counter(query.split()).items():
            if bag[term]:
                df = sum(term in other for other in bags.values())
                frequency = sum(other[term] for other in bags.values())
                weight = formula(bag[term], bag.total(), df, frequency, documents, tokens, **options)
                score += key_frequency * weight
        if score:
            scores[doc_id] = score
    return scores


def check(collect, model, formula, options):
    rng = random.Random(5)
    letters = [chr(code) * 2 for code in range(97, 110)]
    texts = {f"d{n}": " ".join(rng.choices(letters, range(1, 14), k=rng.randint(1, 40))) for n in range(60)}
    texts["alone"] = "zz zz zz"  # tf is the whole length
    for query in ("aa", "mm bb mm zz", "cc dd ee ff gg cc cc"):
        run = model(stemmer="none", **options).rank(collect(texts), [Query("q", query)])
        found = {line.doc_id: line.score for line in run.ranking("q")}
        assert found == pytest.approx(slow_scores(texts, query, formula, options), abs=1e-10)


@pytest.mark.parametrize(("model", "formula", "expected"), CASES, ids=[case[0].__name__ for case in CASES])
def test_worked_example(fruit, model, formula, expected):
    first = model(stemmer="none").rank(fruit, fruit.queries[:1]).ranking("q1")
    assert {line.doc_id: round(line.score, 6) for line in first}["d1"] == expected
    assert round(formula(tf=2, dl=3, df=2, F=3, N=4, T=10), 6) == expected


@pytest.mark.parametrize(("model", "formula", "_"), CASES, ids=[case[0].__name__ for case in CASES])
def test_defaults_against_the_slow_formula(collect, model, formula, _):
    check(collect, model, formula, {})


@pytest.mark.parametrize(
    ("model", "formula", "options"), OTHER_OPTIONS, ids=[case[0].__name__ for case in OTHER_OPTIONS]
)
def test_options_against_the_slow_formula(collect, model, formula, options):
    check(collect, model, formula, options)


def test_a_word_no_more_frequent_than_chance_is_no_evidence_for_dfiz(collect):
    run = DFIZ().rank(collect({"a": "xx yy", "b": "xx yy"}), [Query("q", "xx")])
    assert run.topics == ()


@pytest.mark.parametrize("model", [Dirichlet(mu=0.0), Hiemstra(lam=1.0), PL2(c=0.0), PL2(c=-1.0)], ids=repr)
def test_options_out_of_range_are_an_error(fruit, model):
    with pytest.raises(InputError, match="its options are out of range"):
        model.rank(fruit, fruit.queries)


def test_a_word_more_frequent_than_documents_counts_against_a_document_in_ifb2(collect):
    run = IFB2().rank(collect({"a": "xx xx xx xx", "b": "yy"}), [Query("q", "xx")])
    assert run.ranking("q")[0].score < 0
