from __future__ import annotations

import numpy as np
import pytest

from ringtrue.data.collection import Collection
from ringtrue.data.records import Document, Query
from ringtrue.data.runs import Run
from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import ENCODERS
from ringtrue.retrieval.rankers.biencoder import BiEncoder

TEXTS = {"a": "a lamp that burns whale oil", "b": "spring tides come at full moon", "c": "oil lamps of old lighthouses"}
COLLECTION = Collection.from_records("three", [Document(name, text) for name, text in TEXTS.items()])


@pytest.mark.parametrize("encoder", ["hashing", "minilm"])
def test_scores_are_cosines(encoder):
    run = BiEncoder(encoder).rank(COLLECTION, [Query("1", "whale oil lamp")])
    vectors = ENCODERS.parse(encoder).encode([*TEXTS.values(), "whale oil lamp"])
    expected = dict(zip(TEXTS, (vectors[:3] @ vectors[3]).tolist(), strict=True))
    assert {line.doc_id: line.score for line in run.ranking("1")} == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("encoder", ["hashing", "minilm"])
@pytest.mark.parametrize("given", [None, {"1": [("x", 3.0), ("c", 2.0), ("b", 1.0), ("y", 0.5)]}])
def test_documents_without_text_are_ranked_last_and_counted(collect, encoder, given):
    collection = collect({"x": " ", "y": "", **TEXTS})
    candidates = None if given is None else Run.from_results("first", given)
    ranking = BiEncoder(encoder).rank(collection, [Query("1", "oil")], candidates).ranking("1")
    assert {line.doc_id for line in ranking[:-2]} == ({"a", "b", "c"} if given is None else {"b", "c"})
    assert [(line.doc_id, line.score) for line in ranking[-2:]] == [("x", -1.0), ("y", -1.0)]
    assert [(note.what, note.times) for note in collection.notes] == [("candidates without text, ranked last", 2)]


def test_vectors_are_kept(own_cache, monkeypatch):
    first = BiEncoder("hashing").rank(COLLECTION, [Query("1", "oil")])
    monkeypatch.setattr("ringtrue.retrieval.rankers.biencoder._encode_all", None)
    assert BiEncoder("hashing").rank(COLLECTION, [Query("1", "oil")]) == first
    assert len(list((own_cache / "vectors").iterdir())) == 1


def test_depth_and_candidates():
    assert len(BiEncoder("hashing", depth=2).rank(COLLECTION, [Query("1", "oil")]).ranking("1")) == 2
    given = Run.from_results("first", {"1": [("c", 2.0), ("b", 1.0)]})
    run = BiEncoder("hashing").rank(COLLECTION, [Query("1", "oil lamps")], given)
    assert [line.doc_id for line in run.ranking("1")] == ["c", "b"]
    assert np.all(np.diff([line.score for line in run.ranking("1")]) <= 0)
    with pytest.raises(InputError, match="'x' of query '1' is not in the collection"):
        BiEncoder("hashing").rank(COLLECTION, [Query("1", "oil")], Run.from_results("first", {"1": [("x", 1.0)]}))
    with pytest.raises(InputError, match="depth is 0"):
        BiEncoder("hashing", depth=0).rank(COLLECTION, [Query("1", "oil")])
