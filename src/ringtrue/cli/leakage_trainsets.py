"""`ringtrue leakage trainsets`: training sets with a known amount of leakage."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ringtrue.cli.options import BUILT_IN, SEED, Given, Seed, refuse
from ringtrue.cli.output import Report, check_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from ringtrue.leakage.trainsets.records import Settings, Trainsets
    from ringtrue.study.training import LeakSources

PAGE_FOLDER = "report"
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
        int | None,
        typer.Option(
            "--leaks",
            min=1,
            help="Leaking queries in sets of kind msm.  [default: two a topic, at most half of the smallest set]",
        ),
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
        str | None,
        typer.Option(
            "--encoder",
            help="What tells whether a query is near a topic.  [default: minilm where installed, else hashing]",
        ),
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
        if Kind.MSM not in settings.kinds:
            refuse("without --kind msm", leaks=self.leaks, variations=self.variations)
        if not self.train:
            refuse("without --train", train_documents=self.train_documents)
        return make_trainsets(given.load(), self.train or (), sources, settings, say, documents=self.train_documents)

    def making(self) -> dict[str, Any]:
        """The options that decide what the sets are made of, None where one was not given."""
        return {**{name: getattr(self, name) for name in _MAKING}, "unbalanced": self.unbalanced or None}


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
    replace(report, out=report.out or folder / PAGE_FOLDER).show([account_of(made)], "Training sets")
