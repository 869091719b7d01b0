"""Pools of runs, and how much of a ranking is judged.

A pool is a set of (topic, document) pairs, kept as a mask over a RunSet's lines or as sorted integer keys.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ringtrue.data.qrels import Qrels
from ringtrue.data.runs import RunSet
from ringtrue.data.ties import comparable


def pair_keys(runs: RunSet) -> NDArray[np.int64]:
    """For each line of the runs its (topic, document) pair as one number."""
    topic = runs.segment // np.int32(len(runs))
    return topic.astype(np.int64) * len(runs.docs) + runs.doc


def pool(runs: RunSet, depth: int) -> NDArray[np.int64]:
    """The pairs in the top `depth` of any run: sorted keys without repetition."""
    return np.unique(pair_keys(runs)[runs.rank <= depth])


def judged_lines(runs: RunSet, qrels: Qrels) -> NDArray[np.bool_]:
    """Which lines of the runs are judged, whatever the grade."""
    topics = {name: code for code, name in enumerate(runs.topics)}
    docs = {name: code for code, name in enumerate(runs.docs)}
    keys = [
        topics[judgment.query_id] * len(runs.docs) + docs[judgment.doc_id]
        for judgment in qrels
        if judgment.query_id in topics and judgment.doc_id in docs
    ]
    return np.isin(pair_keys(runs), np.array(keys, dtype=np.int64))


def condensed(runs: RunSet, qrels: Qrels) -> RunSet:
    """The runs without unjudged documents (Sakai 2007); grade 0 and negative grades are judgments."""
    return runs.keep(judged_lines(runs, qrels))


def tied_lines(runs: RunSet) -> NDArray[np.bool_]:
    """Which lines share their score with another line of the same ranking, as the tie rule compares scores."""
    seen = comparable(runs.score, runs.ties)
    equal = (seen[1:] == seen[:-1]) & (runs.segment[1:] == runs.segment[:-1])
    tied = np.zeros(len(seen), dtype=np.bool_)
    tied[1:] |= equal
    tied[:-1] |= equal
    return tied
