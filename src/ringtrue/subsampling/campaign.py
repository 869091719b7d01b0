"""A campaign as samplers see it: runs, judgments and groups, whole or without one group.

A pool is a set of (topic, document) pairs; the corpus of a pool is the documents of its pairs, whatever the topic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtrue.data.notes import Notes
from ringtrue.data.qrels import Qrels
from ringtrue.data.runs import Run, RunSet
from ringtrue.errors import InputError, UnknownNameError, brief
from ringtrue.retrieval.catalog import RANKERS
from ringtrue.subsampling.first_stage import is_ranker

Judging = Literal["topic_aware", "topic_free"]
Documents = NDArray[np.bool_]
Search = Callable[[str, int], Run]  # a ranker's name and a depth to a run

DEPTH = 1000
JUDGMENT_DEPTH = 10

_CUT = f"systems evaluated on their best {DEPTH:,} documents a topic alone, for they are deeper"


@dataclass(frozen=True, eq=False)
class Campaign:
    """Runs cut to 1,000 documents a topic, the judgments coded in the runs' documents, and each run's group.

    `deep` are the runs before the cut where some are deeper; they are not evaluated, but samplers may ask for them.
    `judging` says when a judgment stays after cutting: `topic_aware` where its pair is pooled, `topic_free` where its
    document is pooled for any topic, as in the study's code. `search` makes rankings that no run has. `notes` grow
    as samples are taken.
    """

    runs: RunSet
    qrels: Qrels
    groups: tuple[str, ...]
    judging: Judging = "topic_aware"
    search: Search | None = field(default=None, repr=False)
    deep: RunSet | None = field(default=None, repr=False)
    notes: Notes = field(default_factory=Notes, init=False, repr=False)
    _presence: dict[int, NDArray[np.bool_]] = field(default_factory=dict, init=False, repr=False)
    _found: dict[tuple[str, int], Found] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def from_runs(
        cls,
        runs: RunSet,
        qrels: Qrels,
        groups: Sequence[str],
        *,
        judging: Judging = "topic_aware",
        judged_topics_only: bool = True,
        search: Search | None = None,
    ) -> Campaign:
        """Cut the runs; topics without judgments are left out unless asked for, since they only enlarge pools."""
        if len(groups) != len(runs):
            raise InputError(f"{len(groups)} groups were given for {len(runs)} runs.")
        if not set(runs.topics).intersection(qrels.topics):
            raise InputError(
                f"runs and judgments have no topic in common: the runs have {brief(runs.topics)}, "
                f"the judgments {brief(qrels.topics)}."
            )
        if judged_topics_only:
            known = np.isin(np.array(runs.topics, dtype=object), np.array(qrels.topics, dtype=object))
            runs = runs.keep(np.repeat(known, runs.lengths.sum(axis=1)))
        deeper = (runs.lengths > DEPTH).any(axis=0)
        deep = runs.compact() if deeper.any() else None
        campaign = cls(runs.cut(DEPTH).compact(), qrels, tuple(groups), judging, search, deep)
        for place in np.flatnonzero(deeper).tolist():
            campaign.notes.add(_CUT, runs.names[place])
        return campaign

    @cached_property
    def group_names(self) -> tuple[str, ...]:
        """The groups, ascending."""
        return tuple(sorted(set(self.groups)))

    @cached_property
    def group_of_run(self) -> NDArray[np.int64]:
        """Each run's place in `group_names`."""
        places = {name: place for place, name in enumerate(self.group_names)}
        return np.array([places[name] for name in self.groups], dtype=np.int64)

    @cached_property
    def judgments(self) -> Judgments:
        """The judgments in the codes of the runs."""
        return Judgments.coded(self.qrels, self.runs)

    @property
    def whole(self) -> RunSet:
        """The runs as deep as they were given."""
        return self.runs if self.deep is None else self.deep

    @cached_property
    def topic_of_line(self) -> NDArray[np.int64]:
        """Each line's topic in the runs."""
        return self.runs.segment.astype(np.int64) // len(self.runs)

    @cached_property
    def group_of_line(self) -> NDArray[np.int64]:
        """Each line's group."""
        return self._group_of_line(self.runs)

    def _group_of_line(self, runs: RunSet) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self.group_of_run[runs.segment % np.int32(len(runs))]
        return found

    def presence(self, depth: int) -> NDArray[np.bool_]:
        """Which group (row) has which document (column) in a top `depth`, whatever the topic.

        The documents are those of the runs as `reaching` gives them.
        """
        if depth not in self._presence:
            _check_depth(depth)
            runs = self.reaching(depth)
            lines = runs.rank <= depth
            groups = self.group_of_line if runs is self.runs else self._group_of_line(runs)
            found = np.zeros((len(self.group_names), len(runs.docs)), dtype=np.bool_)
            found[groups[lines], runs.doc[lines]] = True
            self._presence[depth] = found
        return self._presence[depth]

    def reaching(self, depth: int) -> RunSet:
        """The runs that are evaluated, or the whole ones where these have more of a top `depth`."""
        return self.runs if depth <= DEPTH else self.whole

    def found(self, runs: RunSet, documents: Documents) -> Found:
        """Documents of some runs as those of the campaign and others."""
        if runs is self.runs:
            return Found(documents)
        known, inside = self._known, np.zeros(len(self.runs.docs), dtype=np.bool_)
        inside[known[documents & (known >= 0)]] = True
        return Found(inside, tuple(runs.docs[place] for place in np.flatnonzero(documents & (known < 0)).tolist()))

    @cached_property
    def _known(self) -> NDArray[np.int64]:
        """The place of each document of the whole runs among those that are evaluated, -1 without one."""
        places = {doc: place for place, doc in enumerate(self.runs.docs)}
        return np.array([places.get(doc, -1) for doc in self.whole.docs], dtype=np.int64)

    @cached_property
    def judgment_pool(self) -> NDArray[np.bool_]:
        """Which group (row) has which judgment (column) in its top 10, by the campaign's way of judging."""
        if self.judging == "topic_free":
            known = self.judgments.doc >= 0
            pooled = np.zeros((len(self.group_names), len(known)), dtype=np.bool_)
            pooled[:, known] = self.presence(JUDGMENT_DEPTH)[:, self.judgments.doc[known]]
            return pooled
        return self._retrieved_judgments(JUDGMENT_DEPTH)

    @cached_property
    def retrieved_judgments(self) -> NDArray[np.bool_]:
        """Which group (row) retrieves which judgment (column) for its topic, at any rank."""
        return self._retrieved_judgments(DEPTH)

    def _retrieved_judgments(self, depth: int) -> NDArray[np.bool_]:
        lines = np.flatnonzero(self.runs.rank <= depth)
        place = self.judgments.place(self.topic_of_line[lines], self.runs.doc[lines])
        found = np.zeros((len(self.group_names), len(self.judgments.doc)), dtype=np.bool_)
        judged = place >= 0
        found[self.group_of_line[lines[judged]], place[judged]] = True
        return found

    def without(self, group: int | None = None) -> View:
        """What a sampler may see when one group is left out, or all of it."""
        return View(self, group)

    def top(self, run: str, depth: int) -> Found:
        """The top `depth` of a run for any topic, or of a ranker where no run has the name."""
        if (run, depth) not in self._found:
            _check_depth(depth)
            self._found[run, depth] = self._top_of_run(run, depth) if run in self.runs.names else self._rank(run, depth)
        return self._found[run, depth]

    def _top_of_run(self, run: str, depth: int) -> Found:
        runs = self.reaching(depth)
        lines = runs.segment % np.int32(len(runs)) == runs.names.index(run)
        documents = np.zeros(len(runs.docs), dtype=np.bool_)
        documents[runs.doc[lines & (runs.rank <= depth)]] = True
        return self.found(runs, documents)

    def _rank(self, ranker: str, depth: int) -> Found:
        if not is_ranker(ranker):
            raise UnknownNameError("run or ranker", ranker, (*self.runs.names, *RANKERS.names()))
        if self.search is None:
            raise InputError(
                f"{ranker!r} is a ranker and none of the {len(self.runs)} runs; to compute its ranking, give a "
                "--collection with documents and queries, or else the name of a run."
            )
        run = self.search(ranker, depth)
        docs = {line.doc_id for topic in self.runs.topics for line in run.ranking(topic)}
        if not docs:
            raise InputError(
                f"{ranker!r} finds nothing for the {len(self.runs.topics)} topics of the runs ({self.runs.topics[0]}, "
                "…); are these runs for the queries of the collection?"
            )
        for topic in self.runs.topics:
            if not run.ranking(topic):
                self.notes.add(f"topics of the runs for which {ranker} finds nothing in the collection", topic)
        inside = np.fromiter((doc in docs for doc in self.runs.docs), dtype=np.bool_, count=len(self.runs.docs))
        return Found(inside, tuple(sorted(docs.difference(self.runs.docs))))


