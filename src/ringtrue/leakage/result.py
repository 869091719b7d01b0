"""What is known of leakage: what a search found, what cleaning dropped, and what the leaks change."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ir_measures import Measure

from ringtrue.audit import Interval
from ringtrue.data.notes import Note
from ringtrue.leakage.candidates import Candidate

if TYPE_CHECKING:
    from ringtrue.retrieval.cascade import Plan
    from ringtrue.retrieval.scoring import Screened


class Stratum(NamedTuple):
    """Training queries that a cascade did not encode, by how near they seemed, and what a sample of them shows."""

    low: float
    queries: int
    sampled: int
    hits: int
    nearest: float


@dataclass(frozen=True)
class Recall:
    """What share of all training queries above the threshold a cascade is estimated to find, and what was asked for.

    `estimate` is None where nothing was found. The interval assumes that exact similarities below the cut fall off as
    the sampled ones do; `certain` is its lower end if nothing is assumed. Where what was encoded contradicts the
    assumption (`refuted`), the interval does without it. `strata` are what was left out.
    """

    estimate: float | None
    interval: Interval
    target: float
    found: int = 0
    missed: float = 0.0
    certain: float = 0.0
    refuted: bool = False
    cut: float = -1.0
    encoded: int = 0
    queries: int = 0
    exhausted: bool = False
    strata: tuple[Stratum, ...] = ()

    @classmethod
    def of(cls, screened: Screened, plan: Plan, queries: int) -> Recall:
        """What a cascade says of itself."""
        method = "Clopper-Pearson by stratum" if screened.refuted else "exponential tails of a stratified sample"
        return cls(
            estimate=screened.estimate,
            interval=Interval(*screened.interval, 0.95, method),
            target=plan.recall,
            found=screened.hits,
            missed=screened.missed.expected,
            certain=screened.certain,
            refuted=screened.refuted,
            cut=screened.cut,
            encoded=screened.scored,
            queries=queries,
            exhausted=screened.exhausted,
            strata=tuple(Stratum(*band) for band in screened.bands),
        )

    @property
    def is_reached(self) -> bool:
        """Whether the lower end is as high as asked for."""
        return self.is_complete or (self.estimate is not None and self.interval.low >= self.target)

    @property
    def is_complete(self) -> bool:
        """Whether all of the log was encoded after all."""
        return 0 < self.queries == self.encoded


@dataclass(frozen=True)
class SearchResult:
    """What a search found, and what it looked at.

    `candidates` has one row for each topic and query, with the text that won; where there are more, they count once.
    `hits`, where the search kept them, has one for each topic, query and field, which is what the study's first table
    counts. Topics without a text that the encoder knows anything of are `unsearched` and not among `topics`.
    Candidates that come from a file may have no threshold (all of them count), encoder and size of the log.
    """

    candidates: tuple[Candidate, ...]
    topics: tuple[str, ...]
    threshold: float | None = None
    encoder: str = ""
    log_size: int | None = None
    hits: tuple[Candidate, ...] | None = None
    unsearched: tuple[str, ...] = ()
    recall: Recall | None = None
    notes: tuple[Note, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)


class Dropped(NamedTuple):
    """A query that went from the training data, or was not in it (`records` is 0), and why it had to go."""

    query_id: str
    query: str
    source: str
    topic_ids: tuple[str, ...]
    similarity: float
    reason: str
    records: int


class CleanedFile(NamedTuple):
    """One training file: how many records it has, how many went, and how many of these had another text."""

    given: str
    written: str
    records: int
    dropped: int
    other_text: int


@dataclass(frozen=True)
class Cleaning:
    """What went from the training data; `without_probability` are candidates that are not likely for want of one."""

    rule: str
    candidates: int
    files: tuple[CleanedFile, ...]
    dropped: tuple[Dropped, ...]
    not_found: tuple[Dropped, ...]
    without_probability: int = 0

    @cached_property
    def by_source(self) -> Mapping[str, int]:
        """How many queries of each source went."""
        return dict(sorted(Counter(one.source for one in self.dropped).items()))

    @cached_property
    def by_topic(self) -> Mapping[str, int]:
        """How many queries went for each topic; one that leaks two topics counts for both."""
        return dict(sorted(Counter(topic for one in self.dropped for topic in one.topic_ids).items()))


@dataclass(frozen=True)
class SystemImpact:
    """One system on leaked and on clean topics.

    `difference` is its score on leaked less that on clean topics, `relative` the same less the reference's own
    difference. `p` is the chance that as many random topics give a `relative` as far from 0.
    """

    run: str
    rank: int
    rank_clean: int
    score: float
    score_leaked: float
    score_clean: float
    difference: float
    interval: Interval
    relative: float | None
    relative_interval: Interval | None
    p: float | None
    p_holm: float | None


class Swap(NamedTuple):
    """Two systems that change places without the leaked topics; differences are those of `ahead` less `behind`.

    `change` is their difference over leaked less that over clean topics, which is what leakage can have done. A test
    of either order alone would not tell: one can be significant that the leaked topics have no part in.
    """

    ahead: str
    behind: str
    difference: float
    p_holm: float
    difference_clean: float
    p_holm_clean: float
    change: float
    p_holm_change: float

    def is_significant(self, alpha: float) -> bool:
        """Whether their difference is another on leaked than on clean topics, by more than luck."""
        return self.p_holm_change < alpha


@dataclass(frozen=True)
class OrderChange:
    """The order of systems over all topics against that over clean topics.

    Each p is the chance that leaving out as many random topics changes the order as much; `random_…` are the mean and
    the lower 5 % quantile of tau_AP_b then.
    """

    tau_ap_b: float
    tau_b: float
    random_tau_ap_b: float
    random_low: float
    p_tau_ap_b: float
    p_tau_b: float
    pairs: int
    swaps: tuple[Swap, ...]


@dataclass(frozen=True)
class Impact:
    """What the leaked topics do to the runs; without systems there were too few topics of either kind.

    All topics are judged ones but for `not_judged`, which are leaked; the `unsearched` take no part.
    """

    measure: Measure
    higher_is_better: bool
    reference: str
    leaked: tuple[str, ...]
    clean: tuple[str, ...]
    unsearched: tuple[str, ...]
    not_judged: tuple[str, ...]
    systems: tuple[SystemImpact, ...]
    order: OrderChange | None
    settings: Mapping[str, str | int | float | bool | None]

    @property
    def least_p(self) -> float:
        """The smallest p that a gain can have, before correction: there are so many choices of topics, and draws."""
        draws = int(self.settings["permutations"] or 0)
        return max(1 / math.comb(len(self.leaked) + len(self.clean), len(self.leaked)), 1 / (draws + 1))


class LeakedPair(NamedTuple):
    """A training query that leaks a topic, with a positive that is judged for this topic."""

    topic_id: str
    query_id: str
    query: str
    doc_id: str
    relevance: int
    similarity: float
    source: str


class TopicDocuments(NamedTuple):
    """A topic's judged documents: which are training positives (`seen`), and which of a query that leaks the topic."""

    topic_id: str
    judged: int
    judged_seen: int
    relevant: int
    relevant_seen: int
    relevant_leaked: int


@dataclass(frozen=True)
class PairLeakage:
    """Training positives held against the test's judgments; documents are counted once each."""

    positives: int
    judged: int
    judged_seen: int
    topics: tuple[TopicDocuments, ...]
    pairs: tuple[LeakedPair, ...]
    notes: tuple[Note, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
