"""How far the work in a folder is and how long the rest will take, in words."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ringtrue.jobs.folder import Job, has_failed, is_done, read_failure

_SAY_SECONDS, _SILENT_SECONDS = 2.0, 20.0

Say = Callable[[str], None]


@dataclass
class Clock:
    """Says how far the work is and how long the rest will take; `shares` says how long jobs are beside each other."""

    folder: Path
    jobs: Sequence[Job]
    say: Say
    shares: Mapping[str, float] = field(default_factory=dict)
    _seen: dict[str, None] = field(default_factory=dict)
    _before: tuple[int, float] | None = None
    _start: float = field(default_factory=time.monotonic)
    _said: tuple[int, float] = (-1, 0.0)

    def look(self) -> None:
        """Count what is done or failed; failures are said at once, the rest when it changes or now and then."""
        done = failed = 0
        work = 0.0
        for job in self.jobs:
            if is_done(self.folder, job.name):
                done += 1
            elif has_failed(self.folder, job.name):
                failed += 1
                if job.name not in self._seen:
                    self._seen[job.name] = None
                    self.say(f"{job.name} failed: {read_failure(self.folder, job.name).error}")
            else:
                continue
            work += self._share(job)
        if self._before is None:
            self._before = done + failed, work
        now, (before, then) = time.monotonic(), self._said
        wait = _SILENT_SECONDS if done + failed == before else _SAY_SECONDS if done + failed < len(self.jobs) else 0.0
        if now - then >= wait:
            self._said = done + failed, now
            self.say(self._words(done, failed, work, now))

    def _words(self, done: int, failed: int, work: float, now: float) -> str:
        ended = done + failed
        words = f"{done:,} of {len(self.jobs):,} jobs done" + (f", {failed:,} failed" if failed else "")
        before, worked = self._before or (0, 0.0)
        if before < ended < len(self.jobs):
            rest = sum(map(self._share, self.jobs)) - work
            words += f", {span((now - self._start) / (work - worked) * rest)} left"
        return words

    def _share(self, job: Job) -> float:
        return self.shares.get(job.name, 1.0)


def span(seconds: float) -> str:
    """A time in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
