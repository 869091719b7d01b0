"""Prepare, work through, and evaluate an experiment; every step keeps what is done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ringtrue.errors import InputError
from ringtrue.jobs import span, usual_workers, work_through
from ringtrue.leakage.experiment.audit import ExperimentAudit, audit_experiment
from ringtrue.leakage.experiment.cost import count, estimate
from ringtrue.leakage.experiment.plan import read_plan

Say = Callable[[str], None]


def run_experiment(
    folder: Path,
    *,
    workers: int | None = None,
    tell: Say = lambda message: None,
    say: Say = lambda message: None,
) -> ExperimentAudit:
    """Do the cells of a prepared folder that are not done, then evaluate; `tell` hears the cost, `say` the progress."""
    plan = read_plan(folder)
    crew = usual_workers() if workers is None else workers
    if crew < 1:
        raise InputError(f"{crew} workers cannot work; give 1 or more.")
    left = count(folder, plan)
    if left.cells:
        tell(f"{left}")
        say("a short trial of each model, for an estimate of the time")
        expected = estimate(folder, plan, crew)
        assert expected.seconds is not None
        processes = min(crew, left.cells)
        tell(f"about {span(expected.seconds)} with {processes} process{'es' if processes > 1 else ''}")
        done = work_through(folder, workers=crew, say=say, shares=expected.by_cell)
        for failure in done.failed:
            tell(f"{failure.name} failed: {failure.error}")
    return audit_experiment(folder)
