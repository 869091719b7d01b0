from __future__ import annotations

import json


def test_reliability_writes_its_fields(call, tmp_path):
    done = call(
        "subsample",
        "reliability",
        "--sampler",
        "pool:2",
        "--sampler",
        "complete",
        "--replicates",
        20,
        "--out",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    written = json.loads((tmp_path / "reliability.json").read_text())["samplers"]
    assert list(written) == ["pool:2", "complete"]
    assert written["complete"]["truth_pool10"]["with"]["tau_ap_b_top75"] == 1
    assert (tmp_path / "report.html").is_file() and (tmp_path / "subsampling-reliability.csv").is_file()


def test_plan_names_the_sampler(call):
    done = call("subsample", "plan", "--target-tau", 0.5, "--replicates", 20, "-q")
    assert done.returncode == 0 and "\nplan: " in done.stdout
    lacking = call("subsample", "plan", "--max-kwh", 1, "-q")
    assert lacking.returncode == 2 and "--kwh-per-doc" in lacking.stderr


def test_unknown_sampler(call):
    done = call("subsample", "reliability", "--sampler", "pol:2", "-q")
    assert done.returncode == 2 and "did you mean pool" in done.stderr


def test_groups_are_asked_for(call, tmp_path):
    (tmp_path / "a.run").write_text("1 Q0 d 1 1 a\n")
    (tmp_path / "q.txt").write_text("1 0 d 1\n")
    done = call("subsample", "reliability", "--runs", tmp_path / "a.run", "--qrels", tmp_path / "q.txt", "-q")
    assert done.returncode == 2 and "--groups" in done.stderr


def test_build_lists_ids(call, tmp_path):
    done = call("subsample", "build", "--sampler", "pool:1", "-q")
    ids = done.stdout.splitlines()
    assert done.returncode == 0 and ids == sorted(ids) and 100 < len(ids) < 336
    fits = call("subsample", "build", "--docs", 200, "--out", tmp_path / "ids.txt", "--quiet")
    assert fits.returncode == 0 and fits.stdout == ""
    assert 100 < len((tmp_path / "ids.txt").read_text().splitlines()) <= 200


def test_build_within_bytes(call):
    done = call("subsample", "build", "--bytes", 150_000, "--json", "-q")
    content = json.loads(done.stdout)
    assert content["sampler"].startswith("pool:") and 100 < len(content["doc_ids"]) < 300
    assert call("subsample", "build", "--docs", 1, "-q").returncode == 2


def test_extract_writes_a_collection_that_can_be_loaded(call, process, tmp_path):
    ids = tmp_path / "ids.txt"
    assert call("subsample", "build", "--sampler", "pool:1", "--out", ids, "-q").returncode == 0
    ids.write_text(ids.read_text() + "no-such-document\n")
    done = call(
        "subsample", "extract", "--source", "builtin:lighthouse", "--ids", ids, "--out", tmp_path / "sample", "-q"
    )
    assert done.returncode == 0 and "1 ids are not in the corpus" in done.stdout
    assert (tmp_path / "sample" / "missing.txt").read_text() == "no-such-document\n"
    audited = call("subsample", "mimic", "--collection", tmp_path / "sample", "-q")
    assert audited.returncode == 2 and "--runs" in audited.stderr


def test_graph_feeds_the_neighbours_sampler(call, tmp_path):
    graph = tmp_path / "graph.jsonl"
    assert call("subsample", "graph", "--out", graph, "--k", 5, "-q").returncode == 0
    with_neighbours = call("subsample", "build", "--sampler", f"neighbours:k=5,graph={graph},base=pool:1", "-q")
    plain = call("subsample", "build", "--sampler", "pool:1", "-q")
    assert set(plain.stdout.split()) < set(with_neighbours.stdout.split())


def test_mimic_splits_the_loss(call):
    done = call("subsample", "mimic", "--sampler", "pool:2", "--ranker", "bm25", "--json", "-q")
    (row,) = json.loads(done.stdout)["audits"][0]["sections"][0]["rows"]
    assert abs(row["missing"] + row["statistics"] - (1 - row["rbo"])) < 1e-9 and row["missing"] > 0
