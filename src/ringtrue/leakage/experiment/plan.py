"""What an experiment consists of: models, kinds of training sets, sizes and seeds, one job for each combination.

Imports little: cells are worked on where only torch is installed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ringtrue.errors import FormatError, InputError
from ringtrue.jobs import Job

FILE = "experiment.json"
CELL = "ringtrue.leakage.experiment.cell:run"
_FORMAT = 1


class Cell(NamedTuple):
    """One training: a model, a training set and a seed."""

    model: str
    kind: str
    size: int
    seed: int

    @property
    def name(self) -> str:
        """Its name as a job."""
        return f"{label(self.model)}-{self.kind}-{self.size}-s{self.seed}"


@dataclass(frozen=True)
class Plan:
    """An experiment; `training` are options of the training loop, such as epochs, batch and learning_rate.

    `depth` documents of each topic are ranked again. `first_stage` and `collection` are named in reports. The sets are
    those of `fingerprint`. `seed` deals the topics out to `folds`. `material` says by option what the sets were asked
    for with, so that the same command is known again.
    """

    models: tuple[str, ...]
    kinds: tuple[str, ...]
    sizes: tuple[int, ...]
    seeds: tuple[int, ...]
    training: Mapping[str, Any] = field(default_factory=dict)
    depth: int = 100
    first_stage: str = "bm25"
    collection: str = ""
    fingerprint: str = ""
    folds: int = 5
    seed: int = 42
    material: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what nothing can be compared in."""
        for name in ("models", "kinds", "sizes", "seeds"):
            given = getattr(self, name)
            if not given or len(set(given)) < len(given):
                raise InputError(f"experiment: the {name} are {list(given)}; give at least one, each once.")
        check_kinds(self.kinds)
        labels = [label(model) for model in self.models]
        if len(set(labels)) < len(labels):
            raise InputError(f"experiment: two models have the same name in files: {', '.join(labels)}.")

    def cells(self) -> Iterator[Cell]:
        """All cells, the largest sets first, so that no long one is left for the end."""
        for size in sorted(self.sizes, reverse=True):
            for model in self.models:
                for kind in self.kinds:
                    for seed in self.seeds:
                        yield Cell(model, kind, size, seed)

    def jobs(self) -> Iterator[Job]:
        """The cells as jobs of the experiment's folder."""
        for cell in self.cells():
            yield Job(cell.name, CELL, {**cell._asdict(), "training": dict(self.training)})


def check_kinds(kinds: Sequence[str]) -> None:
    """Refuse kinds of sets of which nothing can be said."""
    if "none" not in kinds:
        raise InputError("experiment: leakage is held against sets without it; the kind 'none' is needed.")


def label(model: str) -> str:
    """A model's name in files: short names as they are, others with what tells them apart."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", model).strip("_")
    if len(plain) <= 40:
        return plain
    return f"{plain[:30]}_{hashlib.blake2b(model.encode(), digest_size=4).hexdigest()}"


def write_plan(folder: Path, plan: Plan) -> None:
    """Write the plan of a folder."""
    text = json.dumps({"format": _FORMAT, **asdict(plan)}, indent=1, ensure_ascii=False)
    (folder / FILE).write_text(text + "\n", encoding="utf-8", newline="\n")


def read_plan(folder: Path) -> Plan:
    """The plan of a folder."""
    path = folder / FILE
    if not path.is_file():
        raise InputError(
            f"{folder} holds no experiment: it has no {FILE}; start one with `ringtrue leakage experiment`."
        )
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("format") != _FORMAT:
            raise FormatError("another version of ringtrue wrote it.", path)
        parts: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in content.items()
        }
        return Plan(**parts)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"not the plan of an experiment ({error!r}).", path) from error