def _check_depth(depth: int) -> None:
    if depth < 1:
        raise InputError(f"a sampler has depth {depth}, which gives no documents; it should be 1 or more.")


class Found(NamedTuple):
    """Documents of the campaign, and ids of others, ascending."""

    inside: Documents
    outside: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Judgments:
    """Judgments sorted by topic and document; -1 stands for a topic or document that no run has."""

    topic: NDArray[np.int64]
    doc: NDArray[np.int64]
    relevance: NDArray[np.int32]
    documents: int

    @classmethod
    def coded(cls, qrels: Qrels, runs: RunSet) -> Judgments:
        """Code judgments by the topics and documents of the runs."""
        topics = {name: place for place, name in enumerate(runs.topics)}
        docs = {name: place for place, name in enumerate(runs.docs)}
        topic = np.array([topics.get(name, -1) for name in qrels.topics], dtype=np.int64)[qrels.topic]
        doc = np.array([docs.get(name, -1) for name in qrels.docs], dtype=np.int64)[qrels.doc]
        return cls(topic, doc, qrels.relevance, len(runs.docs))

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        known = np.flatnonzero((self.topic >= 0) & (self.doc >= 0))
        keys = self.topic[known] * self.documents + self.doc[known]
        order = np.argsort(keys)
        return keys[order], known[order]

    def place(self, topic: NDArray[np.int64], doc: NDArray[np.int32]) -> NDArray[np.int64]:
        """The judgment of each (topic, document) pair, -1 where there is none."""
        keys, rows = self._sorted
        wanted = topic * self.documents + doc
        if not len(keys):
            return np.full(len(wanted), -1, dtype=np.int64)
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[found] == wanted, rows[found], -1)


