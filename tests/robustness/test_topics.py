"""Topic files for systems elsewhere, and their runs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from ringtrue.data.load import load
from ringtrue.errors import InputError, UnknownNameError
from ringtrue.robustness.ranking import Slot, make_task, rank_task
from ringtrue.robustness.topics import file_stem, read_ranked, write_topics

_spec = importlib.util.spec_from_file_location("toy", Path(__file__).with_name("toy.py"))
assert _spec and _spec.loader
toy = importlib.util.module_from_spec(_spec)
sys.modules["toy"] = toy  # where dataclasses look their module up
_spec.loader.exec_module(toy)


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
    read = read_ranked(run_elsewhere(topics, tmp_path / "mine"), task)
    here = rank_task(toy.Overlap(), toy.COLLECTION, task)
    assert read.name == "mine"
    assert read.original.rankings == {q: r for q, r in here.original.rankings.items()}
    for slot in task.slots:
        assert read.varied[slot].rankings == here.varied[slot].rankings


def test_a_missing_run_and_one_too_many_are_errors(task, tmp_path):
    folder = run_elsewhere(write_topics(task, tmp_path / "topics"), tmp_path / "mine")
    (folder / "RandOrderSwapp.run").write_text("q1 Q0 d1 1 1 x\n")
    with pytest.raises(UnknownNameError, match="did you mean RandOrderSwap"):
        read_ranked(folder, task)
    (folder / "RandOrderSwapp.run").unlink()
    (folder / "Recorded.run").unlink()
    with pytest.raises(InputError, match="no run for Recorded; a run is named after its file of topics"):
        read_ranked(folder, task)


def test_options_become_part_of_a_safe_name():
    assert file_stem(Slot("x", "WNetSynSwap:choice=random,n/a")) == "WNetSynSwap_choice=random_n_a"
    assert file_stem(Slot("x", "A", 3)) == "A-3"
