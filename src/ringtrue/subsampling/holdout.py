"""Leave-one-group-out: how would a group have fared on a corpus that was sampled without its runs.

For each group the corpus is sampled from the other groups' runs, and only the left-out runs lose the documents outside
of it. Judgments *without* post judgments are those in the top-10 pool of the others; *with* them, also those in the
top 10 of the left-out runs as filtered. All systems are scored with both, plain and condensed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from ir_measures import Measure
from numpy.typing import NDArray

from ringtrue.errors import InputError
from ringtrue.evaluation import kernels
from ringtrue.evaluation.kernels import ABSENT, UNJUDGED, Grades
from ringtrue.evaluation.measures import check_mean
from ringtrue.subsampling.campaign import JUDGMENT_DEPTH, Campaign
from ringtrue.subsampling.other_measures import score_cells, score_whole
from ringtrue.subsampling.rankings import CellRankings, grade, judged, topics
from ringtrue.subsampling.samplers import Sampler, outside

VIEWS = ("without", "with", "condensed_without", "condensed_with")


class EmptySampleError(InputError):
    """A sampler has no document for some left-out group."""

    def __init__(self, sampler: str, group: str) -> None:
        """Name both as the user knows them."""
        super().__init__(
            f"sampler {sampler!r} gives no document when group {group!r} is left out; name another, or none, to try "
            "the usual ones that have some."
        )
        self.group = group


@dataclass(frozen=True, eq=False)
class Cells:
    """Per-topic values of every system in every cell of one sampler.

    `values` has the axes view, left-out group, run, topic of the judgments; `retrieved` says for which group, run and
    topic the run still has a document. `unjudged` is the share of each left-out run's top that has no judgment, down to
    the measure's cutoff, without and with post judgments; `judgments` counts those that are kept, without and with, for
    each group.
    """

    values: NDArray[np.float64]
    retrieved: NDArray[np.bool_]
    corpus_sizes: NDArray[np.int64]
    judgments: NDArray[np.int64]
    unjudged: NDArray[np.float64]


def leave_one_group_out(campaign: Campaign, sampler: Sampler, measure: Measure) -> Cells:
    """Score all systems in the cells of one sampler."""
    check_measure(measure)
    compute, depth, top = kernels.kernel(measure), kernels.depth(measure), unjudged_depth(measure)
    corpora = _corpora(campaign, sampler)
    without = np.stack([campaign.without(group).kept_judgments() for group in range(len(corpora))])
    post = without | _topic_free_post(campaign, corpora) if campaign.judging == "topic_free" else without.copy()
    shape = (len(corpora), len(campaign.runs), len(campaign.qrels.topics))
    values = np.full((len(VIEWS), *shape), float(measure.DEFAULT))
    retrieved = np.zeros(shape, dtype=np.bool_)
    unjudged = np.zeros((2, len(campaign.runs)))
    own = campaign.group_of_run, np.arange(len(campaign.runs))
    for topic in (topic for topic in topics(campaign) if topic.number >= 0):
        filtered = topic.filtered(corpora)
        cells = CellRankings(topic.places(topic.docs), topic.places(filtered), campaign.group_of_run, len(corpora))
        if campaign.judging == "topic_aware":
            _add_post(post[:, topic.rows], cells)
        for view, kept in enumerate((without[:, topic.rows], post[:, topic.rows])):
            grades = grade(cells.plain(depth), kept, topic.relevance)
            unjudged[view] += _unjudged_share(grades[own][:, :top])
            if compute is not None:
                known = judged(kept, topic.relevance)[:, None, :]
                condensed = cells.condensed(kept, topic.relevance, depth)
                values[view, :, :, topic.number] = compute(measure, grades, known)
                values[view + 2, :, :, topic.number] = compute(measure, condensed, known)
        retrieved[:, :, topic.number] = topic.docs[:, 0] >= 0
        retrieved[(*own, topic.number)] = filtered[:, 0] >= 0
    if compute is None:
        values = score_cells(campaign, corpora, (without, post), measure)
    topics_left = np.maximum(retrieved[own].sum(axis=1), 1)
    counts = np.stack([without.sum(axis=1), post.sum(axis=1)])
    return Cells(values, retrieved, _sizes(campaign, sampler, corpora), counts, unjudged / topics_left)


def truth(campaign: Campaign, measure: Measure, *, pooled: bool) -> NDArray[np.float64]:
    """Per-topic values (run, topic) of the whole runs; judgments cut to the top-10 pool of all runs, or not cut."""
    check_measure(measure)
    compute = kernels.kernel(measure)
    kept = campaign.without().kept_judgments() if pooled else np.ones(len(campaign.judgments.doc), dtype=np.bool_)
    if compute is None:
        return score_whole(campaign, kept, measure)
    values = np.full((len(campaign.runs), len(campaign.qrels.topics)), float(measure.DEFAULT))
    for topic in topics(campaign):
        if topic.number >= 0:
            here = kept[None, topic.rows]
            places = topic.places(topic.docs[:, : kernels.depth(measure)])
            grades = grade(places[None], here, topic.relevance)[0]
            values[:, topic.number] = compute(measure, grades, judged(here[0], topic.relevance))
    return values


def why_not(measure: Measure) -> str:
    """Why a measure cannot be used; empty where it can."""
    if measure.params.get("judged_only"):
        return f"leave-one-group-out cannot use {measure}: it computes condensed lists by itself; leave judged_only out"
    return ""


def check_measure(measure: Measure) -> None:
    """Raise for a measure that cannot be used."""
    check_mean(measure)
    if reason := why_not(measure):
        raise InputError(f"{reason}.")


def unjudged_depth(measure: Measure) -> int:
    """Down to which rank unjudged documents are counted: the measure's cutoff, else 10."""
    return kernels.depth(measure) or JUDGMENT_DEPTH


