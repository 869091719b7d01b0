"""What all trained rankers share, shown with a small monoBERT."""

from __future__ import annotations

import os

import pytest
import tiny_rankers

from ringtrue.data.records import Query
from ringtrue.data.runs import Run
from ringtrue.errors import InputError
from ringtrue.retrieval.neural.checkpoint import save_network
from ringtrue.retrieval.pipeline import parse_ranker
from ringtrue.retrieval.rankers.knrm import KNRM
from ringtrue.retrieval.rankers.monobert import MonoBert, MonoBertModel

TEXTS = {"d1": "fog over the coast", "d2": "", "d3": "lamp", "d4": " \n", "d5": "a lamp in the fog " * 60}
QUERIES = [Query("q1", "lamp"), Query("q2", "fog"), Query("q3", "  ")]
GIVEN = Run.from_results(
    "given",
    {
        "q1": [("d1", 3.0), ("d2", 2.0), ("d3", 1.0), ("d4", 0.5), ("d5", 0.1)],
        "q2": [("d2", 1.0)],
        "q3": [("d1", 1.0)],
        "q4": [("d1", 1.0)],
    },
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_rankers.bert(tmp_path_factory.mktemp("bert"))


def notes(collection):
    return {note.what: (note.times, note.first) for note in collection.notes}


def test_documents_without_text_come_last_and_are_counted(folder, collect):
    collection = collect(TEXTS, QUERIES)
    run = MonoBert(str(folder)).rank(collection, QUERIES, GIVEN)
    assert run.topics == ("q1", "q2")
    lines = run.ranking("q1")
    assert {line.doc_id for line in lines[:3]} == {"d1", "d3", "d5"}
    assert [line.doc_id for line in lines[3:]] == ["d2", "d4"]
    assert [line.score for line in lines[3:]] == [lines[2].score - 1] * 2
    assert [line.doc_id for line in run.ranking("q2")] == ["d2"]
    MonoBert(str(folder)).rank(collection, QUERIES, GIVEN)
    assert notes(collection)["candidates without text, ranked last"] == (2, "texts, document d2")


def test_no_first_stage_is_an_error(folder, collect):
    with pytest.raises(InputError, match=r"write bm25 % 100 >> monobert"):
        MonoBert(str(folder)).rank(collect(TEXTS, QUERIES), QUERIES)


def test_a_candidate_that_is_nowhere_is_an_error(folder, collect):
    with pytest.raises(InputError, match="'dx'"):
        MonoBert(str(folder)).rank(collect(TEXTS, QUERIES), QUERIES, Run.from_results("x", {"q1": [("dx", 1.0)]}))


def test_no_checkpoint_is_an_error(collect):
    with pytest.raises(InputError, match="write knrm:checkpoint=FOLDER"):
        KNRM().rank(collect(TEXTS, QUERIES), QUERIES, GIVEN)


def test_the_best_passage_of_a_long_document_counts(folder, collect):
    collection = collect(TEXTS, QUERIES)
    first, best = (
        {line.doc_id: line.score for line in parse_ranker(spec).rank(collection, QUERIES, GIVEN).ranking("q1")}
        for spec in (f"monobert:{folder}", f"monobert:{folder},passages=best,window=20,stride=10")
    )
    assert best["d1"] == first["d1"] and best["d3"] == first["d3"]
    assert best["d5"] != first["d5"]


def test_a_network_is_loaded_once_until_its_file_changes(folder, tmp_path):
    save_network(MonoBertModel(str(folder)).fresh([], 1), tmp_path)
    ranker = MonoBert(str(tmp_path))
    network = ranker.network()
    assert ranker.network() is network
    assert MonoBert(str(tmp_path), passages="best").network() is network
    os.utime(tmp_path / "model.safetensors", ns=(1, 1))
    assert ranker.network() is not network
