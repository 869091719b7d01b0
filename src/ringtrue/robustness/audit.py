"""Does the system survive the ways in which people write the same query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ir_measures import Measure, nDCG

from ringtrue.audit import Finding, Section
from ringtrue.data.collection import Collection
from ringtrue.data.notes import Note, notes_tables
from ringtrue.errors import InputError
from ringtrue.evaluation.measures import check_mean
from ringtrue.provenance import Provenance, stamp
from ringtrue.retrieval.encoders import Encoder
from ringtrue.retrieval.pipeline import Pipeline
from ringtrue.retrieval.ranker import Ranker
from ringtrue.robustness import evidence, rules, sections, tables
from ringtrue.robustness.cases import swaps, worst_cases
from ringtrue.robustness.consistency import consistency
from ringtrue.robustness.correlations import correlations
from ringtrue.robustness.drops import category_drops, originally_judged, stability
from ringtrue.robustness.evaluate import Values, compare, score
from ringtrue.robustness.fusion import fusion_table, oracle
from ringtrue.robustness.mapping import TextMap, map_texts
from ringtrue.robustness.ranking import Failure, Ranked, at_depth, rank_task
from ringtrue.robustness.result import (
    Case,
    CategoryDrop,
    Comparison,
    Consistency,
    Correlation,
    DepthRow,
    FusionRow,
    Oracle,
    Stability,
    Swap,
)
from ringtrue.robustness.settings import Settings
from ringtrue.robustness.task import Task, make_task
from ringtrue.robustness.topics import read_ranked
from ringtrue.robustness.validity import Checked

Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class SystemResult:
    """All that was measured of one system."""

    values: Values
    comparisons: tuple[Comparison, ...]
    drops: tuple[CategoryDrop, ...]
    stability: tuple[Stability, ...]
    consistency: Consistency
    cases: tuple[Case, ...]
    fusion: tuple[FusionRow, ...]
    oracle: Oracle


@dataclass(frozen=True, eq=False)
class RobustnessAudit:
    """Systems on queries and on their variations; the first measure is the one that is judged by."""

    task: Task
    checked: tuple[Checked, ...]
    systems: tuple[SystemResult, ...]
    swaps: tuple[Swap, ...]
    correlations: tuple[Correlation, ...]
    map: TextMap | None
    depths: tuple[DepthRow, ...]
    measures: tuple[Measure, ...]
    settings: Settings
    notes: tuple[Note, ...]
    provenance: Provenance

    name = "robustness"
    title = "Does the system survive the ways in which people write the same query?"

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """All cells of Table 4: by system, measure and method."""
        return tuple(row for system in self.systems for row in system.comparisons)

    @property
    def drops(self) -> tuple[CategoryDrop, ...]:
        """What categories cost: by system, measure and category."""
        return tuple(row for system in self.systems for row in system.drops)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Every query that a system could not do."""
        return tuple(failure for system in self.systems for failure in system.values.failures)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One for each system, and what concerns all of them."""
        first = str(self.measures[0])
        losses = (rules.survives([drop for drop in one.drops if drop.measure == first]) for one in self.systems)
        queries = max(map(len, self.task.texts.values()), default=0)
        methods = sum(one.valid > 0 for one in self.task.counts)
        order = rules.same_order(self.swaps, len(self.systems), methods, queries)
        known = rules.judged([(one.values.system, originally_judged(one.values)) for one in self.systems])
        return (*losses, *order, *known, *rules.all_ranked(self.failures))

    def sections(self) -> tuple[Section, ...]:
        """Table 4 first, then what lies behind it."""
        measure, settings = self.measures[0], self.settings
        steady = [system.consistency for system in self.systems]
        return (
            *(tables.matrix_table(self.task, self.comparisons, each, settings) for each in self.measures),
            sections.drops_figure(self.drops, measure),
            tables.drops_table(self.drops),
            tables.consistency_table(steady, measure),
            sections.risk_figure(steady, measure),
            *tables.swaps_tables(self.swaps, len(self.systems)),
            *tables.correlations_tables(self.correlations, measure),
            *sections.map_figures(self.map),
            *tables.depths_tables(self.depths, measure),
            *evidence.case_tables([case for system in self.systems for case in system.cases], measure, settings.worst),
            tables.stability_table([row for system in self.systems for row in system.stability]),
            tables.fusion_table([row for system in self.systems for row in system.fusion], settings),
            tables.oracle_table([system.oracle for system in self.systems]),
            tables.comparisons_table(self.comparisons, settings),
            evidence.variations_table(self.task, self.checked),
            *evidence.failures_tables(self.failures),
            *notes_tables(self.notes, sections.TOLERATED),
            sections.definitions(settings, self.task),
        )


def audit_robustness(
    collection: Collection,
    rankers: Sequence[Ranker],
    variations: Sequence[Checked],
    *,
    runs: Sequence[Path] = (),
    measures: Sequence[Measure] = (nDCG @ 10,),
    settings: Settings | None = None,
    encoder: Encoder | None = None,
    say: Say = lambda message: None,
) -> RobustnessAudit:
    """Rank the collection's judged queries and their variations, and see what the variations cost.

    `runs` are folders of runs made elsewhere, one folder a system; see `topics.py` for their names. `encoder` is for
    the map of queries and variations.
    """
    settings = settings or Settings()
    task = make_task(collection.queries, collection.qrels.topics, variations)
    _check_depths(rankers, settings.depths)
    _check_names([repr(ranker) for ranker in rankers] + [path.resolve().name for path in runs])
    asked = tuple(dict.fromkeys(measures))
    for measure in asked:
        check_mean(measure)
    work = _Work(collection, task, asked, settings, say)
    systems = (
        *(work.live(ranker) for ranker in rankers),
        *(work.measured(read_ranked(path, task, collection.notes)) for path in runs),
    )
    return RobustnessAudit(
        task=task,
        checked=tuple(variations),
        systems=systems,
        swaps=swaps([system.values for system in systems], asked[0], settings.marking),
        correlations=correlations([system.values for system in systems], asked[0], variations),
        map=None if encoder is None else map_texts(task, encoder, settings.mapped),
        depths=tuple(row for ranker in rankers if settings.depths for row in work.depths(ranker)),
        measures=asked,
        settings=settings,
        notes=tuple(collection.notes),
        provenance=stamp(
            (*rankers, *(str(path.name) for path in runs)),
            {"collection": collection.fingerprint},
            _stated(settings, asked, task),
        ),
    )


@dataclass(frozen=True)
class _Work:
    """What is the same for all systems."""

    collection: Collection
    task: Task
    measures: tuple[Measure, ...]
    settings: Settings
    say: Say

    def live(self, ranker: Ranker) -> SystemResult:
        """Run a ranker and measure it; its rankings are let go afterwards."""
        return self.measured(self._rank(ranker))

    def _rank(self, ranker: Ranker) -> Ranked:
        return rank_task(ranker, self.collection, self.task, rerank_only=self.settings.rerank_only, say=self.say)

    def measured(self, ranked: Ranked) -> SystemResult:
        """All figures of one system."""
        task, qrels, settings, first = self.task, self.collection.qrels, self.settings, self.measures[0]
        values = score(ranked, task, qrels, self.measures)
        self.say(f"{ranked.name}: comparing {len(task.methods)} methods over {len(task.queries)} queries")
        return SystemResult(
            values,
            tuple(
                row
                for measure in self.measures
                for row in compare(values, measure, valid_only=settings.valid_only, marking=settings.marking)
            ),
            tuple(row for measure in self.measures for row in self._drops(values, measure)),
            stability(values),
            consistency(values, first, settings.aversion),
            worst_cases(values, ranked, qrels, first, settings.worst),
            fusion_table(values, ranked, qrels, first, marking=settings.marking, depth=settings.fusion_depth),
            oracle(values, first),
        )

    def _drops(self, values: Values, measure: Measure) -> tuple[CategoryDrop, ...]:
        return category_drops(values, measure, replicates=self.settings.replicates, seed=self.settings.seed)

    def depths(self, ranker: Ranker) -> list[DepthRow]:
        """One pipeline with other depths of its first stage; a ranker of one stage has none."""
        if not isinstance(ranker, Pipeline):
            return []
        rows = []
        for depth in self.settings.depths:
            values = score(self._rank(at_depth(ranker, depth)), self.task, self.collection.qrels, self.measures[:1])
            rows += [
                DepthRow(repr(ranker), depth, one.category, one.original, one.varied, one.drop, *one.interval[:2])
                for one in self._drops(values, self.measures[0])
            ]
        return rows


def _check_names(names: Sequence[str]) -> None:
    if not names:
        raise InputError("no system: name a ranker (--ranker bm25), or give a folder of runs (--runs FOLDER).")
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise InputError(f"two systems are named {twice!r}; leave one out, or rename its folder.")


def _check_depths(rankers: Sequence[Ranker], depths: Sequence[int]) -> None:
    if depths and not any(isinstance(ranker, Pipeline) for ranker in rankers):
        raise InputError(
            f"a depth of re-ranking ({depths[0]}) needs a ranker that ranks again: --ranker 'bm25 >> RERANKER'."
        )


def _stated(settings: Settings, measures: Sequence[Measure], task: Task) -> dict[str, str | int | float | bool | None]:
    return {
        "measures": " ".join(map(str, measures)),
        "test": settings.marking.words,
        "valid_only": settings.valid_only,
        "rerank_only": settings.rerank_only,
        "replicates": settings.replicates,
        "seed": settings.seed,
        "queries": len(task.queries),
        "methods": len(task.methods),
    }
