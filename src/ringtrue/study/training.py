"""Training sets and the leakage experiment, from names and paths: what takes more than one pillar stands here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from ringtrue.data.collection import Collection
from ringtrue.data.load import load
from ringtrue.data.notes import Notes
from ringtrue.errors import InputError
from ringtrue.leakage.candidates import read_candidates
from ringtrue.leakage.choice import Choice
from ringtrue.leakage.exchange import read_label_files
from ringtrue.leakage.labels import verified
from ringtrue.leakage.search import Settings as SearchSettings
from ringtrue.leakage.search import search_log
from ringtrue.leakage.thresholds import default_threshold
from ringtrue.leakage.trainsets.build import build_trainsets
from ringtrue.leakage.trainsets.leaks import KnownLeaks, Rewriting, from_candidates, from_labels, read_planted
from ringtrue.leakage.trainsets.logs import join_logs
from ringtrue.leakage.trainsets.records import Settings, Trainsets
from ringtrue.robustness.variations import read_variations

Say = Callable[[str], None]
BUILT_IN_SIZES = (250, 500, 1000)
BUILT_IN_TRAINING = {"epochs": 3}  # sets that small teach little in one
BUILT_IN_MODELS = ("knrm", "monobert:max_length=64,query_length=16")


@dataclass(frozen=True)
class LeakSources:
    """Where leaking queries are known from; where nothing is given, the training log is searched for them."""

    labels: Sequence[Path] = ()
    candidates: Path | None = None
    planted: Path | None = None
    variations: Path | None = None

    def __post_init__(self) -> None:
        """Two sources would be two experiments."""
        names = ("labels", "candidates", "planted", "variations")
        given = [f"--{name}" for name in names if getattr(self, name)]
        if len(given) > 1:
            raise InputError(f"{' and '.join(given)}: leaking queries come from one of these; give one.")

    def rewritings(self) -> tuple[Rewriting, ...] | None:
        """The variations as queries that stand for leaks, None where none are given."""
        if self.variations is None:
            return None
        return tuple(
            Rewriting(one.query_id, one.variation, one.method)
            for one in read_variations(self.variations, Notes())
            if one.variation
        )

    def known(self, test: Collection, train: Collection | None, settings: Settings, say: Say) -> KnownLeaks | None:
        """The leaks of the training log; None where there is no log, or variations stand for leaks."""
        if train is None or self.variations is not None:
            return None
        if self.labels:
            return from_labels(verified(read_label_files(self.labels)))
        if self.planted is not None:
            return read_planted(self.planted)
        threshold = settings.threshold
        if self.candidates is not None:  # of any encoder: another one's threshold says nothing of their similarities
            found = read_candidates(self.candidates)
        else:
            say("searching the training log for leaks")
            threshold = default_threshold(settings.encoder).value if threshold is None else threshold
            found = search_log(test, train, SearchSettings(settings.encoder, threshold), say).result.candidates
        choice = Choice(threshold)
        return from_candidates(choice.leaks(found), choice.rule)


def make_trainsets(
    test: Collection,
    train: Sequence[str],
    sources: LeakSources,
    settings: Settings,
    say: Say = lambda message: None,
    *,
    documents: Path | None = None,
) -> Trainsets:
    """Training sets for a collection's topics; without training queries, its log, or else queries of its documents.

    `documents` are those of the training queries, where they neither come with these nor are the test's.
    """
    log = test if test.has_log else None
    if train:
        corpus = None if documents is None else load(documents=documents)
        log = join_logs([_named(load(name, of_queries=True), name, train) for name in train], test, corpus)
    known = sources.known(test, log, settings, say)
    return build_trainsets(test, log, known=known, rewritings=sources.rewritings(), settings=settings, say=say)


def _named(log: Collection, name: str, train: Sequence[str]) -> Collection:
    """A log under its own name; where two files have the same, under their paths."""
    stems = [Path(one).stem for one in train]
    return replace(log, name=name) if stems.count(Path(name).stem) > 1 else log


def planted_in_lighthouse() -> Path:
    """The leaks that are known of the built-in collection."""
    return Path(str(files("ringtrue.data").joinpath("lighthouse", "leaks.jsonl")))
