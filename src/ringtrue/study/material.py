"""The files of a study, each read once and when it is first needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ringtrue import cache
from ringtrue.data.collection import Collection
from ringtrue.data.formats.detect import read_qrels
from ringtrue.data.groups import find_groups
from ringtrue.data.load import load, load_log
from ringtrue.data.qrels import Qrels
from ringtrue.data.runs import RunSet, run_files
from ringtrue.errors import InputError
from ringtrue.study.config import Config
from ringtrue.subsampling.campaign import Campaign, Judging
from ringtrue.subsampling.first_stage import FirstStage
from ringtrue.subsampling.sizes import measure_sample


@dataclass(frozen=True)
class Material:
    """What a study's names and paths stand for; `say` hears what is being read."""

    study: Config
    say: Callable[[str], None]

    @cached_property
    def collection(self) -> Collection | None:
        """The collection, where one is named or its files are."""
        study = self.study
        if not study.has_collection:
            return None
        return load(
            study.collection,
            documents=study.documents,
            queries=study.queries,
            qrels=study.qrels,
            variants=study.variants,
        )

    @cached_property
    def training(self) -> Collection | None:
        """The training queries that are given, or the log of the collection."""
        if self.study.train:
            return load_log(self.study.train)
        return self.collection if self.collection is not None and self.collection.has_log else None

    @property
    def has_runs(self) -> bool:
        """Whether there are runs to look at."""
        return bool(self.study.runs or (self.collection and self.collection.runs_folder))

    @cached_property
    def run_files(self) -> list[Path]:
        """The files of the runs that are given, or of those of the collection."""
        place = self.study.runs or (self.collection.runs_folder if self.collection else None)
        if place is None:
            raise InputError("no runs: give them with --runs FOLDER, or a --collection that has them.")
        return run_files(place)

    @cached_property
    def runs(self) -> RunSet:
        """The runs that are given, or those of the collection."""
        files, ties = self.run_files, self.study.tie_rule()
        self.say(f"reading {len(files)} run{'s' if len(files) != 1 else ''}")
        return RunSet.read(files, ties)

    @cached_property
    def qrels(self) -> Qrels:
        """The judgments that are given, or those of the collection."""
        if self.collection is not None and self.collection.has_qrels:
            return self.collection.qrels
        if self.study.qrels is None:
            if self.study.runs:
                run_files(self.study.runs)  # a folder that is not there is told first
            raise InputError("judgments are missing: give them with --qrels FILE, or a --collection that has them.")
        return read_qrels(self.study.qrels, self.runs.notes)

    @cached_property
    def groups(self) -> tuple[str, ...] | None:
        """The group of each run, where groups are given or come with the collection's own runs."""
        own = self.collection.groups_file if self.collection and not self.study.runs else None
        place = self.study.groups or own
        return None if place is None else find_groups(self.runs, place)

    @property
    def search(self) -> FirstStage | None:
        """What makes rankings that no run has, where there are documents and queries."""
        collection = self.collection
        if collection is None or not (collection.has_documents and collection.has_queries):
            return None
        return FirstStage(collection, self.study.tie_rule(), self.say)

    @property
    def inputs(self) -> dict[str, str]:
        """Keys for the content of runs, judgments and groups."""
        keys = {"runs": cache.content_key(self.run_files), "qrels": cache.key(*self.qrels)}
        return keys if self.groups is None else keys | {"groups": cache.key(*self.groups)}

    def bytes_per_doc(self, campaign: Campaign) -> float | None:
        """The mean of the documents of the runs where they are in files at hand; a large corpus is not read for it."""
        collection = self.collection
        if collection is None or not collection.has_documents or str(self.study.collection).startswith("irds:"):
            return None
        self.say("measuring the documents")
        return measure_sample(collection.documents(), frozenset(campaign.whole.docs)).bytes_per_doc

    def campaign(self, judging: Judging = "topic_aware", *, judged_topics_only: bool = True) -> Campaign:
        """Runs, judgments and groups for leave-one-group-out."""
        if self.groups is None:
            raise InputError(
                "groups are missing: give them with --groups FILE (columns run and group), or --groups tags."
            )
        return self._campaign(self.groups, judging, judged_topics_only)

    def ungrouped(self, judging: Judging = "topic_aware", *, judged_topics_only: bool = True) -> Campaign:
        """Runs and judgments for one sample of all runs."""
        return self._campaign(self.runs.names, judging, judged_topics_only)

    def _campaign(self, groups: tuple[str, ...], judging: Judging, judged_topics_only: bool) -> Campaign:
        return Campaign.from_runs(
            self.runs, self.qrels, groups, judging=judging, judged_topics_only=judged_topics_only, search=self.search
        )
