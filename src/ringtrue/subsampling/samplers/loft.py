"""LOFT: relevant documents first, then random ones up to a size (after Lee et al. 2024, as the study builds it)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ringtrue.subsampling.campaign import Documents, View
from ringtrue.subsampling.samplers.random_documents import MOST, fill


@dataclass(frozen=True)
class Loft:
    """Relevant documents of the visible judgments, one a topic and round, then random ones until `size`.

    The study takes an arbitrary document of each topic, which changes from run to run; here it is the next by id. The
    random ones are drawn from a list of `most`, so that a larger `size` cannot be reached with them alone.
    """

    size: int = 1000
    seed: int = 42
    most: int = MOST

    def sample(self, view: View) -> Documents:
        """Mark `size` documents, or fewer where there are no more."""
        judgments = view.campaign.judgments
        rows = np.flatnonzero(view.kept_judgments() & (judgments.relevance > 0) & (judgments.doc >= 0))
        # the topics of the judgments: those that no run has are one and the same to the runs
        topic, doc = view.campaign.qrels.topic[rows], judgments.doc[rows]
        order = np.lexsort((doc, topic))
        topic, doc = topic[order], doc[order]
        first = np.searchsorted(topic, topic)
        turns = doc[np.lexsort((topic, np.arange(len(topic)) - first))]
        _, earliest = np.unique(turns, return_index=True)
        chosen = view.none()
        chosen[turns[np.sort(earliest)][: self.size]] = True
        return fill(chosen, self.size, self.seed, self.most)