def _corpora(campaign: Campaign, sampler: Sampler) -> NDArray[np.bool_]:
    """The corpus (row) of each group's cell."""
    corpora = np.stack([sampler.sample(campaign.without(group)) for group in range(len(campaign.group_names))])
    empty = np.flatnonzero(~corpora.any(axis=1))
    if len(empty):
        group = campaign.group_names[int(empty[0])]
        raise EmptySampleError(repr(sampler), group)
    return corpora


def _sizes(campaign: Campaign, sampler: Sampler, corpora: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The documents of each group's corpus, those that no run retrieves included."""
    beyond = [len(outside(sampler, campaign.without(group))) for group in range(len(corpora))]
    return np.asarray(corpora.sum(axis=1) + np.array(beyond, dtype=np.int64))


def _add_post(kept: NDArray[np.bool_], cells: CellRankings) -> None:
    """Mark in place the judgments of one topic in the top 10 of each left-out group's runs as filtered."""
    runs, ranks = np.nonzero(cells.own[:, :JUDGMENT_DEPTH] >= 0)
    kept[cells.group_of_run[runs], cells.own[runs, ranks]] = True


def _topic_free_post(campaign: Campaign, corpora: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The judgments of documents in the top 10 of each left-out group's runs as filtered, for any topic."""
    pooled = np.zeros_like(corpora)
    for topic in topics(campaign):
        top = topic.filtered(corpora)[:, :JUDGMENT_DEPTH]
        runs, ranks = np.nonzero(top >= 0)
        pooled[campaign.group_of_run[runs], top[runs, ranks]] = True
    doc = campaign.judgments.doc
    return np.asarray((doc >= 0) & pooled[:, doc])


def _unjudged_share(top: Grades) -> NDArray[np.float64]:
    """The share of each ranking without a judgment; 0 where nothing is left."""
    left = np.maximum((top > ABSENT).sum(axis=1), 1)
    return np.asarray((top == UNJUDGED).sum(axis=1) / left)
