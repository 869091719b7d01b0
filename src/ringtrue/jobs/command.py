"""The command `python -m ringtrue.jobs`, which needs none of what the `ringtrue` command does."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ringtrue.errors import RingtrueError
from ringtrue.jobs.crew import work_through
from ringtrue.jobs.folder import read_jobs
from ringtrue.jobs.worker import take_jobs

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Work through a folder from the command line; 0 where all is done, 1 where a job failed."""
    parser = argparse.ArgumentParser("ringtrue.jobs", description="Work through a folder of jobs; what is done stays.")
    parser.add_argument("folder", type=Path, help="a folder that has a folder 'jobs'")
    parser.add_argument("--workers", type=int, help="processes side by side (default: one a GPU, else one a core)")
    parser.add_argument("--take-from", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    try:
        if given.take_from is not None:
            take_jobs(given.folder, read_jobs(given.folder), lambda: None, given.take_from)
            return 0
        found = work_through(given.folder, workers=given.workers, say=_say)
    except RingtrueError as error:
        _say(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        if given.take_from is None:
            _say("interrupted; what was finished is kept.")
        return _INTERRUPTED
    return 1 if found.failed else 0


def _say(message: str) -> None:
    sys.stderr.write(f"ringtrue: {message}\n")
