"""The one way to run many pieces of work: each is a file, so that any machine that sees the folder can take it.

A folder of work has

    jobs/NAME.json      which function to call, `module:function`, with which arguments
    results/NAME/       what the function wrote; there as a whole or not at all
    failures/NAME.json  why a job failed; it is tried again when the folder is worked through again
    claims/, drafts/    what is being worked on

`python -m ringtrue.jobs FOLDER` works through it, also where the rest of ringtrue's dependencies are missing. A claim
is a lock that ends with its process: several processes, or machines on one file system, never take the same job at a
time, and a kill loses only what was running. Left out: scheduling by cost (give long jobs first), a network protocol.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

from ringtrue.errors import FormatError, InputError, RingtrueError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=+,-]{0,149}")
_LOOK_SECONDS, _SAY_SECONDS, _SILENT_SECONDS = 0.2, 2.0, 20.0
_INTERRUPTED = 130
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")

Say = Callable[[str], None]


class Job(NamedTuple):
    """A piece of work: `function` is `module:function`, `arguments` are what JSON can hold."""

    name: str
    function: str
    arguments: Mapping[str, Any]


class Task(NamedTuple):
    """What a job's function is called with: where to write, the folder of all work, and the job's arguments."""

    out: Path
    base: Path
    arguments: Mapping[str, Any]


class Failure(NamedTuple):
    """A job that failed, and why."""

    name: str
    error: str
    trace: str = ""


class Outcome(NamedTuple):
    """How the jobs of a folder stand, each list in their order; the rest was not done yet."""

    done: tuple[str, ...]
    failed: tuple[Failure, ...]
    total: int


def write_jobs(folder: Path, jobs: Iterable[Job], *, only: bool = False) -> None:
    """Add jobs to a folder of work; those that are there already stay, and one that changed must have no result.

    With `only` all others are taken out; their results stay, and count again where the same job comes back.
    """
    given = list(jobs)
    for job in given:
        _check_result(folder, job)
    known = {job.name: job for job in read_jobs(folder)} if (folder / "jobs").is_dir() and not only else {}
    (folder / "jobs").mkdir(parents=True, exist_ok=True)
    for order, job in enumerate(given, start=len(known)):
        if not _NAME.fullmatch(job.name):
            raise InputError(f"a job cannot be named {job.name!r}: letters, digits and ._=+,- only, 150 at most.")
        if known.get(job.name) == job:
            continue
        line = {"order": order, "function": job.function, "arguments": dict(job.arguments)}
        _write(folder / "jobs" / f"{job.name}.json", line)
    if only:
        names = {job.name for job in given}
        for path in (folder / "jobs").glob("*.json"):
            if path.stem not in names:
                path.unlink()


def _check_result(folder: Path, job: Job) -> None:
    """A result of the same name must be of the same function and arguments."""
    record = result_of(folder, job.name) / "job.json"
    if not record.is_file():
        return
    made = _read(record)
    if (made.get("function"), made.get("arguments")) != (job.function, _as_json(job.arguments)):
        raise InputError(f"{record.parent} was finished with other arguments; take another folder, or delete it.")


def _as_json(arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """What is read back of them: lists of tuples, text keys."""
    return json.loads(json.dumps(dict(arguments)))


def read_jobs(folder: Path) -> tuple[Job, ...]:
    """All jobs of a folder, in the order in which they were given."""
    place = folder / "jobs"
    if not place.is_dir():
        raise InputError(f"{folder} is no folder of work: it has no folder 'jobs'.")
    found = []
    for path in sorted(place.glob("*.json")):
        content = _read(path)
        try:
            found.append((int(content["order"]), Job(path.stem, str(content["function"]), dict(content["arguments"]))))
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"a job has order, function and arguments ({error}).", path) from error
    return tuple(job for _, job in sorted(found, key=lambda pair: (pair[0], pair[1].name)))


def result_of(folder: Path, name: str) -> Path:
    """Where a finished job's files are."""
    return folder / "results" / name


