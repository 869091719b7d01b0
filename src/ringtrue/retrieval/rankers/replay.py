"""A run file as a ranker: what another system returned, wherever it ran.

A run knows its queries by their ids alone, so other forms of a query are ranked as the query itself. Documents that the
collection has not, as in a subsample, are left out; topics that the run has not have an empty ranking. Both are counted
in the collection's notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ringtrue.data.formats.streams import check_file
from ringtrue.data.runs import Run
from ringtrue.retrieval.noting import note_once
from ringtrue.retrieval.pipeline import Composable

if TYPE_CHECKING:
    from ringtrue.data.collection import Collection
    from ringtrue.data.records import Query


@dataclass(frozen=True, repr=False)
class Replay(Composable):
    """The rankings of the file `run`; behind another ranker, its candidates with the scores of the file."""

    run: str

    family: ClassVar[str] = "replay"

    def rank(self, collection: Collection, queries: Sequence[Query], candidates: Run | None = None) -> Run:
        """Look up the rankings of the queries."""
        path = check_file(Path(self.run).expanduser())
        changed = path.stat().st_mtime_ns
        run = _read(path, changed)
        known = _known(collection, path, changed) if collection.has_documents else None
        missing = {query.query_id for query in queries if not run.ranking(query.query_id)}
        note_once(collection, f"topics that {path.name} has not", missing, "topic")
        results: dict[str, list[tuple[str, float]]] = {}
        for query in queries:
            wanted = None if candidates is None else {line.doc_id for line in candidates.ranking(query.query_id)}
            kept = [
                (line.doc_id, line.score)
                for line in run.ranking(query.query_id)
                if (known is None or line.doc_id in known) and (wanted is None or line.doc_id in wanted)
            ]
            if kept:
                results[query.query_id] = kept
        return Run.from_results(repr(self), results)


@lru_cache(maxsize=4)
def _read(path: Path, changed: int) -> Run:
    return Run.read(path)


@lru_cache(maxsize=4)
def _known(collection: Collection, path: Path, changed: int) -> frozenset[str]:
    """The documents of the run that the collection has."""
    docs = {line.doc_id for ranking in _read(path, changed).rankings.values() for line in ranking}
    known = frozenset(document.doc_id for document in collection.documents() if document.doc_id in docs)
    note_once(collection, f"documents of {path.name} that are not in the collection", docs - known, "document")
    return known
