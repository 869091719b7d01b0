"""The work in a folder, done by one process or a crew of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from ringtrue.errors import InputError, RingtrueError
from ringtrue.jobs.claims import claimed_by, drop_claim
from ringtrue.jobs.folder import Failure, Outcome, forget_failure, is_done, outcome, read_jobs, write_failure
from ringtrue.jobs.machine import share, usual_workers
from ringtrue.jobs.progress import Clock, Say
from ringtrue.jobs.worker import take_jobs

_LOOK_SECONDS = 0.2


def work_through(
    folder: Path,
    *,
    workers: int | None = None,
    say: Say = lambda message: None,
    shares: Mapping[str, float] = MappingProxyType({}),
) -> Outcome:
    """Do all jobs that are not done, failed ones again; one worker works in this process, several in their own.

    `shares` says how long some jobs are beside the others, for the time that is left; not given, all are alike.
    """
    count = usual_workers() if workers is None else workers
    if count < 1:
        raise InputError(f"{count} workers cannot work; give 1 or more.")
    jobs = read_jobs(folder)
    for job in jobs:
        forget_failure(folder, job.name)
        drop_claim(folder, job.name)
    clock = Clock(folder, jobs, say, shares)
    open_jobs = len(jobs) - len(outcome(folder).done)
    if count == 1 or open_jobs < 2:
        take_jobs(folder, jobs, clock.look)
    else:
        _Crew(folder, min(count, open_jobs), clock).work()
    with suppress(OSError):  # another machine is still at work there
        (folder / "drafts").rmdir()
    return outcome(folder)


@dataclass
class _Crew:
    """Several processes, each of which takes jobs until there are none; one that dies is replaced."""

    folder: Path
    count: int
    clock: Clock
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
        """A process with its share of the machine."""
        environment = {**os.environ, **share(number, self.count)}
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
        own = claimed_by(self.folder, process)
        for name in own:
            if not is_done(self.folder, name):
                write_failure(self.folder, Failure(name, f"the process ended {how}"))
        return bool(own)