def outcome(folder: Path) -> Outcome:
    """How the jobs stand now."""
    names = [job.name for job in read_jobs(folder)]
    done = tuple(name for name in names if result_of(folder, name).is_dir())
    failed = []
    for name in names:
        path = folder / "failures" / f"{name}.json"
        if name not in done and path.is_file():
            content = _read(path)
            failed.append(Failure(name, str(content.get("error", "")), str(content.get("trace", ""))))
    return Outcome(done, tuple(failed), len(names))


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def gpus() -> tuple[str, ...]:
    """The GPUs that this process may use, as CUDA names them."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return tuple(one.strip() for one in named.split(",") if one.strip() not in ("", "-1"))
    return tuple(str(place) for place, _ in enumerate(Path("/dev").glob("nvidia[0-9]*")))


def usual_workers() -> int:
    """One process a GPU, or without GPUs one a core."""
    return len(gpus()) or cores()


def work_through(folder: Path, *, workers: int | None = None, say: Say = lambda message: None) -> Outcome:
    """Do all jobs that are not done, failed ones again; one worker works in this process, several in their own."""
    count = usual_workers() if workers is None else workers
    if count < 1:
        raise InputError(f"{count} workers cannot work; give 1 or more.")
    jobs = read_jobs(folder)
    for job in jobs:
        _forget(folder, job.name)
    clock = _Clock(folder, jobs, say)
    open_jobs = len(jobs) - len(outcome(folder).done)
    if count == 1 or open_jobs < 2:
        _work(folder, jobs, clock.look)
    else:
        _Crew(folder, min(count, open_jobs), clock).work()
    with suppress(OSError):  # another machine is still at work there
        (folder / "drafts").rmdir()
    return outcome(folder)


@dataclass
class _Clock:
    """Says how far the work is and how long the rest will take."""

    folder: Path
    jobs: Sequence[Job]
    say: Say
    _seen: dict[str, None] = field(default_factory=dict)
    _before: int | None = None
    _start: float = field(default_factory=time.monotonic)
    _said: tuple[int, float] = (-1, 0.0)

    def look(self) -> None:
        """Count what is done or failed; failures are said at once, the rest when it changes or now and then."""
        done = failed = 0
        for job in self.jobs:
            if result_of(self.folder, job.name).is_dir():
                done += 1
            elif (path := self.folder / "failures" / f"{job.name}.json").is_file():
                failed += 1
                if job.name not in self._seen:
                    self._seen[job.name] = None
                    self.say(f"{job.name} failed: {_read(path).get('error', '')}")
        if self._before is None:
            self._before = done + failed
        now, (before, then) = time.monotonic(), self._said
        wait = _SILENT_SECONDS if done + failed == before else _SAY_SECONDS if done + failed < len(self.jobs) else 0.0
        if now - then >= wait:
            self._said = done + failed, now
            self.say(self._words(done, failed, now))

    def _words(self, done: int, failed: int, now: float) -> str:
        ended = done + failed
        words = f"{done:,} of {len(self.jobs):,} jobs done" + (f", {failed:,} failed" if failed else "")
        new = ended - (self._before or 0)
        if new and ended < len(self.jobs):
            words += f", {span((now - self._start) / new * (len(self.jobs) - ended))} left"
        return words


@dataclass
class _Crew:
    """Several processes, each of which takes jobs until there are none; one that dies is replaced."""

    folder: Path
    count: int
    clock: _Clock
    _running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def work(self) -> None:
        """Start them, watch them, and stop them where this process is interrupted."""
        self._running = [self._start(number) for number in range(self.count)]
        try:
            while any([self._watch(number) for number in range(self.count)]):
                self.clock.look()
                time.sleep(_LOOK_SECONDS)
            self.clock.look()
        finally:
            for worker in self._running:
                if worker.poll() is None:
                    worker.terminate()
            for worker in self._running:
                worker.wait()

    def _start(self, number: int) -> subprocess.Popen[bytes]:
        """A process with its share of the cores and one of the GPUs; waiting threads must not spin."""
        share = str(max(cores() // self.count, 1))
        environment = {**os.environ, **dict.fromkeys(_THREADS, share), "OMP_WAIT_POLICY": "PASSIVE"}
        devices = gpus()
        if devices:
            environment["CUDA_VISIBLE_DEVICES"] = devices[number % len(devices)]
        # what this process can import its workers can too, also where it runs from a source tree
        environment["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
        command = [sys.executable, "-m", "ringtrue.jobs", str(self.folder), "--take-from", str(os.getpid())]
        return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)

    def _watch(self, number: int) -> bool:
        """Whether a worker works; one that died leaves a failure and gets a successor."""
        worker = self._running[number]
        code = worker.poll()
        if not code:
            return code is None
        if not self._blame(worker.pid, code):
            raise RingtrueError(f"a worker of {self.folder} ended with code {code} before it took a job.")
        self._running[number] = self._start(number)
        return True

    def _blame(self, process: int, code: int) -> bool:
        """Record the job that a dead process was at."""
        how = f"with code {code}" if code > 0 else f"by {signal.Signals(-code).name}; it may have run out of memory"
        claims = sorted((self.folder / "claims").glob("*"))
        own = [path.name for path in claims if path.read_text(encoding="utf-8") == _signature(process)]
        for name in own:
            if not result_of(self.folder, name).is_dir():
                _fail(self.folder, Failure(name, f"the process ended {how}"))
        return bool(own)


def _work(folder: Path, jobs: Sequence[Job], look: Callable[[], None], parent: int | None = None) -> int:
    """Take one job after the other until none is open, then give 0; stops when the process that asked is gone."""
    look()
    for job in jobs:
        if parent is not None and os.getppid() != parent:
            break
        with _claim(folder, job.name) as claim:
            if claim is None or _is_over(folder, job.name):
                continue
            before = claim.read()
            if before:
                _fail(folder, Failure(job.name, f"the process that was at it ({before}) ended before it was done"))
            else:
                claim.write(_signature(os.getpid()))
                claim.flush()
                _do(folder, job)
            look()
    return 0


def _do(folder: Path, job: Job) -> None:
    """Call a job's function and move what it wrote to its place; what it raises is recorded."""
    draft = folder / "drafts" / job.name
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    start = time.monotonic()
    try:
        module, _, name = job.function.partition(":")
        getattr(importlib.import_module(module), name)(Task(draft, folder, job.arguments))
    except Exception as error:  # whatever it is, the other jobs go on
        said = str(error) if isinstance(error, RingtrueError) else f"{type(error).__name__}: {error}"
        _fail(folder, Failure(job.name, said, traceback.format_exc()))
        shutil.rmtree(draft, ignore_errors=True)
        return
    record = {"function": job.function, "arguments": dict(job.arguments)}
    _write(draft / "job.json", {**record, "seconds": round(time.monotonic() - start, 3), "host": socket.gethostname()})
    result_of(folder, job.name).parent.mkdir(exist_ok=True)
    draft.rename(result_of(folder, job.name))


