"""Did the model see the test queries, or nearly so, during training, and what does it change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from ringtrue.audit import Finding, Section, Table
from ringtrue.data.notes import notes_tables
from ringtrue.leakage import rules, sections
from ringtrue.leakage.candidates import Candidate
from ringtrue.leakage.choice import Choice
from ringtrue.leakage.experiment.audit import ExperimentAudit
from ringtrue.leakage.result import Impact, PairLeakage, SearchResult
from ringtrue.leakage.table import best_texts, count_by_field, list_topics
from ringtrue.leakage.thresholds import default_at
from ringtrue.provenance import Provenance, stamp


@dataclass(frozen=True, eq=False)
class LeakageAudit:
    """What a search found; where runs, training documents or an experiment were given, what it does to them."""

    search: SearchResult
    choice: Choice
    impact: Impact | None
    pairs: PairLeakage | None
    provenance: Provenance
    experiment: ExperimentAudit | None = None

    name = "leakage"
    title = "Did the model see the test queries during training?"

    @cached_property
    def leaks(self) -> tuple[Candidate, ...]:
        """The candidates that count, of the topics that were searched for, each topic and query once."""
        searched = frozenset(self.search.topics)
        return tuple(leak for leak in self._counted if leak.topic_id in searched)

    @cached_property
    def _counted(self) -> tuple[Candidate, ...]:
        return best_texts(self.choice.leaks(self.search.candidates))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Leaked topics first, then what they change."""
        return (
            rules.leaked_share(self.search, self._counted, self.choice.rule),
            *((rules.search_recall(self.search.recall),) if self.search.recall else ()),
            *((rules.leaked_documents(self.pairs, leaks=bool(self.leaks)),) if self.pairs is not None else ()),
            rules.order_of_systems(self.impact, leaks=bool(self.leaks)),
            *((rules.gain_on_leaked_topics(self.impact),) if self.impact is not None and self.leaks else ()),
            *(self.experiment.findings if self.experiment is not None else ()),
        )

    def sections(self) -> tuple[Section, ...]:
        """Counts, topics and systems first, then the long lists."""
        return (
            *(self._overview() if self.leaks else ()),
            *sections.impact_sections(self.impact),
            *(self.experiment.sections() if self.experiment is not None else ()),
            *((sections.leaks_table(self.leaks),) if self.leaks else ()),
            *sections.pairs_tables(self.pairs),
            *sections.recall_tables(self.search.recall),
            *notes_tables((*self.search.notes, *(self.pairs.notes if self.pairs is not None else ()))),
            sections.definitions(self.search, self.choice.rule),
        )

    def _overview(self) -> tuple[Section, ...]:
        """The leaks by field, similarity, type and topic."""
        return (
            self._fields_table(),
            sections.similarities_figure(self.leaks),
            *sections.types_tables(self.leaks),
            sections.topics_table(list_topics(self.leaks)),
        )

    def _fields_table(self) -> Table:
        """The study's first table: of the leaks, each field that is above the threshold, beside the one that won."""
        leaking = {(leak.topic_id, leak.identity) for leak in self.leaks}
        given = self.search.candidates if self.search.hits is None else self.search.hits
        hits = [hit for hit in given if (hit.topic_id, hit.identity) in leaking]
        above = [hit for hit in hits if self.search.threshold is None or hit.similarity > self.search.threshold]
        each_field = self.search.hits is not None or len(above) > len(self.leaks)
        return sections.fields_table(count_by_field((*above, *self.leaks)), each_field)


def audit_leakage(
    search: SearchResult,
    *,
    choice: Choice | None = None,
    impact: Impact | None = None,
    pairs: PairLeakage | None = None,
    experiment: ExperimentAudit | None = None,
) -> LeakageAudit:
    """Put together what is known; without a choice all candidates above the search's threshold count as leaks."""
    choice = choice or Choice(search.threshold)
    of_experiment = experiment.provenance.settings if experiment else {}
    settings: dict[str, str | int | float | bool | None] = {
        **{f"experiment_{name}": value for name, value in of_experiment.items()},
        **(impact.settings if impact else {}),
        **search.settings,
        "threshold": search.threshold,
        **({"threshold_is": "the encoder's default"} if default_at(search.encoder, search.threshold) else {}),
        "leaks": choice.rule,
        "log": search.log_size,
        "topics": len(search.topics),
    }
    encoders = (search.encoder,) if search.encoder else ()
    models = experiment.provenance.components if experiment else ()
    inputs = {**search.inputs, **(pairs.inputs if pairs is not None else {})}
    return LeakageAudit(
        search=search,
        choice=choice,
        impact=impact,
        pairs=pairs,
        provenance=replace(stamp(inputs=inputs, settings=settings), components=(*encoders, *models)),
        experiment=experiment,
    )
