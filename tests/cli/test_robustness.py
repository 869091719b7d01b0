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
        (("classify", "red tea", " "), 2, "one of these is empty"),
        (("vary", "--generator", "NeighbCharSwop"), 2, "did you mean NeighbCharSwap"),
        (("vary", "--generator", "WEmbedSynSwap"), 3, "word vectors"),
        (("vary", "--queries", "nowhere.tsv"), 2, "nowhere.tsv"),
        (("evaluate", "--variations", "none.csv"), 2, "none.csv"),
        (("validity", "--variations", "none.csv"), 2, "none.csv"),
        (("vary", "--generator", "recorded"), 3, "Recorded:path=FILE"),
        (("vary", "--generator", "all", "--generator", "WEmbedSynSwap"), 3, "word vectors"),
        (("classify", "one", "two", "three"), 2, "'three' is a third"),
        (("validity", "--variations", "some.run"), 2, "this file holds a run, not variations"),
        (("evaluate", "--variations", "some.run"), 2, "this file holds a run, not variations"),
        (("evaluate", "--variations", "other.csv"), 2, "no variation is of a known query"),
        (("evaluate", "--variations", "own.csv", "--ranker", "bm25", "--depth", "5", "--no-encoder"), 2, "ranks again"),
        (("evaluate", "--variations", "own.csv", "--ranker", "bm25", "--rerank-only", "--no-encoder"), 2, "one stage"),
    ],
)
def test_bad_input(call, monkeypatch, tmp_path, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some.run").write_text("".join(f"q{n} Q0 d{n} 1 2.5 x\n" for n in range(5)), encoding="utf-8")
    header = "query_id,category,method,original,variation,seed,reason\n"
    (tmp_path / "other.csv").write_text(header + "zz,misspelling,X,a,b,1,\n", encoding="utf-8")
    (tmp_path / "own.csv").write_text(header + "101,misspelling,X,,lamp,1,\n", encoding="utf-8")
    done = call("robustness", *arguments, "-q")
    assert done.returncode == code, done.stderr
    assert message in done.stderr and "Traceback" not in done.stderr


def test_of_a_category_those_run_that_can_and_the_others_are_named(call, tmp_path):
    done = call("robustness", "vary", "--generator", "naturality", "--out", tmp_path / "n.csv")
    assert done.returncode == 0, done.stderr
    assert "without T5DescToTitle: " in done.stderr and "finetune" in done.stderr
    rows = list(csv.DictReader((tmp_path / "n.csv").read_text(encoding="utf-8").splitlines()))
    assert "RmvStopWords" in {row["method"] for row in rows}
    made = sum(row["variation"] != "" for row in rows)
    assert done.stderr.endswith(f"{made} variations of 50 queries are in {tmp_path / 'n.csv'}\n")


PIPELINES = """
import pyterrier as pt

def score(row):
    if "fuel" in row["query"]:
        raise RuntimeError("no fuel")
    return float(len(set(row["query"].split()) & set(row["text"].lower().split())))

again = pt.apply.doc_score(score)
"""


def test_a_pyterrier_pipeline_behind_bm25_and_a_query_on_which_it_fails(call, varied, tmp_path):
    pytest.importorskip("pyterrier")
    (tmp_path / "pipelines.py").write_text(PIPELINES, encoding="utf-8")
    ranker = f"bm25 % 10 >> pyterrier:{tmp_path / 'pipelines.py'}:again"
    done = call("robustness", "evaluate", "--variations", varied, "--ranker", ranker, "--no-encoder", "--json", "-q")
    assert done.returncode == 1
    tables = {section["name"]: section for section in json.loads(done.stdout)["audits"][0]["sections"]}
    first = tables["failures"]["rows"][0]
    assert (first["method"], first["error"]) == ("original query", "RuntimeError: no fuel")
    assert 0.1 < tables["table_nDCG_10"]["rows"][0][ranker] < 1


def test_variations_go_to_a_folder_where_one_is_named(call, tmp_path):
    call("robustness", "vary", "--generator", "JoinWords", "--out", tmp_path / "folder", "-q")
    call("robustness", "vary", "--generator", "JoinWords", "--out", tmp_path / "file.csv", "-q")
    assert (tmp_path / "folder" / "variations.csv").read_bytes() == (tmp_path / "file.csv").read_bytes()
