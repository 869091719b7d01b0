"""The seam of all retrieval: a ranker turns queries into a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ringtrue.data.collection import Collection
    from ringtrue.data.records import Query
    from ringtrue.data.runs import Run


class Ranker(Protocol):
    """Anything that ranks documents; its `repr` names it in reports, cache keys and provenance."""

    def rank(self, collection: Collection, queries: Sequence[Query], candidates: Run | None = None) -> Run:
        """Rank the whole collection, or only the candidates of each query where they are given.

        The text of a query is its title. A ranker may leave candidates out but never adds documents to them;
        the one exception is query expansion, which takes them as feedback and searches the collection again.
        """
