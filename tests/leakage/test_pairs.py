from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files

import pytest

from ringtrue.data.collection import Collection
from ringtrue.data.load import load
from ringtrue.data.logs import positives_of
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import LogQuery, Positive, Qrel, Query
from ringtrue.errors import FormatError, InputError
from ringtrue.leakage.candidates import Candidate
from ringtrue.leakage.pairs import check_positives, find_leaked_pairs, pairs_between, read_positives

QRELS = Qrels.from_records(
    [Qrel("1", "a", 2), Qrel("1", "b", 0), Qrel("1", "c", 1), Qrel("2", "a", 0), Qrel("2", "d", 1), Qrel("3", "e", 0)]
)


def candidate(topic_id: str, query_id: str, similarity: float = 0.95) -> Candidate:
    return Candidate(
        topic_id=topic_id, field="title", text="t", query_id=query_id, query=f"query {query_id}", similarity=similarity,
        type="", probability=None, source="web",
    )  # fmt: skip


def test_worked_example():
    positives = [
        Positive("q1", "a"),  # leaks topic 1, relevant there; topic 2 is not leaked by it
        Positive("q1", "a"),  # the same pair again, as triples have it
        Positive("q1", "b"),  # judged, not relevant
        Positive("q2", "d"),  # no leak
        Positive("q3", "zzz"),  # leaks, but its document is not judged
    ]
    found = find_leaked_pairs(positives, QRELS, [candidate("1", "q1"), candidate("2", "q3")])
    assert (found.positives, found.judged, found.judged_seen) == (5, 5, 3)
    assert [(pair.topic_id, pair.query_id, pair.doc_id, pair.relevance) for pair in found.pairs] == [
        ("1", "q1", "a", 2),
        ("1", "q1", "b", 0),
    ]
    assert found.topics[0] == ("1", 3, 2, 2, 1, 1)
    assert found.topics[1] == ("2", 2, 2, 1, 1, 0)
    assert found.topics[2] == ("3", 1, 0, 0, 0, 0)


def test_a_query_that_leaks_two_topics_counts_for_both():
    leaks = [candidate("1", "q1", 0.92), candidate("2", "q1", 0.99)]
    found = find_leaked_pairs([Positive("q1", "a")], QRELS, leaks)
    assert [(pair.topic_id, pair.relevance, pair.similarity) for pair in found.pairs] == [
        ("1", 2, 0.92),
        ("2", 0, 0.99),
    ]


def test_a_stream_is_read_once():
    positives = iter([Positive("q1", "a")])
    assert find_leaked_pairs(positives, QRELS, iter([candidate("1", "q1")])).positives == 1


EXPECTED = [Positive("q1", "a"), Positive("q2", "d")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("triples.tsv", "q1\ta\tx\nq2\td\ty\n"),
        ("pairs.tsv", "query_id\tpositive\nq1\ta\nq2\td\n"),
        ("pairs.txt", "q1 a\nq2 d\n\n"),
        ("qrels.txt", "q1 0 a 1\nq1 0 b 0\nq2 0 d 3\n"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t0\nq2\td\t2\n"),
        ("bare.tsv", "q1\t0\ta\t1\nq1\t0\tb\t0\nq2\t0\td\t3\n"),
        ("log.jsonl", '{"_id": "q1", "text": "x", "doc_ids": ["a"]}\n{"_id": "q2", "text": "y", "positives": "d"}\n'),
    ],
)
def test_every_form_of_training_data_gives_the_same_pairs(name, content, tmp_path):
    path = tmp_path / name
    path.write_text(content)
    assert list(read_positives(path)) == EXPECTED


def test_judgments_are_told_by_their_columns_however_few_they_are(tmp_path):
    (tmp_path / "few.txt").write_text("q1 0 a 1\nq2 0 d 0\n")
    assert list(read_positives(tmp_path / "few.txt")) == EXPECTED[:1]
    (tmp_path / "scored.txt").write_text("q1 a b 1\n")
    with pytest.raises(FormatError, match="4 columns where query_id, positive"):
        list(read_positives(tmp_path / "scored.txt"))


def test_a_pair_of_two_sources_counts_once_where_the_leak_tells_none():
    positives = [Positive("q1", "a", "web"), Positive("q1", "a", "questions")]
    leak = candidate("1", "q1")._replace(source="")
    assert len(find_leaked_pairs(positives, QRELS, [leak]).pairs) == 1


