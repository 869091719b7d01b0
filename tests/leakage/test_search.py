"""What a search makes of the neighbours that it found: candidates by topic, query and source, and what it left out."""

from __future__ import annotations

import numpy as np
import pytest

from ringtrue.audit import Verdict
from ringtrue.data.collection import Collection
from ringtrue.data.load import load
from ringtrue.data.records import LogQuery, Query
from ringtrue.leakage.audit import audit_leakage
from ringtrue.leakage.candidates import read_candidates, write_candidates
from ringtrue.leakage.clean import clean
from ringtrue.leakage.search import Settings, search_log
from ringtrue.retrieval.encoders.hashing import Hashing

SETTINGS = Settings("hashing", 0.6, 10)


def log(*entries: tuple[str, str, str]) -> Collection:
    return Collection.from_records("train", log=[LogQuery(*entry) for entry in entries])


TEST = Collection.from_records("test", queries=[Query("t1", "lamp oil price"), Query("t2", "qqq www")])


def test_one_id_in_two_sources_is_two_queries(tmp_path):
    train = log(
        ("7", "lamp oil price", "msm"),
        ("7", "price of lamp oil", "orcas"),
        ("8", "lamp oil price", "msm"),
        ("8", "lamp oil price", "orcas"),
        ("8", "lamp oil price", "orcas"),
    )
    result = search_log(TEST, train, SETTINGS).result
    pairs = [(one.query_id, one.source, one.query) for one in result.candidates]
    assert sorted(pairs) == [
        ("7", "msm", "lamp oil price"),
        ("7", "orcas", "price of lamp oil"),
        ("8", "msm", "lamp oil price"),
        ("8", "orcas", "lamp oil price"),
    ]
    notes = {note.what: note.times for note in result.notes}
    assert notes["training queries with the id of an earlier one of the same source"] == 1
    audit = audit_leakage(result)
    fields = next(section for section in audit.sections() if section.name == "fields")
    counts = {row[1]: row[3] for row in fields.rows if row[0] == "union"}
    assert counts == {"msm": 2, "orcas": 2, "all": 4} and len(audit.leaks) == 4
    for ending in ("jsonl", "csv", "parquet"):
        write_candidates(tmp_path / f"c.{ending}", result.candidates)
        assert read_candidates(tmp_path / f"c.{ending}") == result.candidates


@pytest.mark.parametrize("source", ["", "\tweb"])
def test_what_is_found_under_a_padded_id_is_cleaned_away(tmp_path, source):
    path = tmp_path / "log.tsv"
    path.write_text(f" 1\tlamp oil price{source}\n2\tbees{source}\n", encoding="utf-8")
    found = search_log(TEST, load(str(path)), SETTINGS).result
    clean([path], found.candidates, tmp_path / "out")
    assert (tmp_path / "out" / "log.tsv").read_text(encoding="utf-8") == f"2\tbees{source}\n"


@pytest.fixture
def knows_no_q(monkeypatch):
    encode = Hashing.encode

    def partly(self, texts):
        rows = encode(self, texts)
        rows[["qqq" in text for text in texts]] = np.float32(0)
        return rows

    monkeypatch.setattr(Hashing, "encode", partly)


def test_a_topic_of_which_the_encoder_knows_nothing_is_not_clean(knows_no_q):
    train = log(("a", "qqq www", ""), ("b", "bees", ""))
    result = search_log(TEST, train, SETTINGS).result
    assert result.topics == ("t1",) and result.unsearched == ("t2",)
    notes = {note.what: (note.times, note.first) for note in result.notes}
    assert notes["texts of topics that the encoder knows nothing of, near nothing"] == (1, "topic t2")
    finding = audit_leakage(result).findings[0]
    assert finding.verdict is Verdict.UNKNOWN and "1 could not be searched for and may leak (t2)" in finding.seen
    leaking = search_log(TEST, log(("b", "lamp oil price", "")), SETTINGS).result
    finding = audit_leakage(leaking).findings[0]
    assert finding.verdict is Verdict.FAIL and "1 of 1 topics" in finding.seen and "(t2)" in finding.seen


def test_a_topic_is_searched_for_by_the_texts_that_the_encoder_knows(knows_no_q):
    test = Collection.from_records("test", queries=[Query("t1", "qqq www", "the price of lamp oil")])
    result = search_log(test, log(("b", "price of lamp oil", "")), SETTINGS).result
    assert result.topics == ("t1",) and not result.unsearched
    assert [(one.query_id, one.field) for one in result.candidates] == [("b", "description")]
    assert sum(note.times for note in result.notes if "knows nothing of, near nothing" in note.what) == 1


def test_every_candidate_has_a_type_and_a_probability_however_low_the_threshold():
    train = log(("1", "lamp oil price", "web"), ("2", "the price of oil", "web"), ("3", "bees", "web"))
    found = search_log(TEST, train, Settings("hashing", 0.2, 10))
    assert [one.query_id for one in found.result.candidates] == ["1", "2"]
    assert all(one.type is not None and one.probability is not None for one in found.result.candidates)
    far = [note for note in found.result.notes if "extrapolated" in note.what]
    assert [(note.times, note.first) for note in far] == [(1, "topic t1, query 2")]
    assert {one.probability for one in found.neighbours if one.similarity <= 0.2} == {None}
