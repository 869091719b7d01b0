"""Leave-one-group-out for measures that have no kernel: ir_measures scores every run of every cell.

A hundred times slower than a kernel or more, for each run is scored four times a group.
"""

from __future__ import annotations

import numpy as np
from ir_measures import Measure
from numpy.typing import NDArray

from ringtrue.evaluation import kernels
from ringtrue.evaluation.measures import by_ir_measures
from ringtrue.subsampling.campaign import Campaign


def score_cells(
    campaign: Campaign, corpora: NDArray[np.bool_], kept: tuple[NDArray[np.bool_], ...], measure: Measure
) -> NDArray[np.float64]:
    """Values with the axes view, left-out group, run, topic; `kept` are the judgments (group, row) of each view.

    The views are plain with each of `kept`, then condensed with each.
    """
    shape = (2 * len(kept), len(corpora), len(campaign.runs), len(campaign.qrels.topics))
    values = np.full(shape, float(measure.DEFAULT))
    place = campaign.judgments.place(campaign.topic_of_line, campaign.runs.doc)
    for group, corpus in enumerate(corpora):
        seen = (campaign.group_of_line != group) | corpus[campaign.runs.doc]
        for view, judgments in enumerate(kept):
            judged = (place >= 0) & judgments[group, place]
            values[view, group] = _score(campaign, seen, judgments[group], measure)
            values[view + len(kept), group] = _score(campaign, seen & judged, judgments[group], measure)
    return values


def score_whole(campaign: Campaign, kept: NDArray[np.bool_], measure: Measure) -> NDArray[np.float64]:
    """Values (run, topic) of the whole runs with the kept judgments."""
    return _score(campaign, np.ones(len(campaign.runs.doc), dtype=np.bool_), kept, measure)


def _score(
    campaign: Campaign, lines: NDArray[np.bool_], kept: NDArray[np.bool_], measure: Measure
) -> NDArray[np.float64]:
    runs, depth = campaign.runs.keep(lines), kernels.depth(measure)
    if depth is not None:
        runs = runs.cut(depth)
    values: NDArray[np.float64] = by_ir_measures(runs, campaign.qrels.keep(kept), [measure])[0]
    return values
