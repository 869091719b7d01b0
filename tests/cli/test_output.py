"""Targets are checked before the work, and an interruption says what is kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from ringtrue.leakage import search as leakage_search
from ringtrue.study import Study

REPORTS = [("audit",), ("leakage", "search"), ("subsample", "reliability"), ("subsample", "mimic")]
FILES = [("subsample", "build"), ("subsample", "graph"), ("robustness", "vary")]


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "page.html").mkdir()
    (tmp_path / "closed").mkdir(mode=0o500)
    return tmp_path


@pytest.mark.parametrize("command", REPORTS, ids=" ".join)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--out", "file"), "--out file: a file is in its place"),
        (("--out", "no/such/folder"), "there is no folder"),
        (("--out", "closed/folder"), "cannot write to"),
        (("--page", "a/b.html"), "--page 'a/b.html' should be a name"),
        (("--page", "result.json"), "--page 'result.json' should be a name"),
        (("--out", "folder", "--page", "page.html"), "a folder of that name is in folder"),
    ],
)
def test_a_folder_that_cannot_be_written_is_said_at_once(call, place, monkeypatch, command, arguments, message):
    if "closed" in arguments[1] and os.access(place / "closed", os.W_OK):
        pytest.skip("this user may write everywhere")
    monkeypatch.setattr("ringtrue.study.Study", None)  # whatever starts the work fails otherwise
    monkeypatch.setattr("ringtrue.data.load.load", None)
    done = call(*command, *arguments)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.parametrize("command", FILES, ids=" ".join)
@pytest.mark.parametrize(
    ("target", "message"), [("folder", "is a folder; name a file"), ("no/such/file", "there is no folder")]
)
def test_a_file_that_cannot_be_written_is_said_at_once(call, place, command, target, message):
    if target == "folder" and command[1] in {"build", "vary"}:
        pytest.skip("takes a folder as well")
    done = call(*command, "--out", target)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1


def test_an_interruption_says_what_is_kept(call, monkeypatch):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(Study, "audits", stop)
    monkeypatch.setattr(leakage_search, "searching", stop)
    done = call("audit")
    assert done.returncode == 130 and done.stdout == ""
    assert done.stderr == (
        "ringtrue: interrupted; no result was written; "
        "indexes and vectors that were finished are kept for the next time.\n"
    )
    done = call("leakage", "search", "--encoder", "hashing")
    assert done.returncode == 130 and "the same command goes on from there" in done.stderr
    monkeypatch.setattr("ringtrue.cli.checkup.examine", stop)
    done = call("doctor")
    assert done.returncode == 130 and done.stderr.startswith("ringtrue: interrupted")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_control_c_in_a_process(own_cache):
    command = [sys.executable, "-m", "ringtrue", "audit", "--encoder", "hashing", "--replicates", "100000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and first.startswith("ringtrue: ")
    assert err.splitlines()[-1].startswith("ringtrue: interrupted; ") and "Traceback" not in err and out == ""


@pytest.mark.parametrize(("fail_on", "code"), [("never", 0), ("fail", 1)])
def test_other_commands_can_fail_on_a_verdict_too(call, fail_on, code):
    done = call("leakage", "search", "--encoder", "hashing", "--fail-on", fail_on, "-q")
    assert done.returncode == code and "[FAIL]" in done.stdout
