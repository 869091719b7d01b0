"""Rankings of the same queries written in many ways, by rankers that run here.

Each ranker ranks the original queries once and then, for each method, all of its variations together: the index and the
models are those of the first call. In re-ranker-only mode the first stage of a pipeline sees the original query alone,
and the later stages see the variation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ringtrue.data.collection import Collection
from ringtrue.data.records import Query, ScoredDoc
from ringtrue.data.runs import Run
from ringtrue.errors import InputError, MissingError
from ringtrue.retrieval.pipeline import Cut, Pipeline
from ringtrue.retrieval.ranker import Ranker
from ringtrue.robustness.labels import in_paper_order
from ringtrue.robustness.validity import Basis, Checked

DEPTH = 1000


class Slot(NamedTuple):
    """One variation a query: the first, second, … that a method makes of it."""

    category: str
    method: str
    number: int = 1


class MethodCounts(NamedTuple):
    """What there is to a method, over the queries that are evaluated."""

    category: str
    method: str
    variations: int
    valid: int
    invalid: int
    copies: int
    missing: int


@dataclass(frozen=True)
class Task:
    """What has to be ranked: the queries, and for each slot the valid variations by query."""

    queries: tuple[Query, ...]
    texts: Mapping[Slot, Mapping[str, str]]
    counts: tuple[MethodCounts, ...]
    unjudged: int = 0

    @property
    def slots(self) -> tuple[Slot, ...]:
        """All slots, methods in the paper's order."""
        return tuple(self.texts)

    @property
    def methods(self) -> tuple[tuple[str, str], ...]:
        """All (category, method) pairs, in the paper's order."""
        return tuple((one.category, one.method) for one in self.counts)

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """The original texts."""
        return {query.query_id: query.title for query in self.queries}


class Failure(NamedTuple):
    """A query that a ranker could not do; without a slot it is the original query."""

    ranker: str
    query_id: str
    slot: Slot | None
    text: str
    error: str


@dataclass(frozen=True)
class Ranked:
    """What one system returned: for the queries, and for each slot's variations under the same query ids."""

    name: str
    original: Run
    varied: Mapping[Slot, Run]
    failures: tuple[Failure, ...] = ()


def make_task(queries: Sequence[Query], judged: Sequence[str], checked: Sequence[Checked]) -> Task:
    """Sort checked variations into slots; queries without judgments are counted and left out."""
    known = set(judged)
    kept = tuple(query for query in queries if query.query_id in known)
    if not kept:
        raise InputError("no query has judgments: robustness is measured on judged queries (--qrels FILE).")
    ids = {query.query_id for query in kept}
    rows = [one for one in checked if one.variation.query_id in ids]
    if not rows:
        raise InputError("no variations of judged queries: make some with `ringtrue robustness vary`.")
    methods = in_paper_order((one.variation.category, one.variation.method) for one in rows)
    by_method = {pair: [one for one in rows if one.variation[1:3] == pair] for pair in methods}
    texts: dict[Slot, dict[str, str]] = {}
    for pair in methods:
        texts |= _slots(pair, by_method[pair])
    counts = tuple(_count(pair, by_method[pair], len(kept)) for pair in methods)
    return Task(kept, texts, counts, len(queries) - len(kept))


def _slots(method: tuple[str, str], rows: Sequence[Checked]) -> dict[Slot, dict[str, str]]:
    """The n-th valid variation of each query makes the n-th slot; the first is there also where it is empty."""
    found: dict[Slot, dict[str, str]] = {Slot(*method): {}}
    numbers: dict[str, int] = {}
    for one in rows:
        query_id, text = one.variation.query_id, one.variation.variation
        if one.valid and text is not None:
            numbers[query_id] = numbers.get(query_id, 0) + 1
            found.setdefault(Slot(*method, numbers[query_id]), {})[query_id] = text
    return found


def _count(method: tuple[str, str], rows: Sequence[Checked], queries: int) -> MethodCounts:
    """Queries by whether one of their variations is valid, a changed text at least, a copy, or nothing."""
    valid = {one.variation.query_id for one in rows if one.valid}
    changed = {one.variation.query_id for one in rows if one.basis not in (Basis.MISSING, Basis.COPY)} - valid
    copies = {one.variation.query_id for one in rows if one.basis is Basis.COPY} - valid - changed
    variations = sum(one.basis is not Basis.MISSING for one in rows)
    missing = queries - len(valid) - len(changed) - len(copies)
    return MethodCounts(*method, variations, len(valid), len(changed), len(copies), missing)


def rank_task(
    ranker: Ranker,
    collection: Collection,
    task: Task,
    *,
    rerank_only: bool = False,
    depth: int = DEPTH,
    say: Callable[[str], None] = lambda message: None,
) -> Ranked:
    """Rank the queries and their variations; a query that fails is recorded, the others go on.

    A ranker that fails on every original query is an error.
    """
    work = _Work(repr(ranker), collection, say)
    first, ranker = split_first_stage(ranker) if rerank_only else (None, ranker)
    candidates = None if first is None else work.rank(first, task.queries, None)
    original = work.rank(ranker, task.queries, candidates)
    if len({failure.query_id for failure in work.failures}) == len(task.queries):
        raise InputError(f"ranker {work.name!r} fails on every query, on the first with {work.failures[0].error}")
    varied = {
        slot: work.rank(ranker, [Query(*item) for item in texts.items()], candidates, slot).cut(depth)
        for slot, texts in task.texts.items()
    }
    return Ranked(work.name, original.cut(depth), varied, tuple(work.failures))


@dataclass(frozen=True)
class _Work:
    """One system's rankings in the making."""

    name: str
    collection: Collection
    say: Callable[[str], None]
    failures: list[Failure] = field(default_factory=list)

    def rank(self, ranker: Ranker, queries: Sequence[Query], candidates: Run | None, slot: Slot | None = None) -> Run:
        """Rank all queries together and, where that fails, one by one, to learn which of them it was."""
        self.say(f"{self.name}: {slot.method if slot else 'original queries'}")
        if not queries:
            return Run(self.name, {})
        try:
            return ranker.rank(self.collection, queries, candidates)
        except MissingError:
            raise
        except Exception:  # any code may be behind a ranker, and it may raise anything
            found: dict[str, tuple[ScoredDoc, ...]] = {}
        for query in queries:
            try:
                found |= ranker.rank(self.collection, [query], candidates).rankings
            except Exception as error:
                self.failures.append(Failure(self.name, query.query_id, slot, query.title, _words(error)))
        return Run(self.name, dict(sorted(found.items())))


def _words(error: Exception) -> str:
    """An error in one line."""
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def split_first_stage(ranker: Ranker) -> tuple[Ranker, Ranker]:
    """A pipeline's first stage, and the rest."""
    if not isinstance(ranker, Pipeline) or len(ranker.stages) < 2:
        raise InputError(
            f"ranker {ranker!r} has one stage: re-ranking alone can be looked at where there is a pipeline, "
            "FIRST % DEPTH >> RERANKER."
        )
    rest = ranker.stages[1:]
    return ranker.stages[0], rest[0] if len(rest) == 1 else Pipeline(rest)


def at_depth(ranker: Ranker, depth: int) -> Ranker:
    """The same pipeline with the best `depth` documents of its first stage."""
    first, rest = split_first_stage(ranker)
    while isinstance(first, Cut):
        first = first.ranker
    return Pipeline((Cut(first, depth), *(rest.stages if isinstance(rest, Pipeline) else (rest,))))
