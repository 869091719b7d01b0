from __future__ import annotations

import random
from collections import Counter

import pytest

from ringtrue.data.records import Query
from ringtrue.data.runs import Run
from ringtrue.errors import InputError, UnknownNameError
from ringtrue.retrieval.analysis import Analyser
from ringtrue.retrieval.bm25 import BM25
from ringtrue.retrieval.index import open_index
from ringtrue.retrieval.pipeline import parse_ranker
from ringtrue.retrieval.rm3 import RM3

PLAIN = "bm25:stemmer=none"
LETTERS = [chr(code) * 2 for code in range(97, 123)]


@pytest.fixture
def texts():
    rng = random.Random(8)
    return {f"d{n:02}": " ".join(rng.choices(LETTERS, range(1, 27), k=rng.randint(5, 40))) for n in range(60)}


def expansion(collection, rm3, query, scored):
    index = open_index(collection, Analyser("none"))
    feedback = Run.from_results("given", {"q": scored}).ranking("q")
    found = rm3.expand(index, query.split(), feedback)
    return {index.terms[term]: weight for term, weight in found.items()}


def slow_expansion(texts, rm3, query, scored):
    """The definition, a dictionary a document."""
    bags = {doc_id: Counter(text.split()) for doc_id, text in texts.items()}

    def heaviest(weights):
        kept = dict(sorted(weights.items(), key=lambda item: (-item[1], item[0]))[: rm3.fb_terms])
        return {term: weight / sum(kept.values()) for term, weight in kept.items()}

    model: Counter[str] = Counter()
    for doc_id, score in scored[: rm3.fb_docs]:
        usable = {
            term: count
            for term, count in bags[doc_id].items()
            if sum(term in bag for bag in bags.values()) <= rm3.max_df * len(bags)
        }
        for term, weight in heaviest(usable).items():
            model[term] += weight * score
    words = query.split()
    mixed = Counter({term: (1 - rm3.original_weight) * weight for term, weight in heaviest(model).items()})
    for word in words:
        if any(word in bag for bag in bags.values()):
            mixed[word] += rm3.original_weight / len(words)
    return dict(mixed)


def test_worked_example(fruit):
    # d1 gives apple 2/3 and banana 1/3 with weight 3, d2 banana 1/2 and cherry 1/2 with weight 1:
    # apple 2, banana 1.5, cherry .5; the best two are apple 4/7 and banana 3/7; half of it goes to the query's egg
    rm3 = RM3(fb_docs=2, fb_terms=2, max_df=1.0)
    found = expansion(fruit, rm3, "egg", [("d1", 3.0), ("d2", 1.0), ("d3", 0.5)])
    assert found == pytest.approx({"apple": 2 / 7, "banana": 3 / 14, "egg": 1 / 2})


def test_words_that_no_document_has_still_count_in_the_query(fruit):
    found = expansion(fruit, RM3(max_df=0.3), "egg unknown", [("d3", 1.0)])
    assert found == pytest.approx({"date": 0.5, "egg": 0.25})


@pytest.mark.parametrize(
    "rm3", [RM3(max_df=0.9), RM3(fb_docs=3, fb_terms=4, original_weight=0.2, max_df=0.5), RM3(max_df=0.3)], ids=repr
)
def test_against_the_definition(collect, texts, rm3):
    scored = [(f"d{n:02}", 9.0 - n / 7) for n in range(12)]
    found = expansion(collect(texts), rm3, "aa zz zz nothing", scored)
    assert found == pytest.approx(slow_expansion(texts, rm3, "aa zz zz nothing", scored))


@pytest.mark.parametrize(
    ("weights", "expected"),
    [("score", (0.6, 0.4)), ("uniform", (0.5, 0.5)), ("likelihood", (1 / (1 + 0.36787944), 0.36787944 / 1.36787944))],
)
def test_document_weights(collect, weights, expected):
    collection = collect({"a": "aa", "b": "bb", "c": "cc"})
    rm3 = RM3(original_weight=0.0, max_df=0.5, document_weights=weights)
    found = expansion(collection, rm3, "cc", [("a", 3.0), ("b", 2.0)])
    assert found == pytest.approx(dict(zip(("aa", "bb"), expected, strict=True)))


def test_terms_are_filtered_by_length_but_single_ideographs_stay(collect):
    collection = collect({"a": "x ok " + "y" * 21 + " 語 yes", "b": "other", "c": "more"})
    rm3 = RM3(original_weight=0.0, max_df=0.5)
    assert sorted(expansion(collection, rm3, "", [("a", 1.0)])) == ["ok", "yes", "語"]


def test_with_all_weight_on_the_query_the_ranking_stays(collect, texts):
    queries = [Query("q", "aa dd zz")]
    plain = BM25(stemmer="none").rank(collect(texts), queries)
    expanded = RM3(original_weight=1.0, model=PLAIN).rank(collect(texts), queries)
    assert [line.doc_id for line in expanded.ranking("q")] == [line.doc_id for line in plain.ranking("q")]


def test_the_collection_is_searched_again(collect):
    texts = {"seed": "cat feline", "hidden": "feline", "other": "dog", "more": "bird", "last": "fish"}
    queries = [Query("q", "cat")]
    run = parse_ranker("bm25 >> rm3:max_df=0.5").rank(collect(texts), queries)
    assert [line.doc_id for line in run.ranking("q")] == ["seed", "hidden"]
    assert run.name == "bm25 >> rm3:max_df=0.5"


def test_without_candidates_its_own_model_gives_the_feedback(collect, texts):
    collection, queries = collect(texts), [Query("q", "bb cc"), Query("none", "unknown")]
    alone = RM3(max_df=0.5).rank(collection, queries)
    assert alone.rankings == parse_ranker("bm25 >> rm3:max_df=.5").rank(collection, queries).rankings
    assert alone.topics == ("q",)


def test_other_models_and_their_options(collect, texts):
    collection, queries = collect(texts), [Query("q", "bb cc")]
    rm3 = parse_ranker("rm3:model=bm25:k1=1.2;b=.75;depth=7,original_weight=1")
    run = rm3.rank(collection, queries)
    expected = BM25(k1=1.2, b=0.75, depth=7).rank(collection, queries)
    assert [line.doc_id for line in run.ranking("q")] == [line.doc_id for line in expected.ranking("q")]
    assert len(parse_ranker("rm3:model=pl2").rank(collection, queries).ranking("q")) > 0


def test_what_cannot_be_done_is_said(fruit):
    with pytest.raises(InputError, match=r"topic 'q1' has a feedback document with score -1\.0"):
        RM3().rank(fruit, fruit.queries, Run.from_results("given", {"q1": [("d1", 1.0), ("d2", -1.0)]}))
    with pytest.raises(InputError, match="model 'rm3' cannot take weighted terms"):
        RM3(model="rm3").rank(fruit, fruit.queries)
    with pytest.raises(UnknownNameError, match="did you mean bm25"):
        RM3(model="bm52").rank(fruit, fruit.queries)
    with pytest.raises(InputError, match="original_weight from 0 to 1"):
        RM3(original_weight=1.5).rank(fruit, fruit.queries)
