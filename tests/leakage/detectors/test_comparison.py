from __future__ import annotations

from pathlib import Path

import pytest

from ringtrue.data.load import load
from ringtrue.data.records import LogQuery, Query
from ringtrue.errors import InputError, UnknownNameError
from ringtrue.leakage.candidates import Candidate
from ringtrue.leakage.detectors.catalog import USUAL
from ringtrue.leakage.detectors.comparison import compare, detect
from ringtrue.leakage.detectors.detector import Hit


def hit(topic: str, query: str) -> Hit:
    return Hit(topic, "title", f"text {topic}", query, f"query {query}", 1.0)


def test_who_misses_what():
    found = compare(
        {
            "a": [hit("1", "x"), hit("1", "y"), hit("2", "x")],
            "b": [hit("1", "y"), hit("1", "y")],
            "meaning": [Candidate("3", "title", "text", "z", "query z", 0.9)],
        }
    )
    assert [one.query_id for one in found.missed("a", "b")] == ["x", "x"]
    assert found.missed("b", "a") == []
    assert [(one.topic_id, one.query_id) for one in found.only("a")] == [("1", "x"), ("2", "x")]
    counts, matrix, examples = found.tables(examples=1)
    assert counts.rows == (("a", 3, 2, 2, 2, 0.75), ("b", 1, 1, 1, 0, 0.25), ("meaning", 1, 1, 1, 1, 0.25))
    assert matrix.rows == (("a", 0, 2, 3), ("b", 0, 0, 1), ("meaning", 1, 1, 0))
    assert examples.rows == (("a", "1", "text 1", "x", "query x"), ("meaning", "3", "text", "z", "query z"))


def test_one_id_of_two_queries_is_two_pairs():
    one, other = hit("1", "7"), hit("1", "7")._replace(query="of another source")
    counts, matrix, _ = compare({"a": [one, other], "b": [other]}).tables()
    assert counts.rows == (("a", 2, 1, 2, 1, 1.0), ("b", 1, 1, 1, 0, 0.5))
    assert matrix.rows == (("a", 0, 1), ("b", 0, 0))


def test_nothing_found_has_tables_too():
    counts, matrix, examples = compare({"a": [], "b": []}).tables()
    assert counts.rows == (("a", 0, 0, 0, 0, None), ("b", 0, 0, 0, 0, None))
    assert (len(matrix.rows), examples.rows) == (2, ())


def test_detectors_by_name_beside_a_search():
    topics = [Query("1", "black bear attacks")]
    lines = [LogQuery("p", "Black bear attacks"), LogQuery("q", "attacks by a black bear"), LogQuery("r", "wolves")]
    found = detect(
        topics, lambda: lines, ["exact", "tokens:stemmer=porter2,stopwords=english"],
        {"minilm": [Candidate("1", "title", "black bear attacks", "q", "attacks by a black bear", 0.95)]},
    )  # fmt: skip
    assert {name: sorted(query for _, query, _ in pairs) for name, pairs in found.found.items()} == {
        "minilm": ["q"],
        "exact": ["p"],
        "tokens:stemmer=porter2,stopwords=english": ["p", "q"],
    }
    with pytest.raises(UnknownNameError, match="did you mean exact"):
        detect(topics, lambda: lines, ["exat"])
    with pytest.raises(InputError, match="named twice"):
        detect(topics, lambda: lines, ["exact", "exact"])


def test_stricter_detectors_find_less_on_the_built_in_log():
    collection = load("builtin:lighthouse")
    found = detect(collection.queries, collection.log).found
    assert list(found) == list(USUAL)
    assert found["exact"]
    for strict, loose in (("exact", "tokens"), ("tokens", "tokens:porter2"), ("ngrams:13", "ngrams:8")):
        assert set(found[strict]) <= set(found[loose])


def test_the_query_log_holds_titles_of_robust04(shared: Path):
    folder = shared / "leakage"
    topics = load(folder / "topics.robust04.txt", variants=folder / "robust04-query-variants.txt").queries
    found = detect(topics, load(folder / "query-log.tsv").log, ["exact", "tokens:porter2", "ngrams:13"]).found
    assert {name: len(pairs) for name, pairs in found.items()} == {"exact": 8, "tokens:porter2": 11, "ngrams:13": 0}
