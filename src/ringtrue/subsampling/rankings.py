"""The rankings of one topic as matrices: whole, and as they would be on each group's corpus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ringtrue.evaluation.kernels import ABSENT, UNJUDGED, Grades, condense
from ringtrue.subsampling.campaign import Campaign

Places = NDArray[np.int32]

_NO_JUDGMENT = -1
_NO_DOCUMENT = -2
_AHEAD = 32  # judged documents looked at beyond a cutoff before all of them are


@dataclass(frozen=True, eq=False)
class Topic:
    """A topic of the runs; `number` is its place in the judgments, -1 where it has none."""

    campaign: Campaign
    place: int
    number: int

    @cached_property
    def rows(self) -> slice:
        """Its judgments among all."""
        start, end = np.searchsorted(self.campaign.qrels.topic, (self.number, self.number + 1)).tolist()
        return slice(start, end)

    @cached_property
    def relevance(self) -> Grades:
        """The grades of its judgments."""
        return self.campaign.qrels.relevance[self.rows]

    @cached_property
    def docs(self) -> NDArray[np.int32]:
        """The document of each run (row) at each rank, -1 beyond the last."""
        runs = self.campaign.runs
        starts = runs.starts[self.place * len(runs) : (self.place + 1) * len(runs) + 1]
        lengths = np.diff(starts)
        ranks = np.arange(max(int(lengths.max()), 1))
        lines = np.minimum(starts[:-1, None] + ranks, len(runs.doc) - 1)
        return np.where(ranks < lengths[:, None], runs.doc[lines], np.int32(-1))

    def filtered(self, corpora: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Each run's ranking without the documents outside of the corpus (group, document) of its own group."""
        kept = (self.docs >= 0) & corpora[self.campaign.group_of_run[:, None], self.docs]
        return _closed_up(self.docs, kept, -1)

    def places(self, docs: NDArray[np.int32]) -> Places:
        """Each document's place among the topic's judgments, -1 without a judgment, -2 without a document."""
        look_up = np.full(len(self.campaign.runs.docs) + 1, _NO_JUDGMENT, dtype=np.int32)
        coded = self.campaign.judgments.doc[self.rows]
        known = np.flatnonzero(coded >= 0)
        look_up[coded[known]] = known
        look_up[-1] = _NO_DOCUMENT
        found: Places = look_up[docs]
        return found


def topics(campaign: Campaign) -> Iterator[Topic]:
    """All topics of the runs."""
    numbers = {name: number for number, name in enumerate(campaign.qrels.topics)}
    for place, name in enumerate(campaign.runs.topics):
        yield Topic(campaign, place, numbers.get(name, -1))


@dataclass(frozen=True, eq=False)
class CellRankings:
    """One topic in all cells of a sampler: run r in the cell of group g is whole unless r is of g."""

    whole: Places
    own: Places
    group_of_run: NDArray[np.int64]
    groups: int

    def plain(self, depth: int | None) -> Places:
        """Places down to a depth: group, run, rank."""
        return self._cells(self.whole[:, :depth], self.own[:, :depth])

    @cached_property
    def _judged(self) -> tuple[Places, Places]:
        whole, own = (_closed_up(some, some >= 0, _NO_DOCUMENT) for some in (self.whole, self.own))
        return whole, own

    def condensed(self, kept: NDArray[np.bool_], relevance: Grades, cutoff: int | None) -> Grades:
        """Grades of the judged documents alone: group, run, rank down to the cutoff."""
        whole, own = self._judged
        width = whole.shape[1] if cutoff is None else min(cutoff + _AHEAD, whole.shape[1])
        grades = condense(grade(self._cells(whole[:, :width], own[:, :width]), kept, relevance))
        if cutoff is None or width == whole.shape[1]:
            return grades
        beyond = self._cells(whole[:, width : width + 1], own[:, width : width + 1])[..., 0] >= 0
        short = (grades[..., cutoff - 1] == ABSENT) & beyond
        if short.any():  # further judged documents may move up
            everything = condense(grade(self._cells(whole, own), kept, relevance))
            grades[short] = everything[..., :width][short]
        return grades[..., :cutoff]

    def _cells(self, whole: Places, own: Places) -> Places:
        cells = np.broadcast_to(whole, (self.groups, *whole.shape)).copy()
        cells[self.group_of_run, np.arange(len(whole))] = own
        return cells


def grade(places: Places, kept: NDArray[np.bool_], relevance: Grades) -> Grades:
    """Grades at each rank (group, run, rank) when only the kept judgments (group, judgment) exist."""
    groups = len(kept)
    padded = np.empty((groups, len(relevance) + 2), dtype=np.int32)
    padded[:, :-2] = judged(kept, relevance)
    padded[:, _NO_JUDGMENT] = UNJUDGED
    padded[:, _NO_DOCUMENT] = ABSENT
    found: Grades = padded[np.arange(groups)[:, None, None], places]
    return found


def judged(kept: NDArray[np.bool_], relevance: Grades) -> Grades:
    """The grades of the kept judgments."""
    return np.where(kept, relevance, np.int32(UNJUDGED))


def _closed_up(values: NDArray[np.int32], keep: NDArray[np.bool_], empty: int) -> NDArray[np.int32]:
    """Each row's kept values, moved to its front."""
    rows, columns = np.nonzero(keep)
    first = np.searchsorted(rows, np.arange(len(values)))
    moved = np.full_like(values, empty)
    moved[rows, np.arange(len(rows)) - first[rows]] = values[rows, columns]
    return moved
