from __future__ import annotations

import pytest

from ringtrue.data.records import Query
from ringtrue.data.runs import Run
from ringtrue.errors import InputError
from ringtrue.retrieval.pipeline import parse_ranker
from ringtrue.retrieval.rankers.replay import Replay

LINES = "q1 Q0 d2 1 9.5 other\nq1 Q0 d1 2 8.25 other\nq1 Q0 dx 3 7 other\nq2 Q0 d3 1 1.5 other\n"


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "other.run"
    file.write_text(LINES)
    return file


def pairs(run, topic):
    return [(line.doc_id, line.score) for line in run.ranking(topic)]


def notes(collection):
    return {note.what: note.times for note in collection.notes}


def test_the_run_comes_back_without_strange_documents_and_with_its_gaps_counted(path, fruit):
    run = Replay(str(path)).rank(fruit, fruit.queries)
    assert pairs(run, "q1") == [("d2", 9.5), ("d1", 8.25)]
    assert pairs(run, "q2") == [("d3", 1.5)]
    assert run.topics == ("q1", "q2")
    assert notes(fruit)["topics that other.run has not"] == 2
    assert notes(fruit)["documents of other.run that are not in the collection"] == 1
    Replay(str(path)).rank(fruit, fruit.queries)
    assert notes(fruit)["topics that other.run has not"] == 2


def test_candidates_get_the_scores_of_the_file(path, fruit):
    given = Run.from_results("given", {"q1": [("d1", 5.0), ("d4", 4.0)]})
    run = parse_ranker(f"replay:run={path}").rank(fruit, fruit.queries, given)
    assert run.topics == ("q1",)
    assert pairs(run, "q1") == [("d1", 8.25)]


def test_on_a_sample_only_its_documents_are_returned(path, fruit):
    run = Replay(str(path)).rank(fruit.subset(["d1", "d4"]), fruit.queries)
    assert pairs(run, "q1") == [("d1", 8.25)]


def test_a_changed_file_is_read_again(path, fruit):
    Replay(str(path)).rank(fruit, fruit.queries)
    path.write_text("q1 Q0 d4 1 2.0 other\n")
    import os

    os.utime(path, ns=(1, 1))
    assert pairs(Replay(str(path)).rank(fruit, fruit.queries), "q1") == [("d4", 2.0)]


def test_a_missing_file_is_told(fruit):
    with pytest.raises(InputError, match=r"nowhere\.run"):
        Replay("nowhere.run").rank(fruit, [Query("q1", "apple")])
