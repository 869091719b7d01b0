"""A study: what is to be audited, and all audits that what is given can answer."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path

from ir_measures import Measure

from ringtrue.audit import Audit, Evidence
from ringtrue.data.collection import Collection
from ringtrue.data.formats.detect import read_qrels
from ringtrue.data.groups import FROM_TAGS, find_groups
from ringtrue.data.load import load
from ringtrue.data.qrels import Qrels
from ringtrue.data.runs import RunSet, run_files
from ringtrue.data.ties import Ties
from ringtrue.errors import FormatError, InputError, UnknownNameError
from ringtrue.evaluation.audit import audit_evaluation
from ringtrue.evaluation.measures import parse_measure
from ringtrue.leakage.audit import audit_leakage
from ringtrue.leakage.choice import Choice, leaked_topics
from ringtrue.leakage.impact import measure_impact
from ringtrue.leakage.pairs import find_leaked_pairs, positives_of
from ringtrue.leakage.search import Settings as LeakageSettings
from ringtrue.leakage.search import search_log, usual_encoder
from ringtrue.provenance import stamp
from ringtrue.retrieval.encoders import ENCODERS
from ringtrue.retrieval.pipeline import parse_ranker
from ringtrue.robustness.audit import audit_robustness
from ringtrue.robustness.labels import by_paper_names, known_queries
from ringtrue.robustness.settings import Settings as RobustnessSettings
from ringtrue.robustness.validity import check
from ringtrue.robustness.variations import Variation, read_variations
from ringtrue.robustness.vary import parse_generators, vary
from ringtrue.subsampling.audit import SubsamplingAudit, audit_subsampling, default_samplers
from ringtrue.subsampling.build import Budget, Sample, build
from ringtrue.subsampling.campaign import Campaign, Judging
from ringtrue.subsampling.mimic import mimic
from ringtrue.subsampling.plan import Limits
from ringtrue.subsampling.sections import mimicry_by_family, mimicry_table
from ringtrue.subsampling.sizes import document_bytes
from ringtrue.subsampling.variants import find_variant

USUAL_RANKERS = ("bm25", "bm25 >> rm3")
USUAL_GENERATORS = ("NeighbCharSwap", "RandomCharSub", "QWERTYCharSub", "RmvStopWords", "RandOrderSwap")
_NUMBERS = ("replicates", "seed")
_KINDS: dict[type, str] = {str: "text", int: "a whole number", list: "a list of texts"}
_PATHS = ("runs", "qrels", "variants", "variations")


def _silent(message: str) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Study:
    """The parts of an evaluation; what is left out is taken from the collection where it has it."""

    collection: str | None = None
    runs: Path | None = None
    qrels: Path | None = None
    groups: str | None = None
    train: str | None = None
    variants: Path | None = None
    encoder: str | None = None
    rankers: tuple[str, ...] = ()
    variations: Path | None = None
    measure: str = "nDCG@10"
    ties: str = "asc"
    replicates: int = 1000
    seed: int = 42

    @classmethod
    def from_toml(cls, path: Path) -> Study:
        """Read a study file; its paths are relative to it."""
        try:
            with open(path, "rb") as file:
                given = tomllib.load(file)
        except OSError as error:
            raise InputError(f"cannot read the study file {path}: {error.strerror}.") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise FormatError(f"not valid TOML: {error}.", path) from error
        known = {field.name: type(field.default) for field in fields(cls)}
        for name, value in given.items():
            if name not in known:
                raise UnknownNameError(f"key in {path}:", name, known)
            kind = int if name in _NUMBERS else list if name == "rankers" else str
            if not isinstance(value, kind):
                raise FormatError(f"{name} should be {_KINDS[kind]}.", path)
        for name in _PATHS:
            if name in given:
                given[name] = path.parent / given[name]
        for name, apart in (("collection", ":"), ("train", ":"), ("groups", FROM_TAGS)):
            if name in given and apart not in given[name]:
                given[name] = str(path.parent / given[name])
        given["rankers"] = tuple(given.get("rankers", ()))
        return cls(**given)

    def given(self, **parts: str | Path | int | tuple[str, ...] | None) -> Study:
        """The same study with those parts that are not None."""
        return replace(self, **{name: part for name, part in parts.items() if part is not None})  # type: ignore[arg-type]

    def or_builtin(self) -> Study:
        """The built-in collection where neither a collection nor runs are given."""
        if self.collection or self.runs:
            return self
        return replace(self, collection="builtin:lighthouse", rankers=self.rankers or USUAL_RANKERS)

    def audits(self, say: Callable[[str], None] = _silent) -> Iterator[Audit]:
        """Each audit that can be made, as soon as it is made; `say` hears what is being done."""
        material = Material(self, say)
        measure = self.check()
        if not (material.has_runs or material.training):
            raise InputError("nothing to audit: give runs (--runs FOLDER) or training queries (--train FILE).")
        if material.has_runs:
            say("evaluating the runs")
            yield audit_evaluation(
                material.runs,
                material.qrels,
                material.groups,
                collection=material.collection,
                measure=measure,
                seed=self.seed,
            )
        if material.training and material.collection:
            yield self._leakage(material, material.training, material.collection, measure)
        if material.has_runs and material.groups is not None:
            yield audit_subsampling(
                material.campaign(), measure=measure, replicates=self.replicates, seed=self.seed, say=say
            )
        if self.rankers and material.collection:
            yield self._robustness(material.collection, measure, say)

    def check(self) -> Measure:
        """Look at all names before anything is read, so that a slip is not found minutes later."""
        if self.ties not in list(Ties):
            raise UnknownNameError("tie rule", self.ties, list(Ties))
        if self.encoder:
            ENCODERS.find(self.encoder.partition(":")[0])
        for ranker in self.rankers:
            parse_ranker(ranker)
        return parse_measure(self.measure)

    def _robustness(self, collection: Collection, measure: Measure, say: Callable[[str], None]) -> Audit:
        """The rankers on the variations that are given, or on those of a few rules that need no model."""
        if self.variations:
            made: Iterable[Variation] = read_variations(self.variations, collection.notes)
        else:
            made = vary(collection.queries, parse_generators(USUAL_GENERATORS), seed=self.seed)
        checked = check(known_queries(map(by_paper_names, made), collection.queries, collection.notes))
        rankers = [parse_ranker(spec) for spec in self.rankers]
        settings = RobustnessSettings(seed=self.seed)
        return audit_robustness(collection, rankers, checked, measures=(measure,), settings=settings, say=say)

    def _leakage(self, material: Material, train: Collection, test: Collection, measure: Measure) -> Audit:
        """Search, and what the leaks do to the runs and share with the judgments where there are any."""
        found = search_log(test, train, LeakageSettings(self.encoder or usual_encoder()), material.say).result
        leaks = Choice(found.threshold).leaks(found.candidates)
        impact = (
            measure_impact(material.runs, material.qrels, leaked_topics(leaks), measure=measure, seed=self.seed)
            if material.has_runs
            else None
        )
        pairs = find_leaked_pairs(positives_of(train.log()), test.qrels, leaks) if len(test.qrels) else None
        return audit_leakage(found, impact=impact, pairs=pairs)

    def sample(
        self,
        sampler: str = "pool:100",
        *,
        variant: str = "topic_aware",
        max_docs: int | None = None,
        max_bytes: int | None = None,
        bytes_per_doc: float | None = None,
        say: Callable[[str], None] = _silent,
    ) -> Sample:
        """The documents of one sample, or of the deepest pool within a budget; needs no groups."""
        definitions, material = find_variant(variant), Material(self, say)
        campaign = Campaign.from_runs(
            material.runs,
            material.qrels,
            material.runs.names,
            judging=definitions.judging,
            judged_topics_only=definitions.judged_topics_only,
        )
        if max_docs is None and max_bytes is None:
            return build(campaign, sampler)
        sizes: float | dict[str, int] | None = bytes_per_doc
        if max_bytes is not None and sizes is None:
            if material.collection is None or not material.collection.has_documents:
                raise InputError("a budget in bytes needs --bytes-per-doc, or a --collection with the documents.")
            say("measuring the documents")
            sizes = {document.doc_id: document_bytes(document) for document in material.collection.documents()}
        return build(campaign, sampler, Budget(max_docs, max_bytes, sizes))

    def mimicry(
        self, rankers: Sequence[str], samplers: Sequence[str] | None = None, say: Callable[[str], None] = _silent
    ) -> Evidence:
        """Retrieval on samples held against retrieval on the full corpus."""
        material = Material(self, say)
        if material.collection is None:
            raise InputError("retrieval needs a --collection with documents and queries.")
        campaign = Campaign.from_runs(material.runs, material.qrels, material.runs.names)
        names = samplers or [name for name in default_samplers(campaign) if name != "complete"]
        samples = [(name, build(campaign, name).doc_ids) for name in names]
        rows = mimic(material.collection, rankers, samples, seed=self.seed, say=say)
        inputs = {"collection": material.collection.fingerprint}
        return Evidence(
            "mimicry",
            "Does retrieval on the sample give what retrieval on the full corpus gives?",
            (mimicry_table(rows), mimicry_by_family(rows)),
            stamp((*rankers, *names), inputs, {"seed": self.seed}),
        )

    def subsampling(
        self,
        samplers: Sequence[str] | None = None,
        *,
        variant: str = "topic_aware",
        top: float = 0.75,
        limits: Limits | None = None,
        replicates: int = 1000,
        say: Callable[[str], None] = _silent,
    ) -> SubsamplingAudit:
        """Leave-one-group-out alone, by one of the sets of decisions."""
        definitions = find_variant(variant)
        campaign = Material(self, say).campaign(definitions.judging, judged_topics_only=definitions.judged_topics_only)
        return audit_subsampling(
            campaign,
            samplers,
            measure=parse_measure(self.measure),
            mean=definitions.mean,
            top=top,
            limits=limits,
            replicates=replicates,
            seed=self.seed,
            say=say,
        )


@dataclass(frozen=True)
class Material:
    """The files of a study, each read once and when it is first needed."""

    study: Study
    say: Callable[[str], None]

    @cached_property
    def collection(self) -> Collection | None:
        """The collection, where one is named."""
        named, variants = self.study.collection, self.study.variants
        return load(named, variants=variants) if named else None

    @cached_property
    def training(self) -> Collection | None:
        """The training queries that are given, or the log of the collection."""
        if self.study.train:
            return load(self.study.train)
        return self.collection if self.collection is not None and self.collection.has_log else None

    @property
    def has_runs(self) -> bool:
        """Whether there are runs to look at."""
        return bool(self.study.runs or (self.collection and self.collection.runs_folder))

    @cached_property
    def runs(self) -> RunSet:
        """The runs that are given, or those of the collection."""
        place = self.study.runs or (self.collection.runs_folder if self.collection else None)
        if place is None:
            raise InputError("no runs: give them with --runs FOLDER, or a --collection that has them.")
        if self.study.ties not in list(Ties):
            raise UnknownNameError("tie rule", self.study.ties, list(Ties))
        files = run_files(place)
        self.say(f"reading {len(files)} runs")
        return RunSet.read(files, Ties(self.study.ties))

    @cached_property
    def qrels(self) -> Qrels:
        """The judgments that are given, or those of the collection."""
        if self.study.qrels:
            return read_qrels(self.study.qrels, self.runs.notes)
        if self.collection is None:
            raise InputError("judgments are missing: give them with --qrels FILE, or a --collection that has them.")
        return self.collection.qrels

    @cached_property
    def groups(self) -> tuple[str, ...] | None:
        """The group of each run, where groups are given or come with the collection's own runs."""
        own = self.collection.groups_file if self.collection and not self.study.runs else None
        place = self.study.groups or own
        return None if place is None else find_groups(self.runs, place)

    def campaign(self, judging: Judging = "topic_aware", *, judged_topics_only: bool = True) -> Campaign:
        """Runs, judgments and groups for leave-one-group-out."""
        if self.groups is None:
            raise InputError(
                "groups are missing: give them with --groups FILE (columns run and group), or --groups tags."
            )
        return Campaign.from_runs(
            self.runs, self.qrels, self.groups, judging=judging, judged_topics_only=judged_topics_only
        )
