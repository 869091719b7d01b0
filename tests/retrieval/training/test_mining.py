from __future__ import annotations

import pytest

from ringtrue.data.collection import Collection
from ringtrue.data.load import load
from ringtrue.data.records import Document, LogQuery, Query
from ringtrue.errors import InputError
from ringtrue.retrieval.bm25 import BM25
from ringtrue.retrieval.training.mining import mine_triples

DOCUMENTS = [
    Document("a", "rust on iron ships"),
    Document("b", "iron ore and ships"),
    Document("c", "paint for ships"),
    Document("d", ""),
    Document("e", "yeast"),
]


def small(*log: LogQuery) -> Collection:
    return Collection.from_records("small", DOCUMENTS, (), (), log)


def test_negatives_are_found_by_bm25_and_are_no_positives():
    collection = load("builtin:lighthouse")
    log = {entry.text: entry for entry in collection.log()}
    ids = {document.body: document.doc_id for document in collection.documents()}
    triples, notes = mine_triples(collection, most=300)
    assert len(triples) == 300
    assert {note.what for note in notes} <= {"queries left out: nothing but relevant documents is found"}
    run = BM25(depth=100).rank(collection, [Query(text, text) for text in triples.queries])
    for number in range(300):
        query, relevant, other = triples.texts(number)
        assert ids[relevant] in log[query].doc_ids
        assert ids[other] not in log[query].doc_ids
        assert ids[other] in {line.doc_id for line in run.ranking(query)}


def test_the_seed_decides():
    collection = load("builtin:lighthouse")
    keys = [mine_triples(collection, most=50, seed=seed).triples.fingerprint() for seed in (1, 1, 2)]
    assert keys[0] == keys[1] != keys[2]


def test_every_query_counts_or_is_counted():
    triples, notes = mine_triples(
        small(
            LogQuery("1", "iron ships", "", ("a", "gone")),
            LogQuery("1", "paint ships", "", ("c",)),
            LogQuery("2", "no positives"),
            LogQuery("3", "positive without text", "", ("d",)),
            LogQuery("4", "positive not there", "", ("gone",)),
            LogQuery("5", "yeast", "", ("e",)),
        )
    )
    found = [triples.texts(number) for number in range(len(triples))]
    assert [(query, relevant) for query, relevant, _ in found] == [
        ("iron ships", "rust on iron ships"),
        ("paint ships", "paint for ships"),
    ]
    assert found[0][2] in {"iron ore and ships", "paint for ships"}
    assert {(note.what, note.times, note.first) for note in notes} == {
        ("queries left out: they have no relevant document", 1, "query 2"),
        ("queries left out: no relevant document of theirs has a text", 2, "query 3"),
        ("queries left out: nothing but relevant documents is found", 1, "query 5"),
    }


def test_queries_can_be_refused():
    log = LogQuery("1", "iron ships", "", ("a",)), LogQuery("2", "paint ships", "", ("c",))
    triples, _ = mine_triples(small(*log), wanted=lambda entry: entry.query_id != "1")
    assert triples.queries == ("paint ships",)


def test_what_is_relevant_for_the_same_words_is_no_negative():
    log = [LogQuery(str(number), "iron ships", "", (doc,)) for number, doc in enumerate("ab")]
    for seed in range(5):
        triples, _ = mine_triples(small(*log), seed=seed)
        assert {triples.texts(number)[2] for number in range(2)} == {"paint for ships"}


def test_a_log_that_gives_nothing_is_told():
    with pytest.raises(InputError, match=r"gives no triples: .*1 queries left out: they have no relevant document"):
        mine_triples(small(LogQuery("2", "no positives")))
    with pytest.raises(InputError, match="gives 1 triples, but 2 are asked for"):
        mine_triples(small(LogQuery("1", "iron ships", "", ("a",)), LogQuery("5", "yeast", "", ("e",))), most=2)
