"""Rankings that no run file has: computed by a ranker of the package from the collection, and kept in the cache."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ringtrue import cache
from ringtrue.data.collection import Collection
from ringtrue.data.runs import Run, RunSet
from ringtrue.data.ties import Ties
from ringtrue.provenance import version
from ringtrue.retrieval.catalog import RANKERS
from ringtrue.retrieval.pipeline import parse_ranker
from ringtrue.retrieval.ranker import Ranker

_FORMAT = 1


@dataclass(frozen=True, eq=False)
class FirstStage:
    """Searches a collection for samplers that name a ranker where others name a run."""

    collection: Collection
    ties: Ties = Ties.ASC
    say: Callable[[str], None] = lambda message: None

    def __call__(self, spec: str, depth: int) -> Run:
        """The best `depth` documents for each query; semicolons stand for the commas that part samplers' options."""
        ranker = _deep_enough(parse_ranker(spec.replace(";", ",")), depth)
        parts = [self.collection.fingerprint_of(part) for part in ("documents", "queries")]
        key = cache.key(_FORMAT, version("ringtrue"), ranker, depth, *parts)
        folder = cache.entry("rankings", key, lambda draft: self._search(ranker, depth, draft))
        return RunSet.read([folder / "run.trec"], self.ties, cached=False).run(0)

    def _search(self, ranker: Ranker, depth: int, folder: Path) -> None:
        self.say(f"searching the collection with {ranker!r}")
        run = ranker.rank(self.collection, self.collection.queries).cut(depth)
        # names of pipelines have blanks, which no column of a run file can hold
        text = dataclasses.replace(run, name="run").to_trec()
        (folder / "run.trec").write_text(text, encoding="utf-8", newline="\n")


def is_ranker(spec: str) -> bool:
    """Whether a name begins as that of a ranker does."""
    return spec.split(">>")[0].split("%")[0].split(":")[0].strip() in RANKERS.table


def _deep_enough(ranker: Ranker, depth: int) -> Ranker:
    """The same ranker with at least that many documents, where it has such a limit."""
    if dataclasses.is_dataclass(ranker) and not isinstance(ranker, type) and getattr(ranker, "depth", depth) < depth:
        return dataclasses.replace(ranker, depth=depth)
    return ranker
