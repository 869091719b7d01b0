from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest


@pytest.fixture
def varied(call, tmp_path: Path) -> Path:
    """Three rules over the built-in topics."""
    path = tmp_path / "variations.csv"
    rules = [item for name in ("NeighbCharSwap", "RmvStopWords", "JoinWords") for item in ("--generator", name)]
    assert call("robustness", "vary", *rules, "--out", path, "-q").returncode == 0
    return path


def test_vary_twice_gives_the_same_bytes_and_a_reason_for_every_gap(call, varied, tmp_path):
    again = tmp_path / "again.csv"
    rules = [item for name in ("NeighbCharSwap", "RmvStopWords", "JoinWords") for item in ("--generator", name)]
    call("robustness", "vary", *rules, "--out", again, "-q")
    assert varied.read_bytes() == again.read_bytes()
    with open(varied, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 150
    assert all(bool(row["variation"]) != bool(row["reason"]) for row in rows)
    assert all(row["variation"].lower() != row["original"].lower() for row in rows)


def test_evaluate_shows_what_variations_cost(call, varied, tmp_path):
    done = call(
        "robustness",
        "evaluate",
        "--variations",
        varied,
        "--ranker",
        "bm25",
        "--no-encoder",
        "--out",
        tmp_path / "out",
        "-q",
    )
    assert done.returncode == 0, done.stderr
    assert "Does the system survive" in done.stdout
    result = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert result["audits"][0]["name"] == "robustness"


def test_runs_made_elsewhere(call, varied, tmp_path):
    topics = tmp_path / "topics"
    call("robustness", "vary", "--generator", "JoinWords", "--as-topics", topics, "--out", tmp_path / "j.csv", "-q")
    runs = tmp_path / "elsewhere"
    runs.mkdir()
    for file in topics.iterdir():
        lines = [line.split("\t")[0] for line in file.read_text(encoding="utf-8").splitlines()]
        (runs / f"{file.stem}.run").write_text("".join(f"{query} Q0 lights-01 1 1.0 x\n" for query in lines))
    done = call("robustness", "evaluate", "--variations", tmp_path / "j.csv", "--runs", runs, "--no-encoder", "-q")
    assert done.returncode == 0, done.stderr
    assert "elsewhere" in done.stdout


def test_classify(call):
    assert (
        call("robustness", "classify", "cheap flights rome", "rome cheap flights", "--no-encoder").stdout
        == "ordering\n"
    )
    done = call("robustness", "classify", "black bear attacks", "black baer attacks", "--no-encoder", "--json")
    assert json.loads(done.stdout)["kinds"] == ["misspelling"]


def test_the_studys_table_of_validity(call, shared: Path):
    file = shared / "robustness" / "variations_trec2019_labeled.csv"
    done = call("robustness", "validity", "--variations", file, "--no-encoder", "--json")
    table = next(section for section in json.loads(done.stdout)["audits"][0]["sections"] if "rows" in section)
    valid = [row["valid"] for row in table["rows"]]
    assert valid == [43, 42, 42, 37, 35, 43, 23, 26, 27, 16, 334]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("vary", "--generator", "NeighbCharSwop"), 2, "did you mean NeighbCharSwap"),
        (("vary", "--generator", "WEmbedSynSwap"), 3, "word vectors"),
        (("vary", "--queries", "nowhere.tsv"), 2, "nowhere.tsv"),
        (("evaluate", "--variations", "none.csv"), 2, "none.csv"),
        (("validity", "--variations", "none.csv"), 2, "none.csv"),
    ],
)
def test_bad_input(call, monkeypatch, tmp_path, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    done = call("robustness", *arguments, "-q")
    assert done.returncode == code, done.stderr
    assert message in done.stderr and "Traceback" not in done.stderr