def test_a_log_in_memory_gives_its_pairs():
    log = [LogQuery("q1", "x", "web", ("a",)), LogQuery("q5", "no documents"), LogQuery("q2", "y", "", ("d",))]
    assert list(positives_of(log)) == [Positive("q1", "a", "web"), Positive("q2", "d")]


def test_one_id_in_two_sources_is_two_queries():
    leaks = [Candidate("1", "title", "t", "q1", "x", 0.9, source="web")]
    other = find_leaked_pairs([Positive("q1", "a", "orcas")], QRELS, leaks)
    assert not other.pairs and other.judged_seen == 1
    for source in ("web", None):
        found = find_leaked_pairs([Positive("q1", "a", source)], QRELS, leaks)
        assert [pair.query_id for pair in found.pairs] == ["q1"]
    unsourced = [one._replace(source="") for one in leaks]
    assert len(find_leaked_pairs([Positive("q1", "a", "web")], QRELS, unsourced).pairs) == 1


def test_a_log_without_documents_is_no_list_of_pairs(tmp_path):
    (tmp_path / "log.tsv").write_text("q1\thow to cook rice\tweb\n")
    with pytest.raises(FormatError, match="line 1: 6 columns where query_id, positive"):
        list(read_positives(tmp_path / "log.tsv"))


def test_broken_training_judgments_say_where(tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq2 0 a 1\nq3 0 a 1\n" + "q9 0 a 0\n" * 60 + "q3 0 a\n")
    with pytest.raises(FormatError, match="line 64: 3 columns"):
        list(read_positives(tmp_path / "qrels.txt"))


@pytest.fixture
def judged() -> Collection:
    return Collection.from_records("test", queries=[Query("1", "t")], qrels=QRELS)


def test_positives_of_a_file_come_before_those_of_the_log(tmp_path, judged):
    log = Collection.from_records("log", log=[LogQuery("q1", "t", "", ("c",))])
    path = tmp_path / "pairs.tsv"
    path.write_text("q1\ta\nq1\tnot-judged\nq2\td\n")
    own, given = (pairs_between(judged, log, [candidate("1", "q1")], file) for file in (None, path))
    assert own is not None and [pair.doc_id for pair in own.pairs] == ["c"]
    assert given is not None and [pair.doc_id for pair in given.pairs] == ["a"]
    assert (given.positives, given.judged_seen) == (3, 2)
    assert set(own.inputs) == {"qrels"} and set(given.inputs) == {"qrels", "positives"}
    assert pairs_between(replace(judged, source=log.source), log, ()) is None


def test_positives_are_looked_at_before_the_search(tmp_path, judged):
    path = tmp_path / "pairs.tsv"
    path.write_text("q1\ta\n")
    check_positives(path, judged)
    with pytest.raises(InputError, match=r"'bare' has none; give them with --qrels"):
        check_positives(path, Collection.from_records("bare", queries=[Query("1", "t")]))
    path.write_text("query_id\tpositive\n")
    with pytest.raises(FormatError, match="no training positives in this file"):
        check_positives(path, judged)
    path.write_text("q1\thow to cook rice\n")
    with pytest.raises(FormatError, match="line 1: 5 columns"):
        check_positives(path, judged)


def test_lighthouse_pairs_are_those_of_a_plain_loop():
    collection = load("builtin:lighthouse")
    planted = files("ringtrue.data").joinpath("lighthouse/leaks.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in planted]
    sources = {entry.query_id: entry.source for entry in collection.log()}
    leaks = [
        candidate(row["topic_id"], row["query_id"])._replace(source=sources[row["query_id"]])
        for row in rows
        if row["type"] != "different-topic"
    ]
    found = find_leaked_pairs(collection.positives(), collection.qrels, leaks)
    documents = {entry.query_id: entry.doc_ids for entry in collection.log()}
    grades = collection.qrels.by_topic
    plain = {
        (leak.topic_id, leak.query_id, doc_id, grades[leak.topic_id][doc_id])
        for leak in leaks
        for doc_id in documents[leak.query_id]
        if doc_id in grades[leak.topic_id]
    }
    assert {(pair.topic_id, pair.query_id, pair.doc_id, pair.relevance) for pair in found.pairs} == plain
    assert len(found.pairs) == len(plain) > 400
    assert sum(topic.relevant_leaked > 0 for topic in found.topics) == 26
