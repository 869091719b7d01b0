from __future__ import annotations

import json
from pathlib import Path

import pytest

from ringtrue.data import lighthouse

FOLDER = Path(lighthouse.__file__).parent


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """Three runs of three groups over two topics, as files."""
    (tmp_path / "runs").mkdir()
    for place, name in enumerate("abc"):
        lines = [f"{topic} Q0 d{doc} 1 {(doc * (place + 2)) % 7} {name}" for topic in (1, 2) for doc in range(9)]
        (tmp_path / "runs" / f"{name}.run").write_text("\n".join(lines) + "\n")
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{topic} 0 d{doc} {doc % 2}\n" for topic in (1, 2) for doc in range(9))
    )
    (tmp_path / "groups.csv").write_text("run,team\na,A\nb,B\nc,C\n")
    (tmp_path / "study.toml").write_text(
        'runs = "runs"\nqrels = "qrels.txt"\ngroups = "groups.csv"\nmeasure = "P@5"\nreplicates = 20\n'
    )
    return tmp_path


def test_with_no_arguments_it_audits_the_built_in_collection(call, tmp_path):
    done = call(
        "audit", "--encoder", "hashing", "--replicates", 20, "--out", tmp_path / "report", "--page", "index.html"
    )
    assert done.returncode == 0
    assert "Can these systems be compared?" in done.stdout and "WARN" in done.stdout
    assert "results are in" in done.stderr and "reading 24 runs" in done.stderr
    result = json.loads((tmp_path / "report" / "result.json").read_text())
    assert result["verdict"] in ("PASS", "WARN", "FAIL", "UNKNOWN")
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "<svg" in page and "harbour_bm25" in page


def test_json_is_data_on_stdout_and_the_same_twice_under_two_hash_seeds(process, campaign):
    done = [process("audit", campaign / "study.toml", "--json", "--quiet", PYTHONHASHSEED=seed) for seed in "01"]
    assert [(one.returncode, one.stderr) for one in done] == [(0, ""), (0, "")]
    assert done[0].stdout == done[1].stdout
    assert json.loads(done[0].stdout)["schema"] == 1


def test_tables_are_printed_where_asked_for(call, campaign):
    brief, whole = (call("audit", campaign / "study.toml", "-q", *more).stdout for more in ((), ("--tables",)))
    assert "Evidence: " in brief and "Judgments  Share" not in brief
    assert "Evidence: " not in whole and "Judgments  Share" in whole


def test_options_win_over_the_study_file(call, campaign):
    done = call("audit", campaign / "study.toml", "--measure", "RR", "--json", "-q")
    audit = json.loads(done.stdout)["audits"][0]
    assert audit["provenance"]["settings"]["measure"] == "RR"


@pytest.mark.parametrize(("fail_on", "code"), [("never", 0), ("warn", 1)])
def test_the_exit_code_tells_the_verdict_where_asked(call, campaign, fail_on, code):
    assert call("audit", campaign / "study.toml", "--fail-on", fail_on, "--json", "-q").returncode == code


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        (("runs/a.run", "1 Q0 d1 1 nan a\n"), (), "a.run, line 1: the score 'nan' is not finite"),
        (("runs/a.run", "1 Q0 d1 1 2\n"), (), "a.run, line 1: 5 columns"),
        (("runs/a.run", "7 Q0 d1 1 2 a\n"), (), "run 'a' has no topic in common with the judgments"),
        (("qrels.txt", ""), (), "qrels.txt"),
        (("qrels.txt", "1 0 d1 high\n"), (), "qrels.txt, line 1"),
        (("groups.csv", "run,team\na,A\nb,B\n"), (), "no group in"),
        (("study.toml", "runs = 3\n"), (), "runs should be text"),
        (("study.toml", "measur = 'P@5'\n"), (), "did you mean measure"),
        (("study.toml", "runs = \n"), (), "not valid TOML"),
        (None, ("--measure", "nDGC@10"), "did you mean nDCG"),
        (None, ("--ties", "alphabetical"), "unknown tie rule 'alphabetical'"),
        (None, ("--runs", "nowhere"), "nowhere"),
        (None, ("--ranker", "bm52"), "did you mean bm25"),
        (None, ("--encoder", "minilmm"), "did you mean minilm"),
        (None, ("--seed", "-1"), "--seed"),
        (None, ("--out", "/proc/nowhere"), "/proc/nowhere"),
        (None, ("--collection", "irds:no/such-set"), "no/such-set"),
        (None, ("--collection", "builtin:lamphouse"), "lighthouse"),
    ],
)
def test_bad_input_gets_one_message_and_exit_code_2(call, campaign, change, arguments, message):
    if change:
        (campaign / change[0]).write_text(change[1])
    done = call("audit", campaign / "study.toml", "-q", *arguments)
    assert done.returncode == 2
    assert message in done.stderr and "Traceback" not in done.stderr
    assert done.stdout == "" and done.stderr.count("\n") <= 8


def test_the_search_for_leaks_takes_a_threshold_and_positives(call, tmp_path):
    (tmp_path / "topics.tsv").write_text("1\tlamp oil\n")
    (tmp_path / "log.tsv").write_text("a\tlamp oil\nb\toil for a lamp\n")
    (tmp_path / "qrels.txt").write_text("1 0 d1 1\n")
    (tmp_path / "positives.tsv").write_text("a\td1\n")
    (tmp_path / "study.toml").write_text(
        'queries = "topics.tsv"\ntrain = "log.tsv"\nqrels = "qrels.txt"\nencoder = "hashing:dimensions=64"\n'
        'threshold = 0.99\npositives = "positives.tsv"\n'
    )
    strict, loose = (
        json.loads(call("audit", tmp_path / "study.toml", *more, "--json", "-q").stdout)["audits"][0]
        for more in ((), ("--threshold", 0.1))
    )
    assert [audit["provenance"]["settings"]["threshold"] for audit in (strict, loose)] == [0.99, 0.1]
    assert "by 1 pair of" in strict["findings"][0]["seen"] and "by 2 pairs" in loose["findings"][0]["seen"]
    assert "1 training pairs tell the answer to 1 of 1 topics" in strict["findings"][1]["seen"]


def test_a_missing_study_file(call):
    done = call("audit", "no.toml")
    assert done.returncode == 2 and "cannot read the study file no.toml" in done.stderr


def test_a_reader_that_goes_away_is_no_error(campaign):
    import subprocess
    import sys

    command = f"{sys.executable} -m ringtrue audit {campaign / 'study.toml'} -q | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr


def test_where_lower_is_better_the_lowest_leads(call):
    done = call("audit", "--encoder", "hashing", "--replicates", 20, "--measure", "MFR@100", "--json", "-q")
    systems = next(section for section in json.loads(done.stdout)["audits"][0]["sections"] if "rows" in section)
    scores = [row["score"] for row in systems["rows"]]
    assert scores == sorted(scores) and scores[0] < 2


def test_a_study_file_that_is_no_text(call, tmp_path):
    (tmp_path / "s.toml").write_bytes(b"\0\xff")
    done = call("audit", tmp_path / "s.toml")
    assert done.returncode == 2 and "not valid TOML" in done.stderr


@pytest.mark.parametrize("command", [("subsample", "build"), ("robustness", "vary", "--generator", "JoinWords")])
def test_output_that_cannot_be_written(call, command):
    done = call(*command, "--out", "/proc/nowhere/file", "-q")
    assert done.returncode == 2 and "/proc/nowhere" in done.stderr and "Traceback" not in done.stderr


def test_talk_is_not_markup(call):
    assert "pool:100: 336 documents" in call("subsample", "build").stderr
