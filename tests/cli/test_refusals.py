"""What matches nothing, and what would have no effect, is refused with a word on what was compared."""

from __future__ import annotations

import json

import pytest

CANDIDATE = {
    "topic_id": "101", "field": "title", "text": "lighthouse lamp fuel", "query_id": "lights-q251",
    "query": "lighthouse lamp fuel", "similarity": 1.0, "type": "identical", "probability": 0.97, "source": "web",
}  # fmt: skip
VARIATIONS = "query_id,category,method,original,variation,seed,reason\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What a search and `vary` write for the built-in collection, and files of another collection beside them."""
    monkeypatch.chdir(tmp_path)
    for name, content in {
        "found.jsonl": json.dumps(CANDIDATE) + "\n",
        "other.jsonl": json.dumps({**CANDIDATE, "topic_id": "x1", "query_id": "y1"}) + "\n",
        "variations.csv": VARIATIONS + "101,ordering,M,lighthouse lamp fuel,lamp lighthouse fuel,1,\n",
        "labels.csv": "topic_id,query_id,text,label\nt9,q9,a query,Title-Identical\n",
        "valid.csv": "query_id,method,category,original,variation,valid\n9,M,C,a b,b a,true\n",
        "topics.tsv": "901\tone two\n",
        "variants.txt": "901-u-1;one two\n",
        "qrels.txt": "901 0 none 1\n",
    }.items():
        (tmp_path / name).write_text(content)
    return tmp_path


FOUND = ("--candidates", "found.jsonl")
OTHER = ("--candidates", "other.jsonl")
LOG = ("--train", "builtin:lighthouse", "--out", "clean")
VARIED = ("robustness", "evaluate", "--variations", "variations.csv", "--no-encoder")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("leakage", "clean", *OTHER, *LOG), "none of the 1 queries to drop (y1) is among the 3,611 records"),
        (
            ("leakage", "clean", *FOUND, *LOG, "--labels", "labels.csv"),
            "none of the 1 labelled pairs (topic t9",
        ),
        (("leakage", "sample", *OTHER), "is among the 50 topics given (101, 102,"),
        (("leakage", "sample", *FOUND, "--test", "topics.tsv"), "give the topics that were searched for"),
        (("leakage", "labels", "labels.csv", "--topics", "mine=topics.tsv"), "labelled topics (t9) is in mine"),
        (("leakage", "impact", *OTHER), "is among the 50 judged ones (101"),
        (
            ("leakage", "search", "--variants", "variants.txt", "--encoder", "hashing"),
            "the variants of another",
        ),
        (("subsample", "graph", "--qrels", "qrels.txt", "--out", "graph"), "none of the 1 documents (none)"),
        (("subsample", "reliability", "--qrels", "qrels.txt"), "no topic in common"),
        (("subsample", "build", "--qrels", "qrels.txt"), "no topic in common"),
        ((*VARIED, "--labels", "valid.csv"), "none of the 1 labels (query 9"),
        ((*VARIED, "--queries", "topics.tsv"), "no variation is of a known query"),
        ((*VARIED, "--qrels", "qrels.txt"), "judgments of other topics"),
    ],
)
def test_what_matches_nothing(call, folder, arguments, message):
    done = call(*arguments)
    assert done.returncode == 2, done.stdout
    assert message in done.stderr and done.stdout == ""
    assert not (folder / "clean").exists() or not any((folder / "clean").iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("leakage", "sample", *FOUND, "--low", 0.9), "--low has no effect without --n"),
        (("leakage", "sample", *FOUND, "--n", 5, "--per-topic", 2), "--per-topic has no effect with --n"),
        (("leakage", "search", "--recall", 0.9), "--recall has no effect without --mode cascade"),
        (("leakage", "search", "--effort", 0.5), "--effort has no effect without --mode cascade"),
        (("leakage", "search", "--seed", 1), "--seed has no effect without --mode cascade"),
        (("audit", "--runs", "found.jsonl", "--threshold", 0.9), "--threshold is for the search for leaks"),
        (("audit", "--runs", "found.jsonl", "--positives", "p.tsv"), "--positives is for the search for leaks"),
        (("leakage", "clean", *FOUND, *LOG, "--likely", 0.3), "--likely has no effect without --counted likely"),
        (("subsample", "build", "--bytes-per-doc", 9), "--bytes-per-doc has no effect without --bytes"),
        (("subsample", "build", "--docs", 300, "--sampler", "judged"), "--sampler has no effect with --docs"),
        (("robustness", "classify", "a b", "b a", "--out", "x"), "--out has no effect without --annotations"),
        (("robustness", "classify", "a", "b", "c"), "is a third"),
        (("audit", "--page", "x.html"), "--page has no effect without --out"),
        (("audit", "--runs", "found.jsonl", "--train", "t.tsv"), "--train needs the test topics"),
        (("audit", "--runs", "found.jsonl", "--ranker", "bm25"), "--ranker needs the test topics"),
        (("audit", "--queries", "topics.tsv", "--variations", "v.csv"), "--variations needs a --ranker"),
        (("audit", "--queries", "topics.tsv"), "nothing to audit"),
    ],
)
def test_what_would_have_no_effect(call, folder, arguments, message):
    done = call(*arguments)
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert done.stdout == ""


def test_fewer_pairs_than_asked_for_are_counted(call, folder):
    done = call("leakage", "sample", *FOUND, "--n", 100_000, "--out", "all.csv")
    assert done.returncode == 0 and "all that there are where 100,000 were asked for" in done.stderr


def test_candidates_without_a_probability_are_told(call, folder):
    far = {**CANDIDATE, "query_id": "lights-q1", "similarity": 0.7, "type": None, "probability": None}
    (folder / "two.jsonl").write_text(f"{json.dumps(CANDIDATE)}\n{json.dumps(far)}\n")
    done = call("leakage", "clean", "--candidates", "two.jsonl", *LOG, "--counted", "likely")
    assert done.returncode == 0 and "1 candidates have no probability" in done.stderr
    again = call("leakage", "clean", "--candidates", "two.jsonl", *LOG, "--counted", "likely", "--threshold", 0.8)
    assert again.returncode == 0 and "no probability" not in again.stderr


def test_files_of_a_collection_need_no_collection(call, folder):
    (folder / "docs.jsonl").write_text('{"_id": "d1", "text": "one two three"}\n{"_id": "d2", "text": "four"}\n')
    (folder / "own.txt").write_text("901 0 d1 1\n")
    done = call("subsample", "graph", "--documents", "docs.jsonl", "--qrels", "own.txt", "--out", "graph.jsonl")
    assert done.returncode == 0 and "the graph of 1 documents is in graph.jsonl" in done.stderr
    (folder / "own.csv").write_text(
        "query_id,category,method,original,variation,seed,reason\n901,ordering,M,one two,two one,1,\n"
    )
    done = call(
        "robustness", "evaluate", "--variations", "own.csv", "--documents", "docs.jsonl", "--queries", "topics.tsv",
        "--qrels", "own.txt", "--ranker", "bm25", "--no-encoder", "-q",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
