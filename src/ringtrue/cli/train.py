"""`ringtrue train`: train one ranker."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ringtrue.cli.options import BUILT_IN, SEED, Json, Quiet, Seed, refuse
from ringtrue.cli.output import check_folder
from ringtrue.errors import InputError

if TYPE_CHECKING:
    from ringtrue.cli.console import Talk
    from ringtrue.data.notes import Notes
    from ringtrue.retrieval.training.result import Progress, Training
    from ringtrue.retrieval.training.settings import Settings
    from ringtrue.retrieval.training.triples import Triples

_OFTEN, _SELDOM = 0.2, 10.0  # seconds between two words of progress: in a terminal, and in lines that stay


class Schedule(StrEnum):
    """What the learning rate does after warming up."""

    LINEAR = "linear"
    CONSTANT = "constant"


class Precision(StrEnum):
    """What the network computes in."""

    FP32 = "fp32"
    BF16 = "bf16"


class Device(StrEnum):
    """Where the network is."""

    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"


@dataclass(frozen=True)
class How:
    """Options that decide the weights."""

    epochs: Annotated[int, typer.Option("--epochs", min=1, help="How often each triple is seen.")] = 1
    batch: Annotated[int, typer.Option("--batch", min=1, help="Triples that go through the network at once.")] = 16
    accumulate: Annotated[int, typer.Option("--accumulate", min=1, help="Batches in one update of the weights.")] = 1
    learning_rate: Annotated[
        float | None, typer.Option("--learning-rate", help="The highest one.  [default: the model's own]")
    ] = None
    schedule: Annotated[Schedule, typer.Option("--schedule", help="What the rate does after warming up.")] = (
        Schedule.LINEAR
    )
    precision: Annotated[Precision, typer.Option("--precision", help="What is computed in; bf16 suits a GPU.")] = (
        Precision.FP32
    )
    validate_every: Annotated[
        int | None, typer.Option("--validate-every", min=1, help="Updates between validations.  [default: at the end]")
    ] = None
    seed: Seed = SEED

    def settings(self) -> Settings:
        """The same as settings of the library."""
        from ringtrue.retrieval.training.settings import Settings

        settings = Settings(**{**asdict(self), "schedule": self.schedule.value, "precision": self.precision.value})
        settings.check()
        return settings


def train(
    *,
    model: Annotated[str, typer.Option("--model", help="knrm, monobert, …, with options: knrm:kernels=11.")],
    out: Annotated[
        Path,
        typer.Option("--out", help="Folder for the ranker; a killed training goes on in it.", callback=check_folder),
    ],
    triples: Annotated[
        Path | None,
        typer.Option("--triples", help="File with query, relevant and non_relevant; or their ids with --collection."),
    ] = None,
    collection: Annotated[
        str | None,
        typer.Option(
            "--collection", help="irds:ID, a folder, …; without --triples its log is trained on.  [default: built-in]"
        ),
    ] = None,
    most: Annotated[int | None, typer.Option("--most", min=1, help="Triples to draw from the log.")] = None,
    validation: Annotated[
        Path | None, typer.Option("--validation", help="Triples of which it is said how many are ordered rightly.")
    ] = None,
    how: How,
    device: Annotated[Device, typer.Option("--device", help="Where to compute.")] = Device.AUTO,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train one ranker, to rank with it as `bm25 % 100 >> MODEL:checkpoint=OUT`."""
    from ringtrue.cli.console import Talk
    from ringtrue.retrieval.neural.models import MODELS
    from ringtrue.retrieval.training.accuracy import PairAccuracy
    from ringtrue.retrieval.training.ranker import train_ranker

    MODELS.parse(model)
    if triples is not None:
        refuse("with --triples", most=most)
    if validation is None:
        refuse("without --validation", validate_every=how.validate_every)
    settings = how.settings()
    with Talk(quiet, f"the same command goes on from what is kept in {out}, every two minutes") as talk:
        given = _read(triples, collection, talk) if triples is not None else _mine(collection, most, how.seed, talk)
        held = None if validation is None else _read_held(validation, collection, talk)
        talk("loading the model")
        validate = None if held is None else PairAccuracy(held)
        tell = _Teller(talk)
        trained = train_ranker(model, given, out, settings, device=device.value, validate=validate, progress=tell)
    _show(trained, model, out, json)


def _read(path: Path, collection: str | None, talk: Talk) -> Triples:
    from ringtrue.data.load import load
    from ringtrue.data.notes import Notes
    from ringtrue.retrieval.training.files import read_triples

    notes = Notes()
    found = read_triples(path, notes, None if collection is None else load(collection))
    _tell_notes(notes, talk)
    return found


def _read_held(path: Path, collection: str | None, talk: Talk) -> Triples:
    """The triples of a validation; those that do not count are told before anything is trained."""
    from ringtrue.retrieval.training.triples import usable

    held = _read(path, collection, talk)
    try:
        notes = usable(held).notes
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    for note in notes:
        talk.tell(f"{path}: {note}")
    return held


def _mine(collection: str | None, most: int | None, seed: int, talk: Talk) -> Triples:
    from ringtrue.data.load import load
    from ringtrue.retrieval.training.mining import mine_triples

    source = load(collection or BUILT_IN)
    if not source.has_log:
        talk.tell(f"{source.name} has no training queries: the network learns from its topics and their judgments")
    talk("looking for documents that are not relevant")
    found, notes = mine_triples(source, most=most, seed=seed)
    _tell_notes(notes, talk)
    return found


def _tell_notes(notes: Notes, talk: Talk) -> None:
    for what, times, first in notes:
        talk.tell(f"{times} {what}; first: {first}")


class _Teller:
    """Says how far a training is: all the time in a terminal, now and then elsewhere."""

    def __init__(self, talk: Talk) -> None:
        """Nothing was said yet."""
        self._talk, self._last = talk, 0.0

    def __call__(self, now: Progress) -> None:
        """Say it, unless it was said a moment ago."""
        if now.step < now.steps and time.monotonic() - self._last < (_OFTEN if sys.stderr.isatty() else _SELDOM):
            return
        self._last = time.monotonic()
        minutes, seconds = divmod(round(now.seconds_left), 60)
        self._talk(f"step {now.step} of {now.steps}, loss {now.loss:.4f}, {minutes}:{seconds:02d} left")


def _show(training: Training, model: str, out: Path, json: bool) -> None:
    """Print how it went, and how to rank with it."""
    name = model.partition(":")[0].strip()
    ranker = f"bm25 % 100 >> {name}:checkpoint={out}"
    if json:
        import json as encoder

        typer.echo(encoder.dumps({"ranker": ranker, "folder": str(out), **training.as_dict()}, indent=2))
        return
    for note in training.notes:
        typer.echo(note)
    share = f", {training.validations[-1].value:.1%} of the validation in order" if training.validations else ""
    few = max(training.steps // 10, 1)
    first, last = (sum(losses) / few for losses in (training.losses[:few], training.losses[-few:]))
    typer.echo(
        f"{training.triples} triples, {training.steps} updates in {training.seconds:.1f} s "
        f"({training.triples_per_second:.0f} triples/s), loss {first:.4f} over the first "
        f"tenth and {last:.4f} over the last{share}"
    )
    typer.echo(f"rank with: {ranker}")