@dataclass(frozen=True, eq=False)
class View:
    """A campaign without one group: all that a sampler may look at."""

    campaign: Campaign
    group: int | None

    def _others(self, by_group: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """What any group but the left-out one has."""
        if self.group is None:
            return np.asarray(by_group.any(axis=0))
        return np.asarray(by_group.sum(axis=0) - by_group[self.group] > 0)

    def pooled(self, depth: int) -> Documents:
        """Documents in the top `depth` of a visible run for any topic."""
        return self.pool(depth).inside

    def pool(self, depth: int) -> Found:
        """The same with those that no run has as deep as it is evaluated."""
        return self.campaign.found(self.campaign.reaching(depth), self._others(self.campaign.presence(depth)))

    def beyond(self, depth: int) -> tuple[str, ...]:
        """The latter alone, ascending."""
        return () if self.campaign.reaching(depth) is self.campaign.runs else self.pool(depth).outside

    def judged(self) -> Documents:
        """Judged documents that a visible run retrieves."""
        judgments, found = self.campaign.judgments, self.none()
        if self.campaign.judging == "topic_free":
            found[judgments.doc[judgments.doc >= 0]] = True
            return found & self.pooled(DEPTH)
        found[judgments.doc[self._others(self.campaign.retrieved_judgments)]] = True
        return found

    def kept_judgments(self) -> NDArray[np.bool_]:
        """Which judgments would exist: those in the top-10 pool of the visible runs."""
        return self._others(self.campaign.judgment_pool)

    def top(self, run: str, depth: int) -> Found:
        """The top `depth` of one run or ranker for any topic; it may belong to the left-out group."""
        return self.campaign.top(run, depth)

    def none(self) -> Documents:
        """No document."""
        return np.zeros(len(self.campaign.runs.docs), dtype=np.bool_)
