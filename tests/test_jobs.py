from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from ringtrue.errors import FormatError, InputError
from ringtrue.jobs import Job, main, outcome, read_jobs, result_of, span, work_through, write_jobs
from ringtrue.jobs.progress import Clock
from ringtrue.jobs.worker import take_jobs

_WORK = """
import json, os, signal, time
from pathlib import Path

def note(task):
    with open(task.base / "order.txt", "a") as file:
        file.write(task.out.name + "\\n")
    (task.out / "value.json").write_text(json.dumps({"twice": 2 * task.arguments["n"], "pid": os.getpid(),
        "threads": os.environ.get("OMP_NUM_THREADS"), "wait": os.environ.get("OMP_WAIT_POLICY")}))

def stumble(task):
    (task.out / "half.txt").write_text("half")
    if not (task.base / "mended").exists():
        raise ValueError(f"cannot work with {task.arguments['n']}")

def die(task):
    os.kill(os.getpid(), signal.SIGKILL)

def slow(task):
    (task.base / f"started-{task.out.name}").touch()
    time.sleep(60)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "some_work.py").write_text(_WORK)
    monkeypatch.syspath_prepend(str(tmp_path / "code"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    return tmp_path / "work"


def _jobs(*names: str, function: str = "note") -> list[Job]:
    return [Job(name, f"some_work:{function}", {"n": place}) for place, name in enumerate(names)]


def _order(folder: Path) -> list[str]:
    return (folder / "order.txt").read_text().split()


def test_jobs_are_done_in_the_order_they_were_given(folder: Path) -> None:
    write_jobs(folder, _jobs("c", "a", "b"))
    found = work_through(folder, workers=1)
    assert found.done == ("c", "a", "b")
    assert found.failed == ()
    assert _order(folder) == ["c", "a", "b"]
    assert json.loads((result_of(folder, "b") / "value.json").read_text())["twice"] == 4
    assert json.loads((result_of(folder, "b") / "job.json").read_text())["arguments"] == {"n": 2}
    assert not (folder / "drafts").exists()


def test_finished_jobs_are_kept_and_new_ones_added(folder: Path) -> None:
    write_jobs(folder, _jobs("a", "b"))
    work_through(folder, workers=1)
    write_jobs(folder, _jobs("a", "b", "c"))
    assert [job.name for job in read_jobs(folder)] == ["a", "b", "c"]
    assert work_through(folder, workers=1).done == ("a", "b", "c")
    assert _order(folder) == ["a", "b", "c"]


def test_a_failure_is_recorded_the_rest_goes_on_and_it_is_tried_again(folder: Path) -> None:
    said: list[str] = []
    write_jobs(folder, [*_jobs("x", function="stumble"), *_jobs("y")])
    found = work_through(folder, workers=1, say=said.append)
    assert found.done == ("y",)
    assert [(one.name, one.error) for one in found.failed] == [("x", "ValueError: cannot work with 0")]
    assert "stumble" in found.failed[0].trace
    assert not result_of(folder, "x").exists()
    assert any("x failed" in message for message in said)
    (folder / "mended").touch()
    assert work_through(folder, workers=1).done == ("x", "y")
    assert outcome(folder).failed == ()


def test_processes_share_the_work_and_the_cores(folder: Path) -> None:
    names = [f"j{number:02}" for number in range(8)]
    write_jobs(folder, _jobs(*names))
    assert work_through(folder, workers=2).done == tuple(names)
    assert sorted(_order(folder)) == names
    values = [json.loads((result_of(folder, name) / "value.json").read_text()) for name in names]
    assert all(value["pid"] != os.getpid() for value in values)
    assert {value["wait"] for value in values} == {"PASSIVE"}
    assert all(int(value["threads"]) >= 1 for value in values)


def test_a_process_that_dies_takes_only_its_job_with_it(folder: Path) -> None:
    write_jobs(folder, [*_jobs("bad", function="die"), *_jobs("p", "q", "r")])
    found = work_through(folder, workers=2)
    assert found.done == ("p", "q", "r")
    assert found.failed[0].name == "bad"
    assert "SIGKILL" in found.failed[0].error


def test_a_kill_loses_only_what_was_running(folder: Path) -> None:
    write_jobs(folder, [*_jobs("a", "b"), *_jobs("long", function="slow")])
    command = [sys.executable, "-m", "ringtrue.jobs", str(folder), "--workers", "1"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
    for _ in range(300):
        if (folder / "started-long").exists():
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert outcome(folder).done == ("a", "b")
    write_jobs(folder, _jobs("a", "b", "long"))
    assert work_through(folder, workers=1).done == ("a", "b", "long")
    assert _order(folder) == ["a", "b", "long"]


def test_only_the_standard_library_is_needed(folder: Path) -> None:
    code = textwrap.dedent("""
        import sys
        import ringtrue.jobs
        heavy = {"numpy", "torch", "scipy", "pyarrow", "typer", "ir_measures", "ir_datasets"} & set(sys.modules)
        sys.exit(f"imports {heavy}" if heavy else 0)
    """)
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_command_line_tells_by_its_exit_code(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_jobs(folder, _jobs("a"))
    assert main([str(folder), "--workers", "1"]) == 0
    write_jobs(folder, _jobs("b", function="stumble"))
    assert main([str(folder), "--workers", "1"]) == 1
    assert main([str(folder / "nowhere")]) == 2
    said = capsys.readouterr().err
    assert "b failed: ValueError" in said
    assert "no folder 'jobs'" in said


def test_jobs_that_are_taken_out_keep_their_results(folder: Path) -> None:
    write_jobs(folder, _jobs("a", "b"))
    work_through(folder, workers=1)
    new = [*_jobs("a"), *_jobs("c")]
    write_jobs(folder, reversed(new), only=True)
    assert [job.name for job in read_jobs(folder)] == ["c", "a"]
    with pytest.raises(InputError, match="b was finished with other arguments"):
        write_jobs(folder, [Job("b", "some_work:note", {"n": 7})], only=True)
    assert [job.name for job in read_jobs(folder)] == ["c", "a"]
    write_jobs(folder, _jobs("z", "b"), only=True)
    assert outcome(folder).done == ("b",)


def test_bad_jobs_are_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="cannot be named"):
        write_jobs(folder, _jobs("../x"))
    write_jobs(folder, _jobs("a"))
    work_through(folder, workers=1)
    with pytest.raises(InputError, match="was finished with other arguments"):
        write_jobs(folder, [Job("a", "some_work:note", {"n": 7})])
    with pytest.raises(InputError, match="0 workers"):
        work_through(folder, workers=0)
    (folder / "jobs" / "broken.json").write_text('{"order": 1}')
    with pytest.raises(FormatError, match=r"broken\.json"):
        read_jobs(folder)


def test_times_are_said_in_words() -> None:
    assert [span(5), span(600), span(7200)] == ["5 s", "10 min", "2.0 h"]


@pytest.mark.parametrize(("shares", "left"), [({"short": 2.0, "long": 17.0}, "54 s left"), ({}, "12 s left")])
def test_the_time_left_goes_by_how_long_jobs_are(folder: Path, monkeypatch: pytest.MonkeyPatch, shares, left) -> None:
    """Where the first job is a tenth of all the work, nine times as long is left as has passed."""
    jobs, said = _jobs("short", "long", "other"), []
    write_jobs(folder, jobs)
    clock = Clock(folder, jobs, said.append, shares)
    clock.look()
    take_jobs(folder, jobs[:1], lambda: None)
    start = time.monotonic()
    monkeypatch.setattr(clock, "_start", start - 6)
    clock.look()
    assert said == ["0 of 3 jobs done"]  # too early to say more
    monkeypatch.setattr(clock, "_said", (0, start - 6))
    clock.look()
    assert said[1:] == [f"1 of 3 jobs done, {left}"]
