"""What a training tells: on the way, and at the end as `training.json` beside the weights."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ringtrue.errors import InputError
from ringtrue.retrieval.training.settings import Settings

FINISHED = "training.json"
_FORMAT = 1


@dataclass(frozen=True)
class Progress:
    """Where a training is; `loss` is the mean of the last fifty updates."""

    step: int
    steps: int
    loss: float
    seconds: float
    seconds_left: float


class Validation(NamedTuple):
    """What the validation measured after an update; updates count from 1."""

    step: int
    value: float


@dataclass(frozen=True)
class Training:
    """What was trained and how it went.

    `losses` has one mean for each update. `kept` is the update whose weights were kept. `peak_memory` counts bytes: on
    a GPU the most that tensors took during this training, elsewhere the largest size of the process, None where the
    system does not tell. `seconds` are those of training alone, without validation and tokenising. `notes` say what
    was left out or done otherwise. `validated_by` is a key of what gave `validations`.
    """

    settings: Settings
    triples: int
    learning_rate: float
    losses: tuple[float, ...]
    validations: tuple[Validation, ...]
    kept: int
    seconds: float
    peak_memory: int | None
    notes: tuple[str, ...] = ()
    validated_by: str = ""

    @property
    def steps(self) -> int:
        """How many updates the weights had."""
        return len(self.losses)

    @property
    def triples_per_second(self) -> float:
        """How fast it was; instances are twice as many."""
        return self.triples * self.settings.epochs / max(self.seconds, 1e-9)

    def as_dict(self) -> dict[str, Any]:
        """All fields with plain values, for JSON."""
        validations = [point._asdict() for point in self.validations]
        return {**asdict(self), "validations": validations, "triples_per_second": round(self.triples_per_second, 3)}


def write_training(training: Training, key: str, folder: Path) -> None:
    """Mark a folder as finished; `key` says what was trained."""
    draft = folder / f".{FINISHED}.part"
    text = json.dumps({"format": _FORMAT, "key": key, **training.as_dict()}, indent=1)
    draft.write_text(text + "\n", encoding="utf-8", newline="\n")
    os.replace(draft, folder / FINISHED)


def read_training(folder: Path, key: str) -> Training | None:
    """The training that was finished in a folder, None where there is none; one of something else is an error."""
    path = folder / FINISHED
    if not path.is_file():
        return None
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != _FORMAT or found["key"] != key:
            raise InputError(f"{folder} holds a training with other triples, model or settings; name another folder.")
        return Training(
            settings=Settings(**found["settings"]),
            triples=found["triples"],
            learning_rate=found["learning_rate"],
            losses=tuple(found["losses"]),
            validations=tuple(Validation(**point) for point in found["validations"]),
            kept=found["kept"],
            seconds=found["seconds"],
            peak_memory=found["peak_memory"],
            notes=tuple(found["notes"]),
            validated_by=found["validated_by"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} is not what a training writes ({error!r}); delete it or name another folder."
        ) from error