def _fail(folder: Path, failure: Failure) -> None:
    (folder / "failures").mkdir(exist_ok=True)
    _write(folder / "failures" / f"{failure.name}.json", {"error": failure.error, "trace": failure.trace})


def _is_over(folder: Path, name: str) -> bool:
    return result_of(folder, name).is_dir() or (folder / "failures" / f"{name}.json").is_file()


@contextmanager
def _claim(folder: Path, name: str) -> Iterator[IO[str] | None]:
    """The claim of a job, None where another has it: a lock, which the system takes back when a process ends."""
    (folder / "claims").mkdir(exist_ok=True)
    with open(folder / "claims" / name, "a+", encoding="utf-8") as file:
        file.seek(0)
        yield file if try_lock(file) else None


def _forget(folder: Path, name: str) -> None:
    """Let a job be tried again."""
    (folder / "failures" / f"{name}.json").unlink(missing_ok=True)
    with _claim(folder, name) as claim:
        if claim is not None:
            claim.truncate(0)


def try_lock(file: IO[str]) -> bool:
    """Lock a file for this process until it is closed or the process ends; False where another has it."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _signature(process: int) -> str:
    return f"{socket.gethostname()} {process}"


def _read(path: Path) -> dict[str, Any]:
    try:
        content: object = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FormatError(f"not valid JSON: {error}.", path) from error
    if not isinstance(content, dict):
        raise FormatError("a JSON object is expected.", path)
    return content


def _write(path: Path, content: Mapping[str, Any]) -> None:
    """Write beside the place and move it there, so that nobody reads half a file."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    draft.replace(path)


def span(seconds: float) -> str:
    """A time in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _say(message: str) -> None:
    sys.stderr.write(f"ringtrue: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Work through a folder from the command line; 0 where all is done, 1 where a job failed."""
    parser = argparse.ArgumentParser("ringtrue.jobs", description="Work through a folder of jobs; what is done stays.")
    parser.add_argument("folder", type=Path, help="a folder that has a folder 'jobs'")
    parser.add_argument("--workers", type=int, help="processes side by side (default: one a GPU, else one a core)")
    parser.add_argument("--take-from", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    try:
        if given.take_from is not None:
            return _work(given.folder, read_jobs(given.folder), lambda: None, given.take_from)
        found = work_through(given.folder, workers=given.workers, say=_say)
    except RingtrueError as error:
        _say(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        if given.take_from is None:
            _say("interrupted; what was finished is kept.")
        return _INTERRUPTED
    return 1 if found.failed else 0


if __name__ == "__main__":
    sys.exit(main())
