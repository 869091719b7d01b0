from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import util
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")


@pytest.fixture
def bags(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that learns in no time."""
    from ringtrue.retrieval.neural.models import MODELS

    path = Path(__file__).parents[1] / "retrieval" / "training" / "bags.py"
    spec = util.spec_from_file_location("bags", path)
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "bags", module)
    spec.loader.exec_module(module)
    monkeypatch.setitem(MODELS.table, "bags", "bags:BagsModel")  # type: ignore[arg-type]


def test_trainsets_then_experiment_then_audit(bags: None, call: Callable, tmp_path: Path) -> None:
    sets = tmp_path / "sets"
    done = call("leakage", "trainsets", "--encoder", "hashing", "--size", "250", "--folder", sets)
    assert done.returncode == 0, done.stderr
    assert "3 training sets" in done.stdout
    assert (sets / "report" / "report.html").is_file() and (sets / "sets" / "msm-250.jsonl").is_file()

    work = tmp_path / "work"
    options = ("--folder", work, "--workers", "1")
    done = call(
        "leakage", "experiment", "--trainsets", sets, "--model", "bags", "--seeds", "1", "--depth", "20", *options,
        "--prepare-only",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "3 cells, 2,250 instances to train on" in done.stderr
    assert "python -m ringtrue.jobs" in done.stderr
    assert done.stdout == ""

    done = call("leakage", "experiment", *options)
    assert done.returncode == 0, done.stderr
    assert "about " in done.stderr
    assert "nDCG@10 with and without leakage" in done.stdout
    assert "MFR@20 with and without leakage" in done.stdout
    assert (work / "report" / "report.html").is_file()
    assert call("leakage", "experiment", *options, "--prepare-only", "--seeds", "2").stderr.count("3 cells") == 1
    assert json.loads(call("leakage", "experiment", *options, "--seeds", "1", "--json").stdout)

    done = call("leakage", "search", "--encoder", "hashing", "--k", "1", "--experiment", work)
    assert "gain by leakage" in done.stdout and "Leaks by field" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("trainsets", "--size", "3"), "even number"),
        (("trainsets", "--size", "100", "--leaks", "90", "--encoder", "hashing"), "no room for its 90"),
        (("trainsets", "--labels", "a.jsonl", "--candidates", "b.jsonl"), "give one"),
        (("experiment", "--model", "knrmm", "--encoder", "hashing"), "unknown model 'knrmm'"),
        (("experiment", "--kind", "test", "--encoder", "hashing", "--size", "250"), "'none' is needed"),
        (("experiment", "--trainsets", "nowhere"), "no training sets"),
    ],
)
def test_bad_input(
    call: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call("leakage", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_an_experiment_keeps_its_sets(bags: None, call: Callable, tmp_path: Path) -> None:
    options = ("--folder", tmp_path / "work", "--prepare-only", "--model", "bags", "--seeds", "1")
    assert call("leakage", "experiment", *options, "--encoder", "hashing", "--size", "250").returncode == 0
    for more, words in (
        (("--collection", "builtin:lighthouse"), "--collection has no effect"),
        (("--depth", "50"), "--depth has no effect"),
        (("--epochs", "9"), "another training"),
        (("--size", "500"), "training set"),
    ):
        done = call("leakage", "experiment", *options, *more)
        assert done.returncode == 2
        assert words in done.stderr
