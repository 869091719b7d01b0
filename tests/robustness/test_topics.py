"""Topic files for systems elsewhere, and their runs."""

from __future__ import annotations

from pathlib import Path

import pytest
import toy

from ringtrue.data.load import load
from ringtrue.data.notes import Notes
from ringtrue.errors import InputError, UnknownNameError
from ringtrue.robustness.ranking import rank_task
from ringtrue.robustness.task import Slot, make_task
from ringtrue.robustness.topics import everything, file_stem, read_ranked, write_topics
from ringtrue.robustness.validity import check


@pytest.fixture
def task():
    return make_task(toy.QUERIES, toy.COLLECTION.qrels.topics, toy.checked())


def run_elsewhere(topics: list[Path], folder: Path) -> Path:
    """What another system would do: read each topic file, write a run of the same name."""
    folder.mkdir()
    for path in topics:
        run = toy.Overlap().rank(toy.COLLECTION, load(queries=path).queries)
        (folder / f"{path.stem}.run").write_text(run.to_trec() or "q4 Q0 d5 1 1 x\n", encoding="utf-8")
    return folder


def test_topics_out_and_runs_back_are_the_same_as_ranking_here(task, tmp_path):
    topics = write_topics(task, tmp_path / "topics")
    assert [path.name for path in topics] == [
        "original.tsv",
        "DeleteChar.tsv",
        "DeleteChar-2.tsv",
        "RandOrderSwap.tsv",
        "Recorded.tsv",
    ]
    read = read_ranked(run_elsewhere(topics, tmp_path / "mine"), task, Notes())
    here = rank_task(toy.Overlap(), toy.COLLECTION, task)
    assert read.name == "mine"
    assert read.original.rankings == {q: r for q, r in here.original.rankings.items()}
    for slot in task.slots:
        assert read.varied[slot].rankings == here.varied[slot].rankings


def test_a_missing_run_and_one_too_many_are_errors(task, tmp_path):
    folder = run_elsewhere(write_topics(task, tmp_path / "topics"), tmp_path / "mine")
    (folder / "RandOrderSwapp.run").write_text("q1 Q0 d1 1 1 x\n")
    with pytest.raises(UnknownNameError, match="did you mean RandOrderSwap"):
        read_ranked(folder, task, Notes())
    (folder / "RandOrderSwapp.run").unlink()
    (folder / "Recorded.run").unlink()
    with pytest.raises(InputError, match="no run for Recorded; a run is named after its file of topics"):
        read_ranked(folder, task, Notes())


def test_files_hold_every_variation_so_that_runs_fit_whoever_decides_what_is_valid(tmp_path):
    rows = (toy.row("q1", "paraphrasing", "T5QQP", "zebra"), toy.row("q1", "paraphrasing", "T5QQP", "red foxes"))
    rows += (toy.row("q2", "paraphrasing", "T5QQP", None), toy.row("q3", "paraphrasing", "T5QQP", "dog house"))
    topics = write_topics(everything(toy.QUERIES, rows), tmp_path / "topics")
    assert [path.name for path in topics] == ["original.tsv", "T5QQP.tsv", "T5QQP-2.tsv"]
    assert (tmp_path / "topics" / "T5QQP.tsv").read_text(encoding="utf-8") == "q1\tzebra\n"
    folder = run_elsewhere(topics, tmp_path / "mine")
    judged = toy.COLLECTION.qrels.topics
    decided = [one._replace(valid=one.variation.variation == "red foxes") for one in check(rows)]
    task = make_task(toy.QUERIES, judged, decided)
    assert task.texts == {Slot("paraphrasing", "T5QQP"): {}, Slot("paraphrasing", "T5QQP", 2): {"q1": "red foxes"}}
    assert "d1" in {line.doc_id for line in read_ranked(folder, task, Notes()).varied[task.slots[1]].ranking("q1")}


def test_queries_that_a_run_lacks_are_counted(task, tmp_path):
    folder = run_elsewhere(write_topics(task, tmp_path / "topics"), tmp_path / "mine")
    (folder / "RandOrderSwap.run").write_text("q1 Q0 d1 1 1 x\n")
    notes = Notes()
    read_ranked(folder, task, notes)
    assert {note.what: note.times for note in notes}["queries without a document in runs made elsewhere"] >= 1
    assert any("RandOrderSwap.run, q3" in note.first or note.times > 1 for note in notes)


def test_options_become_part_of_a_safe_name():
    assert file_stem(Slot("x", "WNetSynSwap:choice=random,n/a")) == "WNetSynSwap_choice=random_n_a"
    assert file_stem(Slot("x", "A", 3)) == "A-3"
