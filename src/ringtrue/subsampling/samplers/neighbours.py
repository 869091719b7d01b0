"""Another sample with the corpus-graph neighbours of the relevant documents, which runs may have missed.

The study has corpus graphs in an analysis of completeness only; as a sampler they are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ringtrue.data.formats.streams import check_file
from ringtrue.errors import InputError
from ringtrue.subsampling.campaign import Campaign, Documents, View
from ringtrue.subsampling.graph import Graph, neighbours, read_graph

if TYPE_CHECKING:
    from ringtrue.subsampling.samplers import Sampler


@dataclass(frozen=True)
class Neighbours:
    """The sample of `base`, and the `k` nearest in the file `graph` of each relevant document of the visible judgments.

    `base` is any sampler, with semicolons in place of commas: `neighbours:k=15,graph=FILE,base=loft:size=1000;seed=7`.
    """

    k: int = 15
    graph: Path | None = None
    base: str = "judged"

    def sample(self, view: View) -> Documents:
        """Mark them; neighbours that no run retrieves cannot be marked, `outside` has them."""
        chosen = self._base().sample(view).copy()
        near = _table(self._open(), view.campaign, self.k)[_relevant(view)]
        chosen[near[near >= 0]] = True
        return chosen

    def outside(self, view: View) -> tuple[str, ...]:
        """The neighbours that no run retrieves, ascending: part of the sample, but not of the campaign."""
        from ringtrue.subsampling.samplers import outside

        docs = view.campaign.runs.docs
        relevant = [docs[doc] for doc in _relevant(view).tolist()]
        found = neighbours(self._open(), relevant, self.k)
        return tuple(sorted(set(found).difference(docs).union(outside(self._base(), view))))

    def _base(self) -> Sampler:
        from ringtrue.subsampling.samplers import SAMPLERS

        return SAMPLERS.parse(self.base.replace(";", ","))

    def _open(self) -> Graph:
        if self.graph is None:
            raise InputError(f"sampler {self!r} needs a corpus graph: give graph=FILE, built from the corpus.")
        return _graph(self.graph, check_file(self.graph).stat().st_mtime_ns)


def _relevant(view: View) -> NDArray[np.int64]:
    """The relevant documents of the judgments that would exist, ascending."""
    judgments = view.campaign.judgments
    kept = view.kept_judgments() & (judgments.relevance > 0) & (judgments.doc >= 0)
    return np.unique(judgments.doc[kept])


@lru_cache(maxsize=2)
def _graph(file: Path, changed: int) -> Graph:
    return read_graph(file)


@lru_cache(maxsize=2)
def _table(graph: Graph, campaign: Campaign, k: int) -> NDArray[np.int32]:
    """The neighbours of each document of a campaign: the same for every group, so made once."""
    relevant = [campaign.runs.docs[doc] for doc in _relevant(campaign.without()).tolist()]
    if relevant and not graph.rows.keys() & set(relevant):
        raise InputError(
            f"the corpus graph has none of the {len(relevant):,} relevant documents of the runs ({relevant[0]}, …); is "
            "it of another collection? `ringtrue subsample graph` makes one."
        )
    return graph.recoded(campaign.runs.docs, k)
