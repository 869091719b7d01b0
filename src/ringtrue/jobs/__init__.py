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

from ringtrue.jobs.claims import try_lock
from ringtrue.jobs.command import main
from ringtrue.jobs.crew import work_through
from ringtrue.jobs.folder import Failure, Job, Outcome, outcome, read_jobs, result_of, write_jobs
from ringtrue.jobs.machine import cores, gpus, usual_workers
from ringtrue.jobs.progress import Say, span
from ringtrue.jobs.worker import Task

__all__ = [
    "Failure",
    "Job",
    "Outcome",
    "Say",
    "Task",
    "cores",
    "gpus",
    "main",
    "outcome",
    "read_jobs",
    "result_of",
    "span",
    "try_lock",
    "usual_workers",
    "work_through",
    "write_jobs",
]
