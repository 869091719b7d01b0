"""Words that an encoder does not know look the same to it: what is near by them alone is no leak."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from ringtrue.audit import Verdict
from ringtrue.data.collection import Collection
from ringtrue.data.records import LogQuery, Query
from ringtrue.leakage.audit import audit_leakage
from ringtrue.leakage.search import Settings, search_log
from ringtrue.leakage.unread import Unreadable
from ringtrue.retrieval.encoders import Unread
from ringtrue.retrieval.encoders.hashing import Hashing


@dataclass(frozen=True)
class OnlyAscii:
    """Knows the words of plain ASCII."""

    dim = 1

    def encode(self, texts):
        return np.ones((len(texts), 1), np.float32)

    def unread(self, text: str) -> Unread:
        parts = text.split()
        return Unread(tuple(part for part in parts if not part.isascii()), len(parts))


@pytest.mark.parametrize(
    ("text", "query", "only"),
    [
        ("ไทย", "ไทย", False),
        ("อาหารไทย", "สูตรอาหารไทย", False),
        ("อาหารไทย", "ราคาน้ำมัน", True),
        ("🎉🎉🎉", "🎉", False),
        ("🎉🎉🎉", "😂", True),
        ("pizza recipe 🍕", "pizza recipe 🍣", False),
        ("pizza recipe 🍕", "pizza recipe", False),
        ("what is ሰላም", "what is ጤና", True),
        ("what is the price of oil in ሰላም", "what is the price of oil in ጤና", False),
        ("Ünïted", "ÜNÏTED", False),
        ("lamp oil", "bees", False),
    ],
)
def test_unknown_words_are_compared_letter_by_letter(text, query, only):
    assert Unreadable(OnlyAscii()).only_likeness(text, query) is only


def test_an_encoder_without_a_vocabulary_reads_everything():
    assert not Unreadable(Hashing()).only_likeness("ไทย", "😂")


@pytest.fixture
def knows_only_ascii(monkeypatch):
    encode = Hashing.encode

    def partly(self, texts):
        plain = [[part if part.isascii() else "unknown" for part in text.split()] for text in texts]
        return encode(self, [" ".join(parts) for parts in plain])

    monkeypatch.setattr(Hashing, "encode", partly)
    monkeypatch.setattr(Hashing, "unread", OnlyAscii.unread, raising=False)


def searched(*queries: str):
    topics = [Query("t1", "อาหารไทย"), Query("t2", "lamp oil price")]
    log = [LogQuery(str(number), text) for number, text in enumerate(queries, start=1)]
    return search_log(
        Collection.from_records("test", queries=topics),
        Collection.from_records("train", log=log),
        Settings("hashing", 0.6, 10),
    )


def test_other_unknown_words_are_no_leak_and_the_topic_is_not_clean(knows_only_ascii):
    found = searched("ራስ", "😂", "lamp oil")
    assert [(one.topic_id, one.query_id) for one in found.result.candidates] == [("t2", "3")]
    assert ("t1", "1") not in [(one.topic_id, one.query_id) for one in found.neighbours]
    assert found.result.unsearched == ("t1",) and found.result.topics == ("t2",)
    notes = {note.what: (note.times, note.first) for note in found.result.notes}
    what = "pairs of a topic and a query, near only as the encoder knows the words of neither, left out"
    assert notes[what] == (2, "topic t1, query 1")
    assert notes["texts of topics in words that the encoder does not know"] == (1, "topic t1")
    clean = audit_leakage(searched("ራስ", "bees").result).findings[0]
    assert clean.verdict is Verdict.UNKNOWN and "1 could not be searched for and may leak (t1)" in clean.seen


def test_the_same_unknown_words_are_a_leak(knows_only_ascii):
    result = searched("ራስ", "อาหารไทย").result
    assert [(one.topic_id, one.query_id) for one in result.candidates] == [("t1", "2")]
    assert result.topics == ("t1", "t2") and not result.unsearched


def test_what_another_text_makes_a_leak_is_not_told_as_left_out(knows_only_ascii):
    topics = [Query("t1", "อาหารไทย", variants=("ราስ",))]
    log = [LogQuery("1", "ራስ"), LogQuery("2", "ราስ")]
    found = search_log(
        Collection.from_records("test", queries=topics),
        Collection.from_records("train", log=log),
        Settings("hashing", 0.6, 10),
    )
    assert ("2", "variant") in [(one.query_id, one.field) for one in found.result.candidates]
    told = [note for note in found.result.notes if note.what.startswith("pairs of a topic and a query")]
    left_out = {"1", "2"} - {one.query_id for one in found.result.candidates}
    assert sum(note.times for note in told) == len(left_out)
