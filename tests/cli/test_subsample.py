from __future__ import annotations

import csv
import json
import random
from dataclasses import replace
from importlib import resources

import pytest

from ringtrue.data.load import load
from ringtrue.data.runs import RunSet, run_files
from ringtrue.retrieval.pipeline import parse_ranker


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
    content = json.loads((tmp_path / "reliability.json").read_text())
    written = content["samplers"]
    assert len(content["truth"]["pool10"]) == len(content["truth"]["full"]) == 24
    assert list(written) == ["pool:2", "complete"]
    assert written["complete"]["truth_pool10"]["with"]["tau_ap_b_top75"] == 1
    assert (tmp_path / "report.html").is_file() and (tmp_path / "subsampling-reliability.csv").is_file()
    assert written["pool:2"]["megabytes"] > 0 and "unpooled_tau_b" in written["pool:2"]["intervals"]["with"]
    with open(tmp_path / "subsampling-sizes.csv", encoding="utf-8") as file:
        rows = {row["sampler"]: row for row in csv.DictReader(file)}
    assert float(rows["complete"]["megabytes"]) == written["complete"]["megabytes"]
    assert int(rows["pool:2"]["smallest"]) < float(rows["pool:2"]["documents"]) < int(rows["pool:2"]["largest"])
    with open(tmp_path / "subsampling-intervals.csv", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 8
    (audit,) = json.loads((tmp_path / "result.json").read_text())["audits"]
    assert set(audit["provenance"]["inputs"]) == {"runs", "qrels", "groups"}


def test_plan_names_the_sampler(call):
    done = call("subsample", "plan", "--target-tau", 0.5, "--replicates", 20, "-q")
    assert done.returncode == 0 and "\nplan: " in done.stdout
    assert "the smallest sample whose lower bound reaches 0.5: about" in done.stdout
    lacking = call("subsample", "plan", "--max-kwh", 1, "-q")
    assert lacking.returncode == 2 and "--kwh-per-doc" in lacking.stderr
    both = call("subsample", "plan", "--max-kwh", 1, "--kwh-per-doc", 1, "--ranker", "bm25", "-q")
    assert both.returncode == 2 and "--ranker has no effect with --kwh-per-doc" in both.stderr


def test_plan_within_energy(call):
    few = ("--sampler", "pool:1", "--sampler", "pool:2", "--sampler", "complete", "--replicates", 20, "-q")
    done = call("subsample", "plan", "--max-kwh", 0.5, "--kwh-per-doc", 0.002, *few, "--json")
    audit = json.loads(done.stdout)["audits"][0]
    rows = {row["sampler"]: row for row in audit["sections"][0]["rows"]}
    assert [name for name, row in rows.items() if row["chosen"]] == ["pool:2"]
    assert rows["complete"]["reason"] == "more than 0.5 kWh" and rows["complete"]["kwh"] == pytest.approx(0.672)
    assert audit["findings"][0]["seen"].startswith("pool:2 keeps ")


def test_rerank_needs_no_run_of_the_ranker(call, tmp_path):
    done = call("subsample", "build", "--sampler", "rerank:run=bm25,depth=5", "-q")
    assert done.returncode == 0 and len(done.stdout.split()) == 200
    rerank = ("--sampler", "rerank:run=bm25,depth=5", "--sampler", "complete", "--replicates", 20, "-q", "--json")
    for command in (("subsample", "reliability"), ("subsample", "plan"), ("audit",)):
        told = call(*command, *rerank)
        assert told.returncode == 0, told.stderr
        assert '"sampler": "rerank:run=bm25,depth=5"' in told.stdout
    extracted = call(
        "subsample", "extract", "--source", "builtin:lighthouse", "--sampler", "rerank:run=bm25,depth=5",
        "--out", tmp_path / "sample", "-q",
    )  # fmt: skip
    assert extracted.returncode == 0 and "200 of 200 documents" in extracted.stdout


def test_samples_that_fall_short_are_told(call, tmp_path):
    told = "samples smaller than asked, for random documents ran out (see most): 1 (first: loft:5000: 336 documents)"
    given = ("--source", "builtin:lighthouse", "--sampler", "loft:5000", "--out", tmp_path / "sample")
    assert told in call("subsample", "extract", *given).stderr
    assert told in call("subsample", "build", "--sampler", "loft:5000").stderr
    assert told in call("subsample", "mimic", "--sampler", "loft:5000", "--ranker", "bm25").stderr


def test_extract_of_a_file_and_what_a_ranker_finds_in_it(call, tmp_path):
    lighthouse = resources.files("ringtrue.data").joinpath("lighthouse")
    given = ("--source", lighthouse / "corpus.jsonl", "--sampler", "rerank:run=bm25,depth=5", "-q")
    files = ("--queries", lighthouse / "queries.jsonl", "--qrels", lighthouse / "qrels" / "test.tsv")
    done = call("subsample", "extract", *given, *files, "--out", tmp_path / "sample")
    assert done.returncode == 0 and "200 of 200 documents, 50 topics" in done.stdout
    bare = call("subsample", "extract", *given, "--out", tmp_path / "other")
    assert bare.returncode == 2 and "has nothing to take from" in bare.stderr


def test_rerank_without_a_collection(call, campaign):
    done = call("subsample", "build", *campaign, "--sampler", "rerank:run=bm25", "-q")
    assert done.returncode == 2 and "'bm25' is a ranker and none of the 6 runs" in done.stderr


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    """Runs of three groups that differ in depth and miss topics, and judgments of documents that none retrieves."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(3)
    docs = [f"d{number}" for number in range(60)]
    (tmp_path / "runs").mkdir()
    for name in ("a1", "a2", "b1", "b2", "c1", "c2"):
        topics = range(1, 7 if name[0] == "b" else 9)
        lines = [
            f"{topic} Q0 {doc} 0 {100 - place} {name}\n"
            for topic in topics
            for place, doc in enumerate(rng.sample(docs, 5 if name[0] == "c" else 30))
        ]
        (tmp_path / "runs" / f"{name}.run").write_text("".join(lines))
    judged = [f"{topic} 0 {doc} {rng.randrange(3)}\n" for topic in range(1, 9) for doc in rng.sample(docs, 20)]
    (tmp_path / "qrels.txt").write_text("".join([*judged, "1 0 never 1\n"]))
    (tmp_path / "groups.csv").write_text("run,team\n" + "".join(f"{g}{k},{g}\n" for g in "abc" for k in (1, 2)))
    (tmp_path / "one.csv").write_text("run,team\n" + "".join(f"{g}{k},all\n" for g in "abc" for k in (1, 2)))
    return "--runs", "runs", "--qrels", "qrels.txt"


def test_what_runs_and_judgments_lack_is_shown(call, campaign):
    done = call("subsample", "reliability", *campaign, "--groups", "groups.csv", "--replicates", 20, "-q", "--json")
    assert done.returncode == 0, done.stderr
    sections = {section["name"]: section for section in json.loads(done.stdout)["audits"][0]["sections"]}
    counts = {row["what"]: (row["count"], row["which"]) for row in sections["campaign"]["rows"]}
    assert counts["systems that lack judged topics (how many)"] == (2, "b1 (2), b2 (2)")
    assert counts["documents that a system retrieves"][1] == "5 to 30 a topic"
    unseen, which = counts["judgments of documents that no system retrieves"]
    assert unseen >= 1 and "1 never" in which


def test_a_group_with_all_runs_is_unknown(call, campaign):
    done = call("subsample", "reliability", *campaign, "--groups", "one.csv", "-q")
    assert done.returncode == 0 and "UNKNOWN" in done.stdout and "1 group is too few for 6 systems" in done.stdout
    planned = call("subsample", "plan", *campaign, "--groups", "one.csv", "-q")
    assert (
        "plan: 1 group is too few for 6 systems: leaving one out needs at least 3; nothing was tried." in planned.stdout
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--sampler", "loft:0"), "a sampler has size 0"),
        (("--sampler", "loft:-5"), "a sampler has size -5"),
        (("--sampler", "pool:0"), "depth 0, which gives no documents"),
        (("--sampler", "rerank:run=x9"), "unknown run or ranker 'x9'"),
        (("--sampler", "neighbours:k=3"), "needs a corpus graph"),
        (("--sampler", "pool:5", "--sampler", "pool:5"), "named twice"),
        (("--replicates", 5), "--replicates"),
        (("--qrels", "other.txt"), "no run retrieves any of the 1 judged documents (elsewhere, …)"),
        (("--measure", "nDCG@ten"), "nDCG@ten"),
    ],
)
def test_what_cannot_be_used_is_said(call, campaign, tmp_path, given, message):
    (tmp_path / "other.txt").write_text("1 0 elsewhere 1\n")
    usual = campaign[:2] if "--qrels" in given else campaign
    done = call("subsample", "reliability", *usual, "--groups", "groups.csv", *given, "-q")
    assert done.returncode == 2 and message in done.stderr.replace("\n", " "), done.stderr


def test_few_replicates_are_noted(call):
    done = call("subsample", "reliability", "--sampler", "pool:2", "--sampler", "complete", "--replicates", 20, "-q")
    assert "20 replicates, which are few" in " ".join(done.stdout.split())


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


def test_build_by_bytes_of_a_corpus_that_lacks_a_document(call, campaign, tmp_path):
    lines = [json.dumps({"_id": f"d{number}", "text": "some text"}) + "\n" for number in range(1, 60)]
    (tmp_path / "corpus.jsonl").write_text("".join(lines))
    given = ("--documents", "corpus.jsonl", "--bytes", 450)
    done = call("subsample", "build", *campaign, *given, "--json")
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    (note,) = content["notes"]
    assert note["what"].startswith("documents of the runs that the collection lacks") and note["first"] == "d0"
    assert content["bytes"] == 9 * len(set(content["doc_ids"]) - {"d0"}) <= 450
    assert f"{note['what']}: 1 (first: d0)" in done.stderr


@pytest.mark.parametrize(
    ("given", "best"), [((), "a"), (("--variant", "topic_free"), "a"), (("--variant", "paper_code"), "b"),
                        (("--variant", "paper_code", "--ties", "asc"), "a")],
)  # fmt: skip
def test_a_variant_has_its_own_tie_rule(call, tmp_path, given, best):
    (tmp_path / "runs").mkdir()
    for name in ("x1", "y1", "z1"):
        (tmp_path / "runs" / name).write_text(f"1 Q0 a 0 1.0 {name}\n1 Q0 b 0 1.0 {name}\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    files = ("--runs", tmp_path / "runs", "--qrels", tmp_path / "qrels.txt", "-q", *given)
    assert call("subsample", "build", "--sampler", "pool:1", *files).stdout == f"{best}\n"
    for command in ("reliability", "plan"):
        few = ("--groups", "tags", "--sampler", "complete", "--replicates", 20, "--json")
        done = call("subsample", command, *few, *files)
        settings = json.loads(done.stdout)["audits"][0]["provenance"]["settings"]
        rule = "ascending" if best == "a" else "descending"
        assert settings["ties"].endswith(rule)
        assert settings["mean"] == (
            "over the topics of the run" if "paper_code" in given else "over the topics of the qrels"
        )


def test_an_unusable_measure_leaves_the_other_questions_alone(call, campaign):
    given = (*campaign, "--groups", "groups.csv", "--measure", "nDCG(judged_only=True)@10")
    done = call("audit", *given, "--json", "-q")
    assert done.returncode == 0, done.stderr
    audits = {audit["name"]: audit for audit in json.loads(done.stdout)["audits"]}
    assert set(audits) == {"evaluation", "subsampling"}
    (finding,) = audits["subsampling"]["findings"]
    assert finding["verdict"] == "UNKNOWN" and "judged_only" in finding["seen"]


def test_extract_writes_a_collection_that_can_be_loaded(call, process, tmp_path):
    ids = tmp_path / "ids.txt"
    assert call("subsample", "build", "--sampler", "pool:1", "--out", ids, "-q").returncode == 0
    ids.write_text(ids.read_text() + "no-such-document\n")
    done = call(
        "subsample", "extract", "--source", "builtin:lighthouse", "--ids", ids, "--out", tmp_path / "sample", "-q"
    )
    assert done.returncode == 0 and "1 ids are not in the corpus" in done.stdout
    assert (tmp_path / "sample" / "missing.txt").read_text() == "no-such-document\n"
    pools = call("subsample", "mimic", "--collection", tmp_path / "sample", "--sampler", "pool:3", "-q")
    assert pools.returncode == 2 and "--runs" in pools.stderr
    unclear = call("subsample", "extract", "--source", "builtin:lighthouse", "--out", tmp_path / "other", "-q")
    assert unclear.returncode == 2 and "--ids FILE" in unclear.stderr


def test_plan_and_extract_of_a_real_collection(call, shared, tmp_path):
    """Four groups of lexical systems on Vaswani, from the plan to a sample that can be loaded."""
    folder = shared / "collections" / "vaswani"
    named = {"documents": "doc-text.trec", "queries": "query-text.trec", "qrels": "qrels"}
    vaswani = load(**{part: folder / name for part, name in named.items()})
    (tmp_path / "runs").mkdir()
    for name in ("bm25", "dph", "pl2", "tfidf"):
        for depth in (50, 100):
            run = parse_ranker(f"{name}:depth={depth}").rank(vaswani, vaswani.queries)
            text = replace(run, name=f"{name}_{depth}").to_trec()
            (tmp_path / "runs" / f"{name}_{depth}").write_text(text)
    files = [part for name, file in named.items() for part in (f"--{name}", folder / file)]
    few = ("--sampler", "pool:5", "--sampler", "pool:20", "--sampler", "complete", "--replicates", 20)
    runs = ("--runs", tmp_path / "runs", "--groups", "tags")
    planned = call("subsample", "plan", *files, *runs, *few, "--target-tau", 0.5, "--json")
    assert planned.returncode == 0, planned.stderr
    options = json.loads(planned.stdout)["audits"][0]["sections"][0]["rows"]
    (chosen,) = [row["sampler"] for row in options if row["chosen"]]
    done = call(
        "subsample", "extract", "--source", folder / "doc-text.trec", "--runs", tmp_path / "runs", "--sampler", chosen,
        *files[2:], "--out", tmp_path / "sample", "-q",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    sample = load(tmp_path / "sample")
    found = RunSet.read(run_files(tmp_path / "runs"))
    depth = 100 if chosen == "complete" else int(chosen.partition(":")[2])
    pool = {found.docs[doc] for doc in found.doc[found.rank <= depth].tolist()}
    documents = {document.doc_id: document for document in vaswani.documents()}
    assert {one.doc_id: one for one in sample.documents()} == {doc_id: documents[doc_id] for doc_id in pool}
    assert len(sample.queries) == 93


def test_extract_of_no_known_id(call, tmp_path):
    (tmp_path / "ids.txt").write_text("nowhere-1\nnowhere-2\n")
    done = call(
        "subsample", "extract", "--source", "builtin:lighthouse", "--ids", tmp_path / "ids.txt",
        "--out", tmp_path / "sample", "-q",
    )  # fmt: skip
    assert done.returncode == 2 and "none of the 2 documents, as 'nowhere-1', is among the 336" in done.stderr


def test_energy_is_measured_or_said_not_to_be(call, tmp_path):
    pytest.importorskip("tirex_tracker", reason="measuring needs the extra 'energy'")
    (tmp_path / "ids.txt").write_text("batteries-01\n")
    done = call(
        "subsample", "extract", "--source", "builtin:lighthouse", "--ids", tmp_path / "ids.txt",
        "--out", tmp_path / "sample", "--energy", "-q",
    )  # fmt: skip
    assert "\nenergy of extract: " in done.stdout
    (stage,) = json.loads((tmp_path / "sample" / "energy.json").read_text())["stages"]
    assert stage["documents"] == 336 and (tmp_path / "sample" / "energy" / "01-extract.ir_metadata.yml").is_file()
    few = ("--sampler", "pool:1", "--ranker", "bm25", "-q")
    done = call("subsample", "mimic", *few, "--energy", "--corpus-docs", 3360, "--out", tmp_path / "mimic", "--json")
    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)["audits"][0]["sections"][-1]
    assert [row["stage"] for row in table["rows"]] == [
        "index: bm25 on everything", "search: bm25 on everything", "index: bm25 on pool:1", "search: bm25 on pool:1"
    ]  # fmt: skip
    for row in table["rows"]:
        if row["kwh"] is None:
            assert row["energy"] == "not measurable on this machine" and row["full_kwh"] is None
        else:
            assert row["full_kwh"] == pytest.approx(row["kwh"] / row["documents"] * 3360)
    assert len(list((tmp_path / "mimic" / "energy").glob("*.yml"))) == 4
    refused = call("subsample", "mimic", *few, "--corpus-docs", 10)
    assert refused.returncode == 2 and "--corpus-docs has no effect without --energy" in refused.stderr


def test_energy_is_of_what_was_done(call, tmp_path, monkeypatch):
    pytest.importorskip("tirex_tracker", reason="measuring needs the extra 'energy'")
    (tmp_path / "ids.txt").write_text("batteries-01\n")
    given = ("--source", "builtin:lighthouse", "--ids", tmp_path / "ids.txt", "-q")
    folder = tmp_path / "sample"
    assert call("subsample", "extract", *given, "--out", folder, "--energy").returncode == 0
    before = {path.name: path.read_bytes() for path in (folder / "energy.json", *(folder / "energy").iterdir())}
    again = call("subsample", "extract", *given, "--out", folder, "--energy")
    assert "energy of extract: nothing was left to do, and the earlier figures stay in" in again.stdout
    assert before == {path.name: path.read_bytes() for path in (folder / "energy.json", *(folder / "energy").iterdir())}

    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("ringtrue.subsampling.extract.write_documents", interrupt)
        assert call("subsample", "extract", *given, "--out", tmp_path / "other", "--energy").returncode == 130
    rest = call("subsample", "extract", *given, "--out", tmp_path / "other", "--energy")
    assert "energy of extract (the rest of an interrupted one): " in rest.stdout
    (stage,) = json.loads((tmp_path / "other" / "energy.json").read_text())["stages"]
    assert (stage["stage"], stage["documents"]) == ("extract (the rest of an interrupted one)", 0)
    assert call("subsample", "extract", *given, "--out", tmp_path / "bare").returncode == 0
    late = call("subsample", "extract", *given, "--out", tmp_path / "bare", "--energy")
    assert "it was not measured when it was done" in late.stdout and not (tmp_path / "bare" / "energy.json").exists()


def test_what_an_extraction_tolerated_is_told(call, tmp_path):
    (tmp_path / "in").mkdir()
    rows = [{"_id": "a", "text": "one"}, {"_id": "a", "text": "two"}, {"_id": "b", "text": "three"}]
    (tmp_path / "in" / "docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "in" / "about.md").write_text("nothing")
    (tmp_path / "ids.txt").write_text("a\n")
    given = ("--source", tmp_path / "in", "--ids", tmp_path / "ids.txt", "-q")
    done = call("subsample", "extract", *given, "--out", tmp_path / "out")
    assert "1 further documents have the id of one that was taken, 1 of them with another text" in done.stdout
    assert "files of the folder that are not read: 1 (first: " in done.stdout


def test_published_rows(call, shared):
    paper = shared / "subsampling" / "paper"
    done = call("subsample", "published", paper / "aggregated.jsonl.gz", "--sizes", paper / "dataset-sizes.json", "-q")
    assert done.returncode == 0 and "30.8209 kWh" in done.stdout and "907.2" in done.stdout


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
    assert row["low"] < row["rbo"] < row["high"] and row["topics"] == 50
