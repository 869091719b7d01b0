"""`ringtrue leakage experiment`: what a leak is worth, by training with and without it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ringtrue.cli.leakage_trainsets import PAGE_FOLDER, Sets, is_built_in
from ringtrue.cli.options import BUILT_IN, SEED, Given, refuse
from ringtrue.cli.output import VerdictReport, check_folder
from ringtrue.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ringtrue.leakage.experiment.plan import Plan
    from ringtrue.leakage.trainsets.records import Trainsets


@dataclass(frozen=True)
class How:
    """Options of training that every cell has."""

    epochs: Annotated[
        int | None, typer.Option("--epochs", min=1, help="How often a triple is seen.  [default: 1; built-in: 3]")
    ] = None
    batch: Annotated[int | None, typer.Option("--batch", min=1, help="Triples in a batch.  [default: 16]")] = None
    learning_rate: Annotated[
        float | None, typer.Option("--learning-rate", help="For all models.  [default: each model's own]")
    ] = None

    def options(self) -> dict[str, Any]:
        """Those that are given."""
        return {name: value for name, value in self.__dict__.items() if value is not None}


def experiment(
    *,
    given: Given,
    sets: Sets,
    trainsets: Annotated[
        Path | None, typer.Option("--trainsets", help="Sets that `trainsets` made, instead of making them.")
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", help="knrm, monobert:backbone=PATH, …; may be repeated.  [default: knrm, monobert]"),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", min=1, help="Trainings of each model on each set.  [default: 5; built-in: 2]"),
    ] = None,
    how: How,
    depth: Annotated[
        int | None, typer.Option("--depth", min=1, help="Documents of BM25 that are ranked again.  [default: 100]")
    ] = None,
    folds: Annotated[
        int | None, typer.Option("--folds", min=2, help="Folds of the cross-validation.  [default: 5]")
    ] = None,
    folder: Annotated[
        Path,
        typer.Option("--folder", help="Folder for all cells; what is done in it stays.", callback=check_folder),
    ] = Path("leakage-experiment"),
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Processes.  [default: one a GPU, else one a core]")
    ] = None,
    prepare_only: Annotated[
        bool,
        typer.Option("--prepare-only", help="Write the folder; any machine can do `python -m ringtrue.jobs FOLDER`."),
    ] = False,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help=f"Seed of everything random.  [default: {SEED}]")
    ] = None,
    report: VerdictReport,
) -> None:
    """Train rankers with and without leakage and see what the leak is worth; on a folder again, it goes on."""
    from ringtrue.leakage.experiment.cost import count
    from ringtrue.leakage.experiment.plan import FILE, read_plan
    from ringtrue.leakage.experiment.prepare import check_asked, check_test, extend, prepare
    from ringtrue.leakage.experiment.run import run_experiment

    kept = f"cells that were finished are kept in {folder}, and the same command goes on from there"
    with report.talk(kept) as say:
        if (folder / FILE).is_file():
            before = read_plan(folder)
            check_asked(sets.kind, model or (), before.seed)
            _check_material(folder, before, {**_material(given, sets, trainsets), "depth": depth, "seed": seed})
            plan = extend(folder, _changed(before, model, sets, seeds, how, folds))
        else:
            new = _Asked(
                given, sets, trainsets, model or (), seeds, how,
                depth=depth or 100, folds=folds or 5, seed=SEED if seed is None else seed,
            )  # fmt: skip
            test = given.load()
            check_test(test, new.models, new.folds, new.seed)
            check_asked(sets.kind, new.models, new.seed)
            made = new.sets_of(say)
            say("ranking the candidates")
            plan = prepare(folder, new.plan(made), made, test)
        if prepare_only:
            say.tell(f"{count(folder, plan)}; work through them with: python -m ringtrue.jobs {folder}")
            return
        audit = run_experiment(folder, workers=workers, tell=say.tell, say=say)
    replace(report, out=report.out or folder / PAGE_FOLDER).show([audit], "What is a leak worth?")


@dataclass(frozen=True)
class _Asked:
    """A new experiment as it is asked for."""

    given: Given
    sets: Sets
    trainsets: Path | None
    model: Sequence[str]
    seeds: int | None
    how: How
    depth: int
    folds: int
    seed: int

    def sets_of(self, say: Callable[[str], None]) -> Trainsets:
        """The sets that are given, or new ones."""
        from ringtrue.leakage.trainsets.files import read_trainsets

        if self.trainsets is None:
            return self.sets.make(self.given, self.seed, say)
        refuse("with --trainsets", **self.sets.making())
        return read_trainsets(self.trainsets)

    @property
    def models(self) -> tuple[str, ...]:
        """Those that are asked for, or some that need no hub."""
        from ringtrue.study.training import BUILT_IN_MODELS

        return tuple(self.model or (BUILT_IN_MODELS if is_built_in(self.given) else ("knrm", "monobert")))

    def plan(self, made: Trainsets) -> Plan:
        """What to train; the built-in collection is there to look at, and gets two seeds, but more epochs."""
        from ringtrue.leakage.experiment.plan import Plan
        from ringtrue.study.training import BUILT_IN_TRAINING

        built_in = is_built_in(self.given)
        named = {} if self.given.documents or self.given.queries else {"collection": BUILT_IN}
        material = {**named, **_material(self.given, self.sets, self.trainsets)}
        return Plan(
            models=self.models,
            kinds=tuple(self.sets.kind or dict.fromkeys(one.kind for one in made.sets)),
            sizes=tuple(sorted(set(self.sets.size or (one.instances for one in made.sets)))),
            seeds=tuple(range(self.seeds or (2 if built_in else 5))),
            training={**(BUILT_IN_TRAINING if built_in else {}), **self.how.options()},
            depth=self.depth,
            folds=self.folds,
            seed=self.seed,
            material={**material, "encoder": made.encoder, "threshold": made.threshold},
        )


def _changed(plan: Plan, model: list[str] | None, sets: Sets, seeds: int | None, how: How, folds: int | None) -> Plan:
    """The plan of a folder with what is given anew."""
    return replace(
        plan,
        models=tuple(model) if model else plan.models,
        kinds=tuple(map(str, sets.kind)) if sets.kind else plan.kinds,
        sizes=tuple(sorted(set(sets.size))) if sets.size else plan.sizes,
        seeds=tuple(range(seeds)) if seeds else plan.seeds,
        training={**plan.training, **how.options()},
        folds=folds or plan.folds,
    )


def _material(given: Given, sets: Sets, trainsets: Path | None) -> dict[str, Any]:
    """What an experiment is to be made with, by option, of those that are given."""
    options = {**given.__dict__, **sets.making(), "trainsets": trainsets}
    return {
        name: value if name == "encoder" else _in_full(value) for name, value in options.items() if value is not None
    }


def _in_full(value: Any) -> Any:  # noqa: ANN401
    """A value as JSON can hold it, paths from the root so that it does not matter where one stands."""
    if isinstance(value, list):
        return [_in_full(one) for one in value]
    if isinstance(value, Path) or (isinstance(value, str) and Path(value).exists()):
        return str(Path(value).resolve())
    return value


def _check_material(folder: Path, plan: Plan, asked: Mapping[str, Any]) -> None:
    """The same command goes on; one that asks for another experiment is told where they differ."""
    known = {**plan.material, "depth": plan.depth, "seed": plan.seed}
    for name, value in asked.items():
        before = known.get(name)
        if value in (None, before):
            continue
        option = f"--{name.replace('_', '-')}"
        was = f"without {option}" if before is None else f"with {option} {_words(before)}"
        raise InputError(
            f"{folder} holds an experiment that was made {was}, not {_words(value)}; leave the option out to go on "
            "with it, or name another --folder."
        )


def _words(value: Any) -> str:  # noqa: ANN401
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
