"""What finished cells tell beside their scores: time, loss, device, precision, and what training tolerated."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ringtrue.jobs import result_of
from ringtrue.leakage.experiment.plan import Cell, Plan
from ringtrue.leakage.experiment.result import CellCost, CellNote


class Finished(NamedTuple):
    """A cell that is done, how long it took, and the account of its training."""

    cell: Cell
    seconds: float
    history: Mapping[str, Any]


def read_finished(folder: Path, plan: Plan) -> tuple[Finished, ...]:
    """All cells that are done, in the plan's order."""
    found = []
    for cell in plan.cells():
        place = result_of(folder, cell.name)
        if place.is_dir():
            job, history = (json.loads((place / f"{name}.json").read_text("utf-8")) for name in ("job", "history"))
            found.append(Finished(cell, job["seconds"], history))
    return tuple(found)


def costs(finished: tuple[Finished, ...], plan: Plan) -> Iterator[CellCost]:
    """What the cells of each model took, and in which precision it was trained."""
    for model in plan.models:
        own = [one for one in finished if one.cell.model == model]
        if own:
            yield CellCost(
                model,
                len(own),
                float(np.mean([one.seconds for one in own])),
                float(np.mean([one.history["triples_per_second"] for one in own])),
                float(np.mean([_last_loss(one.history["losses"]) for one in own])),
                _distinct(str(one.history["device"]) for one in own),
                _distinct(str(one.history["settings"]["precision"]) for one in own),
            )


def tolerated(finished: tuple[Finished, ...], plan: Plan) -> Iterator[CellNote]:
    """What a training left out or did otherwise, such as a smaller batch; what every cell of a model has comes once."""
    for model in plan.models:
        own = [one for one in finished if one.cell.model == model]
        cells = Counter(what for one in own for what in set(one.history["notes"]))
        everywhere = {what for what, times in cells.items() if times == len(own) > 1}
        yield from (CellNote(model, None, None, None, what) for what in sorted(everywhere))
        for one in own:
            yield from (CellNote(*one.cell, what) for what in one.history["notes"] if what not in everywhere)


def _last_loss(losses: list[float]) -> float:
    """The mean over the last tenth."""
    return float(np.mean(losses[-max(len(losses) // 10, 1) :]))


def _distinct(values: Iterator[str]) -> str:
    return ", ".join(dict.fromkeys(values))
