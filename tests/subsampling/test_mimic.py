from __future__ import annotations

import pytest

from ringtrue.data.collection import Collection
from ringtrue.data.load import load
from ringtrue.data.records import Document, Query
from ringtrue.errors import InputError
from ringtrue.subsampling.mimic import mimic


@pytest.fixture(scope="module")
def lighthouse() -> Collection:
    return load("builtin:lighthouse")


def ids(collection: Collection, step: int) -> list[str]:
    return [document.doc_id for place, document in enumerate(collection.documents()) if place % step == 0]


def test_the_whole_corpus_is_mimicked_exactly(lighthouse):
    (row,) = mimic(lighthouse, ["bm25"], [("all", ids(lighthouse, 1))])
    assert (row.rbo, row.recall, row.overlap, row.condensed_rbo) == pytest.approx((1, 1, 1, 1))
    assert (row.missing, row.statistics) == pytest.approx((0, 0))
    assert row.topics == 50 and row.family == "lexical"


def test_half_the_corpus_loses_documents_and_words_lose_statistics(lighthouse):
    lexical, dense = mimic(lighthouse, ["bm25", "biencoder:hashing"], [("half", ids(lighthouse, 2))])
    for row in (lexical, dense):
        assert row.missing + row.statistics == pytest.approx(1 - row.rbo)
        assert 0.2 < row.missing < 0.8 and row.interval.low <= row.rbo <= row.interval.high
    assert dense.family == "bi-encoder"
    assert dense.condensed_rbo == pytest.approx(1) and dense.statistics == pytest.approx(0, abs=1e-9)
    assert lexical.condensed_rbo < 0.999


def test_a_ranker_that_was_trained_here_has_no_statistics_to_lose(lighthouse, tmp_path):
    pytest.importorskip("safetensors")
    ranker = pytest.importorskip("ringtrue.retrieval.training.ranker")
    mining = pytest.importorskip("ringtrue.retrieval.training.mining")
    triples = mining.mine_triples(lighthouse, most=32, seed=1).triples
    ranker.train_ranker("knrm:document_length=60", triples, tmp_path, device="cpu")
    samples = [("all", ids(lighthouse, 1)), ("half", ids(lighthouse, 2))]
    whole, half = mimic(lighthouse, [f"bm25 >> knrm:checkpoint={tmp_path},device=cpu"], samples)
    assert whole.rbo == pytest.approx(1)
    assert half.family == "interaction"
    assert half.condensed_rbo == pytest.approx(1), "a pair has the same score in any corpus"
    assert half.statistics == pytest.approx(0, abs=1e-9) and half.missing == pytest.approx(1 - half.rbo)
    assert 0.2 < half.missing < 0.8


def test_two_documents_by_hand():
    """The sample lacks the first of two documents: only the second can be found."""
    documents = [Document("a", "lamp lamp oil"), Document("b", "lamp and wick in a glass")]
    collection = Collection.from_records("two", documents, [Query("1", "lamp")])
    (row,) = mimic(collection, ["bm25"], [("one", ["b"])])
    assert row.recall == 0.5
    assert row.condensed_rbo == pytest.approx(1)
    assert row.statistics == pytest.approx(0)


def test_ids_that_the_collection_lacks_are_no_documents(lighthouse):
    (row,) = mimic(lighthouse, ["bm25"], [("some", [*ids(lighthouse, 2), "nowhere"])])
    assert row.documents == len(ids(lighthouse, 2))


def test_without_documents_nothing_can_be_searched():
    with pytest.raises(InputError, match="needs the documents"):
        mimic(Collection.from_records("none", None, [Query("1", "x")]), ["bm25"], [("x", ["a"])])
