"""A folder of work: what is to be done, what was done, what failed; each piece is a file of its own."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ringtrue.errors import FormatError, InputError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=+,-]{0,149}")


class Job(NamedTuple):
    """A piece of work: `function` is `module:function`, `arguments` are what JSON can hold."""

    name: str
    function: str
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
        write_json(folder / "jobs" / f"{job.name}.json", line)
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
    made = _read_json(record)
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
        content = _read_json(path)
        try:
            found.append((int(content["order"]), Job(path.stem, str(content["function"]), dict(content["arguments"]))))
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"a job has order, function and arguments ({error}).", path) from error
    return tuple(job for _, job in sorted(found, key=lambda pair: (pair[0], pair[1].name)))


def result_of(folder: Path, name: str) -> Path:
    """Where a finished job's files are."""
    return folder / "results" / name


def is_done(folder: Path, name: str) -> bool:
    """Whether a job has its result."""
    return result_of(folder, name).is_dir()


def has_failed(folder: Path, name: str) -> bool:
    """Whether a job failed since it was last let be tried."""
    return _failure_of(folder, name).is_file()


def read_failure(folder: Path, name: str) -> Failure:
    """Why a job failed that did."""
    content = _read_json(_failure_of(folder, name))
    return Failure(name, str(content.get("error", "")), str(content.get("trace", "")))


def write_failure(folder: Path, failure: Failure) -> None:
    """Record that a job failed."""
    path = _failure_of(folder, failure.name)
    path.parent.mkdir(exist_ok=True)
    write_json(path, {"error": failure.error, "trace": failure.trace})


def forget_failure(folder: Path, name: str) -> None:
    """Let a job count as not tried."""
    _failure_of(folder, name).unlink(missing_ok=True)


def _failure_of(folder: Path, name: str) -> Path:
    return folder / "failures" / f"{name}.json"


def outcome(folder: Path) -> Outcome:
    """How the jobs stand now."""
    names = [job.name for job in read_jobs(folder)]
    done = tuple(name for name in names if is_done(folder, name))
    failed = tuple(read_failure(folder, name) for name in names if name not in done and has_failed(folder, name))
    return Outcome(done, failed, len(names))


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content: object = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FormatError(f"not valid JSON: {error}.", path) from error
    if not isinstance(content, dict):
        raise FormatError("a JSON object is expected.", path)
    return content


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write beside the place and move it there, so that nobody reads half a file."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    draft.replace(path)
