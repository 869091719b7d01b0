"""`ringtrue leakage trainsets` and `experiment`: controlled training sets, and what a leak is worth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ringtrue.cli.options import BUILT_IN, SEED, Given, Seed, refuse
from ringtrue.cli.output import Report, VerdictReport, check_folder
from ringtrue.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ringtrue.leakage.experiment.plan import Plan
    from ringtrue.leakage.trainsets.records import Settings, Trainsets
    from ringtrue.study.training import LeakSources

_PAGE_FOLDER = "report"
_MAKING = ("train", "train_documents", "leaks", "labels", "candidates", "variations", "encoder", "threshold")


class Kind(StrEnum):
    """What leaks in a training set."""

    NONE = "none"
    MSM = "msm"
    TEST = "test"


@dataclass(frozen=True)
class Sets:
    """How training sets are made."""

    train: Annotated[
        list[str] | None,
        typer.Option(
            "--train",
            help="Training queries that name documents; may be repeated, each is then a source of its own.  [default: "
            "the collection's log, else queries made of documents]",
        ),
    ] = None
    train_documents: Annotated[
        Path | None,
        typer.Option(
            "--train-documents", help="Their documents.  [default: those that come with them, else the collection's]"
        ),
    ] = None
    kind: Annotated[
        list[Kind] | None, typer.Option("--kind", help="What leaks; may be repeated.  [default: all three]")
    ] = None
    size: Annotated[
        list[int] | None,
        typer.Option(
            "--size",
            help="Instances, two a query; may be repeated.  [default: 1000, 2000, … 128000; built-in: 250, 500, 1000]",
        ),
    ] = None
    leaks: Annotated[
        int | None, typer.Option("--leaks", min=1, help="Leaking queries in sets of kind msm.  [default: two a topic]")
    ] = None
    labels: Annotated[list[Path] | None, typer.Option("--labels", help="Human labels say what leaks.")] = None
    candidates: Annotated[Path | None, typer.Option("--candidates", help="What a search found leaks.")] = None
    variations: Annotated[
        Path | None, typer.Option("--variations", help="What `robustness vary` made of the topics stands for leaks.")
    ] = None
    unbalanced: Annotated[
        bool, typer.Option("--unbalanced", help="Where a source has too few queries, take more of the others.")
    ] = False
    encoder: Annotated[
        str | None, typer.Option("--encoder", help="What tells whether a query is near a topic.  [default: minilm]")
    ] = None
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Similarity above which it is.  [default: the encoder's]")
    ] = None

    def settings(self, seed: int, *, built_in: bool) -> Settings:
        """The same as settings of the library; the built-in collection is small and gets small sets."""
        from ringtrue.leakage.search import usual_encoder
        from ringtrue.leakage.trainsets.records import KINDS, SIZES, Settings
        from ringtrue.study.training import BUILT_IN_SIZES

        return Settings(
            kinds=tuple(kind for kind in KINDS if self.kind is None or kind in self.kind),
            sizes=tuple(sorted(set(self.size))) if self.size else BUILT_IN_SIZES if built_in else SIZES,
            leaks=self.leaks,
            encoder=self.encoder or usual_encoder(),
            threshold=self.threshold,
            balanced=not self.unbalanced,
            seed=seed,
        )

    def sources(self, *, built_in: bool) -> LeakSources:
        """Where leaks are known from; those of the built-in collection are planted."""
        from ringtrue.study.training import LeakSources, planted_in_lighthouse

        given = self.labels or self.candidates or self.variations
        planted = planted_in_lighthouse() if built_in and not given else None
        return LeakSources(self.labels or (), self.candidates, planted, self.variations)

    def make(self, given: Given, seed: int, say: Callable[[str], None]) -> Trainsets:
        """The sets."""
        from ringtrue.study.training import make_trainsets

        built_in = is_built_in(given) and self.train in (None, [BUILT_IN])
        settings, sources = self.settings(seed, built_in=built_in), self.sources(built_in=built_in)
        if not self.train:
            refuse("without --train", train_documents=self.train_documents)
        return make_trainsets(given.load(), self.train or (), sources, settings, say, documents=self.train_documents)

    def making(self) -> dict[str, Any]:
        """The options that decide what the sets are made of, None where one was not given."""
        return {**{name: getattr(self, name) for name in _MAKING}, "unbalanced": self.unbalanced or None}


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


def is_built_in(given: Given) -> bool:
    """Whether the built-in collection is meant, as it is."""
    return given.collection in (None, BUILT_IN) and not (given.documents or given.queries or given.qrels)


def trainsets(
    *,
    given: Given,
    sets: Sets,
    folder: Annotated[
        Path, typer.Option("--folder", help="Folder for the sets and their accounts.", callback=check_folder)
    ] = Path("trainsets"),
    seed: Seed = SEED,
    report: Report,
) -> None:
    """Make training sets with a known amount of leakage: none, leaking queries, or the test topics themselves."""
    from ringtrue.leakage.trainsets.account import account_of
    from ringtrue.leakage.trainsets.files import write_trainsets

    with report.talk() as say:
        made = sets.make(given, seed, say)
        write_trainsets(folder, made)
        say.tell(f"{len(made.sets)} training sets are in {folder}")
    replace(report, out=report.out or folder / _PAGE_FOLDER).show([account_of(made)], "Training sets")


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
    from ringtrue.leakage.experiment.prepare import check_test, extend, prepare
    from ringtrue.leakage.experiment.run import run_experiment

    kept = f"cells that were finished are kept in {folder}, and the same command goes on from there"
    with report.talk(kept) as say:
        if (folder / FILE).is_file():
            before = read_plan(folder)
            _check_material(folder, before, {**_material(given, sets, trainsets), "depth": depth, "seed": seed})
            plan = extend(folder, _changed(before, model, sets, seeds, how, folds))
        else:
            new = _Asked(
                given, sets, trainsets, model or (), seeds, how,
                depth=depth or 100, folds=folds or 5, seed=SEED if seed is None else seed,
            )  # fmt: skip
            test = given.load()
            check_test(test, new.model, new.folds, new.seed)
            made = new.sets_of(say)
            say("ranking the candidates")
            plan = prepare(folder, new.plan(made), made, test)
        if prepare_only:
            say.tell(f"{count(folder, plan)}; work through them with: python -m ringtrue.jobs {folder}")
            return
        audit = run_experiment(folder, workers=workers, tell=say.tell, say=say)
    replace(report, out=report.out or folder / _PAGE_FOLDER).show([audit], "What is a leak worth?")


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

    def plan(self, made: Trainsets) -> Plan:
        """What to train; the built-in collection is there to look at, and gets two seeds, but more epochs."""
        from ringtrue.leakage.experiment.plan import Plan
        from ringtrue.study.training import BUILT_IN_MODELS, BUILT_IN_TRAINING

        built_in = is_built_in(self.given)
        named = {} if self.given.documents or self.given.queries else {"collection": BUILT_IN}
        material = {**named, **_material(self.given, self.sets, self.trainsets)}
        return Plan(
            models=tuple(self.model or (BUILT_IN_MODELS if built_in else ("knrm", "monobert"))),
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
