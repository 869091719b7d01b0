"""One process that takes jobs until there are none, and what a job's function is given."""

from __future__ import annotations

import importlib
import os
import shutil
import socket
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ringtrue.errors import RingtrueError
from ringtrue.jobs.claims import claim, signature
from ringtrue.jobs.folder import Failure, Job, has_failed, is_done, result_of, write_failure, write_json


class Task(NamedTuple):
    """What a job's function is called with: where to write, the folder of all work, and the job's arguments."""

    out: Path
    base: Path
    arguments: Mapping[str, Any]


def take_jobs(folder: Path, jobs: Sequence[Job], look: Callable[[], None], parent: int | None = None) -> None:
    """Take one job after the other until none is open; stops when the process that asked, `parent`, is gone."""
    look()
    for job in jobs:
        if parent is not None and os.getppid() != parent:
            break
        with claim(folder, job.name) as mine:
            if mine is None or is_done(folder, job.name) or has_failed(folder, job.name):
                continue
            before = mine.read()
            if before:
                why = f"the process that was at it ({before}) ended before it was done"
                write_failure(folder, Failure(job.name, why))
            else:
                mine.write(signature(os.getpid()))
                mine.flush()
                _do(folder, job)
            look()


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
        write_failure(folder, Failure(job.name, said, traceback.format_exc()))
        shutil.rmtree(draft, ignore_errors=True)
        return
    record = {"function": job.function, "arguments": dict(job.arguments)}
    seconds = round(time.monotonic() - start, 3)
    write_json(draft / "job.json", {**record, "seconds": seconds, "host": socket.gethostname()})
    result_of(folder, job.name).parent.mkdir(exist_ok=True)
    draft.rename(result_of(folder, job.name))
