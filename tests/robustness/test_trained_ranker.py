"""The whole way of a ranker that is trained here: triples, weights, and how it takes other forms of the queries."""

from __future__ import annotations

import numpy as np
import pytest
import toy
from ir_measures import AP

from ringtrue.data.records import Query
from ringtrue.retrieval.pipeline import parse_ranker
from ringtrue.robustness.evaluate import compare, score
from ringtrue.robustness.ranking import rank_task
from ringtrue.robustness.task import Slot, make_task

pytest.importorskip("torch")
pytest.importorskip("safetensors")

from ringtrue.retrieval.training.ranker import train_ranker
from ringtrue.retrieval.training.settings import Settings
from ringtrue.retrieval.training.triples import Triples

SWAPPED = Slot("ordering", "RandOrderSwap")


@pytest.fixture(scope="module")
def knrm(tmp_path_factory):
    """A small one that knows which documents are relevant."""
    folder = tmp_path_factory.mktemp("knrm")
    words = sorted({word for text in toy.DOCUMENTS.values() for word in text.split()})
    rng = np.random.default_rng(1)
    lines = (f"{word} {' '.join(f'{number:.4f}' for number in rng.normal(size=8))}\n" for word in words)
    (folder / "w.txt").write_text("".join(lines), encoding="utf-8")
    titles = {query.query_id: query.title for query in toy.QUERIES}
    relevant = [(query_id, doc_id) for query_id, doc_id, grade in toy.QRELS if grade > 0]
    others = [[doc_id for doc_id in toy.DOCUMENTS if (query_id, doc_id) not in relevant] for query_id, _ in relevant]
    triples = Triples.from_texts(
        (titles[query_id], toy.DOCUMENTS[doc_id], toy.DOCUMENTS[other])
        for (query_id, doc_id), some in zip(relevant, others, strict=True)
        for other in some
    )
    settings = Settings(epochs=40, batch=8, learning_rate=0.05, seed=1)
    train_ranker(f"knrm:vectors={folder / 'w.txt'}", triples, folder / "ranker", settings, device="cpu")
    return f"bm25 % 6 >> knrm:checkpoint={folder / 'ranker'}"


@pytest.fixture
def task():
    return make_task(toy.QUERIES, toy.COLLECTION.qrels.topics, toy.checked())


def test_variations_are_ranked_as_if_each_was_asked_alone(knrm, task):
    ranker = parse_ranker(knrm)
    ranked = rank_task(ranker, toy.COLLECTION, task)
    assert ranked.failures == ()
    for slot, texts in task.texts.items():
        for query_id, text in texts.items():
            alone = ranker.rank(toy.COLLECTION, [Query(query_id, text)])
            found = {line.doc_id: line.score for line in ranked.varied[slot].ranking(query_id)}
            assert found == pytest.approx({line.doc_id: line.score for line in alone.ranking(query_id)}, abs=1e-5)
    assert ranked.varied[SWAPPED].topics == ("q1", "q3")


def test_the_order_of_words_counts_for_nothing_and_a_misspelled_word_for_much(knrm, task):
    values = score(rank_task(parse_ranker(knrm), toy.COLLECTION, task), task, toy.COLLECTION.qrels, [AP])
    misspelled, swapped, *_ = compare(values, AP)
    assert swapped.original == pytest.approx(1.0), "it learned them by heart"
    assert swapped.varied == pytest.approx(swapped.original)
    assert misspelled.varied < misspelled.original - 0.1


def test_reranking_alone_keeps_the_candidates_of_the_original_query(knrm, task):
    ranked = rank_task(parse_ranker(knrm), toy.COLLECTION, task, rerank_only=True)
    for slot, texts in task.texts.items():
        for query_id in texts:
            found = {line.doc_id for line in ranked.varied[slot].ranking(query_id)}
            assert found == {line.doc_id for line in ranked.original.ranking(query_id)}
