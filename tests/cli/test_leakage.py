from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture
def searched(call, tmp_path: Path) -> Path:
    """A search of the built-in log by the encoder that needs no model."""
    done = call("leakage", "search", "--encoder", "hashing", "--out", tmp_path / "found", "-q")
    assert done.returncode == 0, done.stderr
    assert "Did the model see the test queries" in done.stdout
    return tmp_path / "found"


def test_search_writes_candidates_in_three_formats(searched):
    lines = [json.loads(line) for line in (searched / "candidates.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(lines) > 50
    assert {"topic_id", "field", "text", "query_id", "query", "similarity", "type", "probability", "source"} == set(
        lines[0]
    )
    assert len({(line["topic_id"], line["query_id"]) for line in lines}) == len(lines)
    assert (searched / "candidates.csv").is_file() and (searched / "candidates.parquet").is_file()
    assert (searched / "report.html").is_file()


def test_clean_impact_and_sample_go_on_from_there(call, searched, tmp_path):
    candidates = searched / "candidates.jsonl"
    done = call(
        "leakage", "clean", "--train", "builtin:lighthouse", "--candidates", candidates, "--out", tmp_path / "clean"
    )
    assert done.returncode == 0, done.stderr
    account = json.loads((tmp_path / "clean" / "account.json").read_text(encoding="utf-8"))
    assert account["dropped_queries"] > 50 and account["not_found_queries"] == 0
    again = call(
        "leakage", "search", "--encoder", "hashing", "--train", tmp_path / "clean" / "log.jsonl", "--json", "-q"
    )
    assert json.loads(again.stdout)["audits"][0]["verdict"] == "PASS"
    impact = call("leakage", "impact", "--candidates", candidates, "-q")
    assert impact.returncode == 0 and "order of systems" in impact.stdout
    drawn = call("leakage", "sample", "--candidates", candidates, "--out", tmp_path / "label.csv", "-q")
    assert drawn.returncode == 0 and (tmp_path / "label.csv").read_text(encoding="utf-8").count("\n") > 20


def test_a_sample_says_what_it_cannot_hold(call, searched, tmp_path):
    sample = ("leakage", "sample", "--n", 50, "--low", 0.4, "--out", tmp_path / "label.csv", "--candidates")
    above, nearest = (call(*sample, searched / name).stderr for name in ("candidates.jsonl", "neighbours.jsonl"))
    assert "the candidates begin at 0.6" in above and "--threshold 0.4" in above
    assert "begin at" not in nearest and "50 pairs to label are in" in nearest


def test_the_studys_tables(call, shared: Path):
    folder = shared / "leakage" / "annotations"
    stem = "query-reformulation-classification-iteration"
    files = [
        folder / f"{stem}-{name}.jsonl"
        for name in (
            "01-annotated-by-maik-and-cakiki",
            "02-annotated-by-chris",
            "03-annotated-by-maik",
            "04-annotated-by-maik",
        )
    ]
    topics = [
        item
        for name in ("robust04", "core17", "core18")
        for item in ("--topics", f"{name}={shared / 'leakage' / f'topics.{name}.txt'}")
    ]
    counted = json.loads(call("leakage", "labels", *files, *topics, "--json").stdout)["audits"][0]["sections"]
    rows = {
        row["collection"]: (row["true_queries"], row["true_topics"], row["false_queries"], row["false_topics"])
        for row in counted[0]["rows"]
    }
    assert (rows["robust04"], rows["core17"], rows["core18"]) == (
        (648, 172, 93, 53),
        (138, 37, 21, 11),
        (157, 38, 19, 7),
    )
    assert [row["queries"] for row in counted[1]["rows"]] == [187, 124, 228, 182, 106]
    both = [folder / "annotator-agreement" / f"{stem}-01-annotated-by-{who}.jsonl" for who in ("cakiki", "maik")]
    kappas = json.loads(call("leakage", "agreement", *both, "--json").stdout)["audits"][0]["sections"][0]["rows"]
    assert [round(row["kappa"], 4) for row in kappas] == [0.4188, 0.4394, 0.7417, 0.5589]
    done = call("leakage", "calibrate", *files)
    assert "Above 0.930 the precision is 0.9165" in done.stdout


def test_one_file_does_not_agree_with_itself(call, tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_text("{}\n")
    done = call("leakage", "agreement", path, tmp_path / "." / "labels.jsonl")
    assert done.returncode == 2
    assert "labels.jsonl is given twice; give two people's labels" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("search", "--train", "nowhere.tsv"), 2, "nowhere.tsv"),
        (("search", "--encoder", "minilmm"), 2, "did you mean minilm"),
        (("search", "--encoder", "sbert:/no/such/model"), 3, "is neither a folder"),
        (("search", "--encoder", "hashing:dimension=7"), 2, "unknown option of encoder 'hashing'"),
        (("search", "--encoder", "hashing", "--threshold", "nan"), 2, "a cosine lies between -1 and 1"),
        (("search", "--encoder", "hashing", "--threshold", "5"), 2, "a cosine lies between -1 and 1"),
        (("calibrate", "nolabels.jsonl"), 2, "nolabels.jsonl"),
        (("impact", "--candidates", "none.jsonl"), 2, "none.jsonl"),
        (("clean", "--train", "builtin:lighthouse", "--candidates", "none.jsonl", "--out", "x"), 2, "none.jsonl"),
        (("labels", "x.jsonl", "--topics", "nonsense"), 2, "NAME=TOPICFILE"),
    ],
)
def test_bad_input(call, monkeypatch, tmp_path, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    done = call("leakage", *arguments, "-q") if arguments[0] != "labels" else call("leakage", *arguments)
    assert done.returncode == code, done.stderr
    assert message in done.stderr and "Traceback" not in done.stderr


def test_candidates_of_another_collection_are_refused(call, searched, tmp_path):
    rows = [json.loads(line) for line in (searched / "candidates.jsonl").read_text(encoding="utf-8").splitlines()]
    other = tmp_path / "other.jsonl"
    other.write_text("".join(json.dumps({**row, "topic_id": f"x{row['topic_id']}"}) + "\n" for row in rows))
    done = call("leakage", "impact", "--candidates", other, "-q")
    assert done.returncode == 2 and "candidates of another collection" in done.stderr


def test_topics_outside_of_the_evaluation_do_not_count(call, searched, tmp_path):
    rows = [json.loads(line) for line in (searched / "candidates.jsonl").read_text(encoding="utf-8").splitlines()]
    more = tmp_path / "more.jsonl"
    strangers = [{**row, "topic_id": f"x{row['topic_id']}"} for row in rows]
    more.write_text("".join(json.dumps(row) + "\n" for row in (*rows, *strangers)))
    plain, wide = (
        json.loads(call("leakage", "impact", "--candidates", path, "--json", "-q").stdout)["audits"][0]
        for path in (searched / "candidates.jsonl", more)
    )
    assert plain["findings"][0]["figure"] == wide["findings"][0]["figure"]
    assert "more topics have candidates, but are not among these 50" in wide["findings"][0]["seen"]
