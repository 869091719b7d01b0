"""RM3 from clicks, against the definition in dictionaries and against RM3 itself."""

from __future__ import annotations

from collections import Counter

import pytest

from ringtrue.data.collection import Collection
from ringtrue.data.load import load
from ringtrue.data.records import Document, LogQuery, Query
from ringtrue.data.runs import Run
from ringtrue.errors import InputError
from ringtrue.retrieval.bm25 import BM25
from ringtrue.retrieval.index import open_index
from ringtrue.retrieval.pipeline import parse_ranker
from ringtrue.retrieval.rankers.clickrm3 import ClickRM3
from ringtrue.retrieval.rm3 import RM3

FILLER = {f"f{n}": f"filler{n} words{n}" for n in range(40)}
TEXTS = {
    "c1": "cats purr softly purr",
    "c2": "kittens purr and meow at night",
    "c3": "dogs bark",
    "c4": "meow meow softly",
    **FILLER,
}
LOG = [
    LogQuery("l1", "why do cats purr", "web", ("c1",)),
    LogQuery("l2", "cats purring meaning", "web", ("c2", "c1", "gone")),
    LogQuery("l3", "how to bake bread", "web", ("c3",)),
    LogQuery("l4", "why do cats purr?", "web", ()),
]
QUERY = Query("q1", "why do cats purr")
HASHING = "encoder=hashing,threshold=.3"


@pytest.fixture
def cats():
    return Collection.from_records("cats", [Document(*item) for item in TEXTS.items()], [QUERY], None, LOG)


def notes(collection):
    return {note.what: note.times for note in collection.notes}


def test_feedback_is_what_was_clicked_for_similar_queries(cats):
    ranker = parse_ranker(f"clickrm3:{HASHING}")
    run = ranker.rank(cats, [QUERY])
    # the same as RM3 with these two documents as its first run, scored by the same model
    given = Run.from_results("given", {"q1": [("c1", 1.0), ("c2", 1.0)]})
    scored = BM25().rank(cats, [QUERY], given)
    expected = RM3().rank(cats, [QUERY], scored)
    assert run.ranking("q1") == expected.ranking("q1")
    assert "c4" in [line.doc_id for line in run.ranking("q1")]
    assert "c3" not in [line.doc_id for line in run.ranking("q1")]
    assert notes(cats)["clicked documents that are not in the collection"] == 1


def test_documents_that_do_not_match_the_query_are_dropped(cats):
    log = [LogQuery("l1", "why do cats purr", "", ("c3", "c1"))]
    only = Collection.from_records("cats", [Document(*item) for item in TEXTS.items()], [QUERY], None, log)
    with_both = ClickRM3(encoder="hashing", threshold=0.3).rank(only, [QUERY])
    given = BM25().rank(only, [QUERY], Run.from_results("given", {"q1": [("c1", 1.0)]}))
    assert with_both.ranking("q1") == RM3().rank(only, [QUERY], given).ranking("q1")


def test_terms_of_another_collection_count_by_the_statistics_of_the_searched_one(cats, tmp_path):
    folder = tmp_path / "other.jsonl"
    folder.write_text(
        '{"_id": "x1", "text": "why cats purr: softly softly meow unheard unheard"}\n{"_id": "x2", "text": "no"}\n'
    )
    log = tmp_path / "log.jsonl"
    log.write_text('{"_id": "l1", "text": "why do cats purr", "doc_ids": ["x1"]}\n')
    ranker = ClickRM3(encoder="hashing", threshold=0.9, log=str(log), documents=str(folder), model="bm25:stemmer=none")
    run = ranker.rank(cats, [QUERY])
    model = ranker.searcher()
    index = open_index(cats, model.analyser)
    # only what the searched collection knows: cats, purr and meow once, softly twice, of five counts
    learnt = Counter({"cats": 1 / 5, "purr": 1 / 5, "softly": 2 / 5, "meow": 1 / 5})
    mixed = {word: 0.5 * share for word, share in learnt.items()}
    for word in ("cats", "purr"):
        mixed[word] += 0.5 / 4
    weights = {index.terms.find(word): weight for word, weight in mixed.items()}
    expected = model.rank_terms(index, {"q1": weights})
    assert [line.doc_id for line in run.ranking("q1")] == [line.doc_id for line in expected.ranking("q1")]
    assert [line.score for line in run.ranking("q1")] == pytest.approx([x.score for x in expected.ranking("q1")])


def test_one_document_by_its_place(cats):
    first, second, none = (ClickRM3(encoder="hashing", threshold=0.3, place=place) for place in (1, 2, 9))
    for ranker, doc in ((first, "c1"), (second, "c2")):
        given = Run.from_results("given", {"q1": [(doc, 1.0)]})
        assert ranker.rank(cats, [QUERY]).ranking("q1") == RM3().rank(cats, [QUERY], given).ranking("q1")
    plain = [line.doc_id for line in BM25().rank(cats, [QUERY]).ranking("q1")]
    assert [line.doc_id for line in none.rank(cats, [QUERY]).ranking("q1")] == plain


def test_without_similar_queries_the_query_is_searched_as_it_is(cats):
    query = Query("q2", "dogs bark loudly")
    run = ClickRM3(encoder="hashing").rank(cats, [query])
    assert [line.doc_id for line in run.ranking("q2")] == ["c3"]
    assert notes(cats)["topics without clicked documents to expand with"] == 1


def test_topics_never_stand_in_for_a_log(collect):
    with pytest.raises(InputError, match="give one with log=PATH"):
        ClickRM3(encoder="hashing").rank(collect(TEXTS, [QUERY]), [QUERY])
    with pytest.raises(InputError, match="threshold a cosine"):
        ClickRM3(threshold=3.0).rank(collect(TEXTS, [QUERY]), [QUERY])


def test_the_log_of_lighthouse_finds_clicks():
    lighthouse = load("builtin:lighthouse")
    asked = lighthouse.queries[:5]
    run = ClickRM3(encoder="hashing", threshold=0.5).rank(lighthouse, asked)
    assert run.topics == tuple(sorted(query.query_id for query in asked))
