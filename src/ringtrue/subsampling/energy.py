"""Energy of the stages of an experiment, measured by tirex-tracker, and what it would be on the full corpus.

Where a machine has no counters the energy is None and reads "not measurable on this machine"; nothing is put in its
place. The counters are of the whole machine, so that whatever else runs on it is in the figure. Extrapolation is
linear, as in the study: the energy per document of a sample times the documents of the corpus. Left out of what
tirex-tracker can record: the state and an archive of the git repository that happens to be the working folder.
"""

from __future__ import annotations

import importlib
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from ringtrue.errors import InputError, MissingExtraError

NOT_MEASURABLE = "not measurable on this machine"
JOULES_PER_KWH = 3.6e6

_NOTHING = ("null", "null J", "")


@dataclass(frozen=True)
class StageEnergy:
    """What a stage took; a part is None where the machine has no counter for it."""

    stage: str
    seconds: float
    cpu_joules: float | None = None
    ram_joules: float | None = None
    gpu_joules: float | None = None

    @property
    def joules(self) -> float | None:
        """The sum of what was measured, None where nothing was."""
        parts = [part for part in (self.cpu_joules, self.ram_joules, self.gpu_joules) if part is not None]
        return sum(parts) if parts else None

    @property
    def kwh(self) -> float | None:
        """The same in kilowatt hours."""
        return None if self.joules is None else self.joules / JOULES_PER_KWH

    def __str__(self) -> str:
        """The figure, or why there is none."""
        energy = NOT_MEASURABLE if self.joules is None else f"{self.joules:.1f} J"
        return f"{self.stage}: {energy}, {self.seconds:.1f} s"


class Stage:
    """A stage while it runs; when it has ended, `energy` says what it took."""

    def __init__(self, name: str) -> None:
        """Nothing is known yet."""
        self.name = name
        self._energy: StageEnergy | None = None

    @property
    def energy(self) -> StageEnergy:
        """What the stage took."""
        assert self._energy is not None, f"the stage {self.name!r} has not ended yet"
        return self._energy


@contextmanager
def measured(stage: str, *, export: str | Path | None = None, description: str = "") -> Iterator[Stage]:
    """Measure what runs inside; `export` names a new file for ir_metadata (YAML), written where nothing fails.

    >>> with measured("index", export="index.ir_metadata.yml") as stage:  # doctest: +SKIP
    ...     build_index()
    >>> str(stage.energy)  # doctest: +SKIP
    'index: 812.4 J, 31.0 s'
    """
    tracker = _tracker()
    if export is not None and Path(export).exists():
        raise InputError(f"{export} is there already; give another file for the energy of {stage!r}.")
    running = Stage(stage)
    with tempfile.TemporaryDirectory() as folder:  # the tracker leaves more beside its file than is asked for
        draft = Path(folder) / "ir_metadata.yml"
        handle = tracker.start_tracking(
            measures={measure for measure in tracker.Measure if not measure.name.startswith(("GIT_", "DEVCONTAINER_"))},
            system_name=stage,
            system_description=description or None,
            export_file_path=None if export is None else draft,
            export_format=None if export is None else tracker.ExportFormat.IR_METADATA,
        )
        start = perf_counter()
        try:
            yield running
        finally:
            seconds = perf_counter() - start
            results = handle.stop()
            running._energy = StageEnergy(stage, seconds, *_joules(tracker.Measure, results))
        if export is not None:
            _export(draft, Path(export))


class Metered(NamedTuple):
    """What a stage took, and how many documents went through it."""

    energy: StageEnergy
    documents: int


@dataclass
class Meter:
    """Measures stage after stage; `folder` gets a file of ir_metadata for each, numbered in their order."""

    folder: Path | None = None
    stages: list[Metered] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str, documents: int) -> Iterator[None]:
        """Measure what runs inside; a file that an earlier run left for the same stage is replaced."""
        export = None
        if self.folder is not None:
            plain = re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-.")
            export = self.folder / f"{len(self.stages) + 1:02d}-{plain}.ir_metadata.yml"
            export.unlink(missing_ok=True)
        with measured(name, export=export) as running:
            yield
        self.stages.append(Metered(running.energy, documents))


def extrapolate(kwh: float | None, documents: float, corpus_documents: float) -> float | None:
    """The energy for a corpus from that for a sample, in proportion to the documents; unknown stays unknown."""
    if documents <= 0:
        raise InputError(f"energy cannot be extrapolated from {documents} documents.")
    return None if kwh is None else kwh / documents * corpus_documents


def _tracker() -> Any:  # noqa: ANN401
    try:
        return importlib.import_module("tirex_tracker")
    except ModuleNotFoundError as error:
        raise MissingExtraError("measuring energy", "energy") from error


def _joules(measure: Any, results: Mapping[Any, Any]) -> Iterator[float | None]:  # noqa: ANN401
    """CPU, RAM and GPU; the tracker says `null`, in bytes, where it has no counter."""
    for name in ("CPU", "RAM", "GPU"):
        entry = results.get(measure[f"{name}_ENERGY_SYSTEM_JOULES"])
        value = "" if entry is None else entry.value
        text = value.decode() if isinstance(value, bytes) else str(value)
        try:
            yield None if text.strip() in _NOTHING else float(text)
        except ValueError:  # an odd counter must not cost the result of the stage
            yield None


def _export(draft: Path, path: Path) -> None:
    """Put the tracker's file in its place, without figures that are none and the archive that was not made."""
    yaml = importlib.import_module("yaml")
    record = _without_nothing(yaml.safe_load(draft.read_text(encoding="utf-8")))
    record.get("implementation", {}).pop("source", None)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(record, allow_unicode=True), encoding="utf-8")


def _without_nothing(record: Any) -> Any:  # noqa: ANN401
    """The same with null for the words that stand for it."""
    if isinstance(record, dict):
        return {key: _without_nothing(value) for key, value in record.items()}
    return None if isinstance(record, str) and record in _NOTHING else record
