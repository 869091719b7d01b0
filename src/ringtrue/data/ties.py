"""The one place that orders a ranking.

Scores descend; what equal scores do is a choice that changes published numbers, so it has a name that is
stated in every output.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray


class Ties(StrEnum):
    """What decides between documents with the same score."""

    ASC = "asc"
    DESC = "desc"
    TREC = "trec"

    @property
    def rule(self) -> str:
        """The rule in words."""
        return _RULES[self]


_RULES = {
    Ties.ASC: "score descending, then document id ascending",
    Ties.DESC: "score descending, then document id descending",
    Ties.TREC: "score as 32-bit float descending, then document id descending (trec_eval)",
}


def comparable(score: NDArray[np.float64], ties: Ties) -> NDArray[np.floating]:
    """The scores as the rule sees them."""
    return score.astype(np.float32) if ties is Ties.TREC else score


def rank_order(
    segment: NDArray[np.int32], doc: NDArray[np.int32], score: NDArray[np.float64], ties: Ties
) -> NDArray[np.intp] | None:
    """The permutation that puts each segment's lines in order, or None where they are in order already.

    `segment` must ascend; `doc` codes must ascend with the document ids. Only segments with a line out of
    place are sorted, since most run files come sorted.
    """
    seen = comparable(score, ties)
    same = segment[1:] == segment[:-1]
    later_id_first = doc[:-1] > doc[1:] if ties is Ties.ASC else doc[:-1] < doc[1:]
    misplaced = same & ((seen[:-1] < seen[1:]) | ((seen[:-1] == seen[1:]) & later_id_first))
    if not misplaced.any():
        return None
    touched = np.zeros(int(segment[-1]) + 1, dtype=np.bool_)
    touched[segment[:-1][misplaced]] = True
    rows = np.flatnonzero(touched[segment])
    tie_key = doc[rows] if ties is Ties.ASC else -doc[rows]
    order = np.arange(len(doc), dtype=np.intp)
    order[rows] = rows[np.lexsort((tie_key, -seen[rows], segment[rows]))]
    return order
