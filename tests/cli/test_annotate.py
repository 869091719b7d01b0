from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.parse
import urllib.request

import pytest

from ringtrue.leakage.exchange import read_labels

pytest.importorskip("uvicorn")


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "to-label.jsonl"
    row = {
        "topic_id": "1",
        "query_id": "q1",
        "text": "bear attack",
        "title": "Bear attacks",
        "variant": "",
        "label": [],
    }
    path.write_text(json.dumps(row) + "\n")
    return path


def test_served_answered_and_stopped(pairs, tmp_path):
    """As a person does it: start, open the page, answer, Ctrl-C, and find the labels."""
    command = [sys.executable, "-m", "ringtrue", "annotate", str(pairs), "--port", "0", "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None and server.stdout is not None
        told = server.stderr.readline()
        address = re.search(r"open (http://127\.0\.0\.1:\d+/) to label 1 tasks", told)
        assert address is not None, told
        data = urllib.parse.urlencode({"title": "specialization"}).encode()
        with urllib.request.urlopen(f"{address[1]}by/anna/1", data) as answer:
            assert "1 of 1" in answer.read().decode()
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=60)
    assert (server.returncode, err) == (0, "")
    written = tmp_path / "out" / "to-label-by-anna.jsonl"
    assert out.split() == [str(written)]
    assert read_labels(written)[0].labels == ("Title-Specialization", "Variant-Specialization")


def test_labels_are_written_without_serving(call, pairs):
    done = call("annotate", pairs, "--write")
    assert (done.returncode, done.stdout) == (0, "")
    assert "nobody has answered anything yet" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--write", "--host", "0.0.0.0"), "--host has no effect with --write"),
        (("--host", "203.0.113.1", "--port", "1"), "cannot listen at 203.0.113.1, port 1"),
    ],
)
def test_what_cannot_be_served(call, pairs, arguments, message):
    done = call("annotate", pairs, *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_file_of_something_else(call, tmp_path):
    path = tmp_path / "runs.txt"
    path.write_text("1 Q0 d1 1 2.0 tag\n")
    done = call("annotate", path)
    assert (done.returncode, "labels are doccano's JSON Lines" in done.stderr) == (2, True)
    assert not os.path.exists(f"{path}.answers.sqlite")


def test_the_extra_is_named(call, pairs, monkeypatch):
    find = __import__("importlib.util").util.find_spec
    monkeypatch.setattr(
        "ringtrue.annotate.serve.importlib.util.find_spec", lambda name: None if name == "uvicorn" else find(name)
    )
    done = call("annotate", pairs)
    assert (done.returncode, "pip install 'ringtrue[annotate]'" in done.stderr) == (3, True)
    assert not os.path.exists(f"{pairs}.answers.sqlite")
