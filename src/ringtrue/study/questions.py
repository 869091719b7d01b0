"""The questions that a study can answer, each by one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Self

from ir_measures import Measure

from ringtrue.audit import Audit, Evidence
from ringtrue.data.collection import Collection
from ringtrue.errors import InputError
from ringtrue.evaluation.audit import audit_evaluation
from ringtrue.evaluation.measures import parse_measure
from ringtrue.leakage.audit import LeakageAudit, audit_leakage
from ringtrue.leakage.candidates import Candidate
from ringtrue.leakage.choice import Choice, leaked_topics
from ringtrue.leakage.experiment.audit import audit_experiment
from ringtrue.leakage.impact import measure_impact
from ringtrue.leakage.pairs import check_positives, pairs_between
from ringtrue.leakage.result import SearchResult
from ringtrue.leakage.search import Settings as LeakageSettings
from ringtrue.leakage.search import searching, usual_encoder
from ringtrue.provenance import stamp
from ringtrue.retrieval.pipeline import parse_ranker
from ringtrue.robustness.audit import audit_robustness
from ringtrue.robustness.labels import Label, known_queries, read_labelled
from ringtrue.robustness.settings import Settings as RobustnessSettings
from ringtrue.robustness.validity import check
from ringtrue.robustness.variations import Variation
from ringtrue.robustness.vary import parse_generators, vary
from ringtrue.study.config import Config
from ringtrue.study.material import Material
from ringtrue.subsampling.audit import SubsamplingAudit, audit_subsampling, default_samplers
from ringtrue.subsampling.build import Budget, Sample, build, build_without_runs
from ringtrue.subsampling.energy import Meter
from ringtrue.subsampling.energy_table import energy_table
from ringtrue.subsampling.mimic import kwh_per_document, mimic
from ringtrue.subsampling.plan import Limits
from ringtrue.subsampling.sections import mimicry_by_family, mimicry_table
from ringtrue.subsampling.sizes import bytes_of_each
from ringtrue.subsampling.variants import Definitions, find_variant

USUAL_GENERATORS = ("NeighbCharSwap", "RandomCharSub", "QWERTYCharSub", "RmvStopWords", "RandOrderSwap")


def _silent(message: str) -> None:
    """Say nothing."""


class Study(Config):
    """An evaluation and what can be asked of it; in every call `say` hears what is being done."""

    def audits(self, say: Callable[[str], None] = _silent) -> Iterator[Audit]:
        """Each audit that can be made, as soon as it is made; `say` hears what is being done."""
        material = Material(self, say)
        measure = self.check()
        self._check_use(material)
        if material.has_runs:
            runs, qrels = material.runs, material.qrels
            say("evaluating the runs")
            yield audit_evaluation(
                runs,
                qrels,
                material.groups,
                collection=material.collection,
                measure=measure,
                seed=self.seed,
            )
        searched = ExitStack()  # what a search saved is of use until the last audit is made
        if material.training and material.collection:
            yield self._leakage(material, material.training, material.collection, measure, searched)
        elif self.experiment is not None:
            yield audit_experiment(self.experiment)
        if material.has_runs and material.groups is not None:
            campaign = material.campaign()
            yield audit_subsampling(
                campaign,
                self.samplers or None,
                measure=measure,
                replicates=self.replicates,
                seed=self.seed,
                bytes_per_doc=material.bytes_per_doc(campaign),
                inputs=material.inputs,
                say=say,
            )
        if self.rankers and material.collection:
            yield self._robustness(material.collection, measure, say)
        searched.close()

    def _check_use(self, material: Material) -> None:
        """Refuse what would have no effect: it is given for a question that then would not be asked."""
        if not (material.has_runs or material.training or self.rankers or self.experiment):
            raise InputError(
                "nothing to audit: give runs (--runs FOLDER), training queries (--train FILE) or a --ranker."
            )
        for name in ("variants", "encoder", "threshold", "positives"):
            if getattr(self, name) is not None and not material.training:
                raise InputError(f"--{name} is for the search for leaks, which needs training queries (--train FILE).")
        if self.groups and not material.has_runs:
            raise InputError("--groups says who made which run, but there are no runs; give them with --runs FOLDER.")

    def _robustness(self, collection: Collection, measure: Measure, say: Callable[[str], None]) -> Audit:
        """The rankers on the variations that are given, or on those of a few rules that need no model."""
        made: Iterable[Variation] = ()
        labels: Sequence[Label] = ()
        if self.variations:
            made, labels = read_labelled(self.variations, None, collection.notes)
        else:
            made = vary(collection.queries, parse_generators(USUAL_GENERATORS), seed=self.seed)
        checked = check(known_queries(made, collection.queries, collection.notes), labels=labels)
        rankers = [parse_ranker(spec) for spec in self.rankers]
        settings = RobustnessSettings(seed=self.seed)
        return audit_robustness(collection, rankers, checked, measures=(measure,), settings=settings, say=say)

    def _leakage(
        self, material: Material, train: Collection, test: Collection, measure: Measure, searched: ExitStack
    ) -> Audit:
        """Search, and what the leaks do to the runs and share with the judgments where there are any."""
        check_positives(self.positives, test)
        trained = audit_experiment(self.experiment) if self.experiment is not None else None
        settings = LeakageSettings(self.encoder or usual_encoder(), self.threshold)
        found = searched.enter_context(searching(test, train, settings, material.say)).result
        leaks = Choice(found.threshold).leaks(found.candidates)
        impact = (
            measure_impact(
                material.runs,
                material.qrels,
                leaked_topics(leaks),
                measure=measure,
                searched=found.topics,
                seed=self.seed,
            )
            if material.has_runs
            else None
        )
        pairs = pairs_between(test, train, leaks, self.positives)
        return audit_leakage(found, impact=impact, pairs=pairs, experiment=trained)

    def impact(
        self,
        candidates: Sequence[Candidate],
        *,
        threshold: float | None = None,
        reference: str | None = None,
        say: Callable[[str], None] = _silent,
    ) -> LeakageAudit:
        """What leaks that were found before do to the runs; `reference` is a run to hold the others against."""
        material = Material(self, say)
        judged = material.qrels.topics
        found = sorted({candidate.topic_id for candidate in candidates})
        if found and not set(found).intersection(judged):
            raise InputError(
                f"none of the {len(found)} topics of the candidates ({found[0]}, …) is among the {len(judged)} judged "
                f"ones ({judged[0]}, …); are these the candidates of another collection?"
            )
        impact = measure_impact(
            material.runs,
            material.qrels,
            leaked_topics(Choice(threshold).leaks(candidates)),
            measure=parse_measure(self.measure),
            reference=reference,
            seed=self.seed,
        )
        return audit_leakage(SearchResult(tuple(candidates), judged, threshold), impact=impact)

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
        definitions = find_variant(variant)
        material = Material(self._with_ties_of(definitions), say)
        if not material.has_runs and max_docs is None and max_bytes is None:
            return build_without_runs(material.search, sampler)
        campaign = material.ungrouped(definitions.judging, judged_topics_only=definitions.judged_topics_only)
        if max_docs is None and max_bytes is None:
            return build(campaign, sampler)
        sizes: float | Mapping[str, int] | None = bytes_per_doc
        if max_bytes is not None and sizes is None:
            if material.collection is None or not material.collection.has_documents:
                raise InputError("a budget in bytes needs --bytes-per-doc, or a --collection with the documents.")
            say("measuring the documents")
            sizes = bytes_of_each(campaign, material.collection.documents())
        return build(campaign, sampler, Budget(max_docs, max_bytes, sizes))

    def _with_ties_of(self, definitions: Definitions) -> Self:
        """The same study, with the definitions' tie rule where none is given."""
        return self.given(ties=self.ties or definitions.ties.value)

    def mimicry(
        self,
        rankers: Sequence[str],
        samplers: Sequence[str] | None = None,
        *,
        meter: Meter | None = None,
        corpus_documents: int | None = None,
        say: Callable[[str], None] = _silent,
    ) -> Evidence:
        """Retrieval on samples held against retrieval on the full corpus.

        With a `meter` also what each takes, and would take on `corpus_documents`, else on all of the collection.
        """
        material = Material(self, say)
        if material.collection is None:
            raise InputError("retrieval needs a --collection with documents and queries.")
        names, samples = _samples(material, samplers)
        rows = mimic(material.collection, rankers, samples, seed=self.seed, meter=meter, say=say)
        tables = [mimicry_table(rows), mimicry_by_family(rows)]
        if meter is not None:
            full = corpus_documents or max(stage.documents for stage in meter.stages)
            tables.append(energy_table(meter.stages, full))
        inputs = {"collection": material.collection.fingerprint}
        return Evidence(
            "mimicry",
            "Does retrieval on the sample give what retrieval on the full corpus gives?",
            tuple(tables),
            stamp((*rankers, *names), inputs, {"seed": self.seed}),
        )

    def kwh_per_document(self, ranker: str, say: Callable[[str], None] = _silent) -> float:
        """What a ranker takes for one document of the collection, measured on its first thousand."""
        material = Material(self, say)
        if material.collection is None or not material.collection.has_documents:
            raise InputError("measuring a ranker needs a --collection with documents and queries.")
        say(f"measuring {ranker}")
        return kwh_per_document(parse_ranker(ranker), material.collection)

    def subsampling(
        self,
        samplers: Sequence[str] | None = None,
        *,
        variant: str = "topic_aware",
        top: float = 0.75,
        limits: Limits | None = None,
        replicates: int = 1000,
        bytes_per_doc: float | None = None,
        say: Callable[[str], None] = _silent,
    ) -> SubsamplingAudit:
        """Leave-one-group-out alone, by one of the sets of decisions."""
        definitions = find_variant(variant)
        material = Material(self._with_ties_of(definitions), say)
        campaign = material.campaign(definitions.judging, judged_topics_only=definitions.judged_topics_only)
        return audit_subsampling(
            campaign,
            samplers,
            measure=parse_measure(self.measure),
            mean=definitions.mean,
            top=top,
            limits=limits,
            replicates=replicates,
            seed=self.seed,
            bytes_per_doc=bytes_per_doc or material.bytes_per_doc(campaign),
            inputs=material.inputs,
            say=say,
        )


def _samples(
    material: Material, samplers: Sequence[str] | None
) -> tuple[Sequence[str], Sequence[tuple[str, Sequence[str]]]]:
    """Samplers and the documents of their samples; without runs, those of rankers alone."""
    if not material.has_runs:
        names: Sequence[str] = samplers or ("rerank:run=bm25,depth=100",)
        return names, [(name, build_without_runs(material.search, name).doc_ids) for name in names]
    campaign = material.ungrouped()
    names = samplers or [name for name in default_samplers(campaign) if name != "complete"]
    samples = [build(campaign, name) for name in names]
    for note in dict.fromkeys(note for sample in samples for note in sample.notes):
        material.say(str(note))
    return names, [(name, sample.doc_ids) for name, sample in zip(names, samples, strict=True)]
