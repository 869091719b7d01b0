"""Rankings of the same queries written in many ways, by rankers that run here.

Each ranker ranks the original queries in one call and all variations in another, under numbers for ids since a query
has several: one index, one loading of models, one pass over the documents. Rankers that are not ringtrue's own, or may
know queries by their ids, have a call for each method instead. In re-ranker-only mode the first stage of a pipeline
sees the original query alone, and the later stages see the variation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ringtrue.data.collection import Collection
from ringtrue.data.records import Query, ScoredDoc
from ringtrue.data.runs import Run
from ringtrue.errors import InputError, MissingError, RingtrueError
from ringtrue.retrieval.catalog import RANKERS
from ringtrue.retrieval.pipeline import Cut, Pipeline
from ringtrue.retrieval.ranker import Ranker
from ringtrue.robustness.task import Slot, Task

DEPTH = 1000
_REPLAY = "replay"
_MAY_KNOW_IDS = (_REPLAY, "pyterrier")


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

    A ranker that fails on every original query is an error: its own where it says the same of all of them.
    """
    work = _Work(repr(ranker), collection, say)
    _check_sees_variations(ranker)
    first, ranker = split_first_stage(ranker) if rerank_only else (None, ranker)
    candidates = None if first is None else work.rank(first, task.queries, None)
    original = work.rank(ranker, task.queries, candidates)
    if len({failure.query_id for failure in work.failures}) == len(task.queries):
        raise InputError(f"ranker {work.name!r} fails on every query, on the first with {work.failures[0].error}")
    if not any(original.rankings.values()):
        raise InputError(
            f"ranker {work.name!r} returns no document for any of the {len(task.queries):,} queries; is it made for "
            "another collection?"
        )
    varied = work.together(ranker, task, candidates) if all(map(_reads_texts, _stages(ranker))) else None
    if varied is None:
        varied = {
            slot: work.rank(ranker, [Query(*item) for item in texts.items()], candidates, slot)
            for slot, texts in task.texts.items()
        }
    cut = {slot: run.cut(depth) for slot, run in varied.items()}
    return Ranked(work.name, original.cut(depth), cut, tuple(work.failures))


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
        except Exception as error:  # any code may be behind a ranker, and it may raise anything
            self.say(f"{self.name}: {_words(error)}; now query by query")
        return self._one_by_one(ranker, queries, candidates, slot)

    def together(self, ranker: Ranker, task: Task, candidates: Run | None) -> dict[Slot, Run] | None:
        """All variations in one call, each text once; None where it fails, so that it can be told of which query."""
        asked: dict[tuple[str, str], str] = {}
        for texts in task.texts.values():
            for query_id, text in texts.items():
                asked.setdefault(_asked(query_id, text, candidates), str(len(asked)))
        self.say(f"{self.name}: {len(asked)} variations")
        queries = [Query(number, text) for (_, text), number in asked.items()]
        try:
            found = ranker.rank(self.collection, queries, None if candidates is None else _renamed(candidates, asked))
        except MissingError:
            raise
        except Exception as error:  # any code may be behind a ranker, and it may raise anything
            self.say(f"{self.name}: {_words(error)}; now method by method")
            return None
        return {
            slot: _named(self.name, {q: found.ranking(asked[_asked(q, text, candidates)]) for q, text in texts.items()})
            for slot, texts in task.texts.items()
        }

    def _one_by_one(self, ranker: Ranker, queries: Sequence[Query], candidates: Run | None, slot: Slot | None) -> Run:
        """What can be ranked, and a record of each query that cannot; what is said of all of them is raised."""
        found: dict[str, tuple[ScoredDoc, ...]] = {}
        errors: list[Exception] = []
        for query in queries:
            try:
                found |= ranker.rank(self.collection, [query], candidates).rankings
            except MissingError:
                raise
            except Exception as error:
                errors.append(error)
                self.failures.append(Failure(self.name, query.query_id, slot, query.title, _words(error)))
        same = slot is None and len(errors) == len(queries) and len(set(map(str, errors))) == 1
        if same and isinstance(errors[0], RingtrueError):
            raise errors[0]
        return Run(self.name, dict(sorted(found.items())))


def _asked(query_id: str, text: str, candidates: Run | None) -> tuple[str, str]:
    """What decides a ranking: the text, and whose candidates are ranked again where there are any."""
    return ("" if candidates is None else query_id), text


def _renamed(candidates: Run, asked: Mapping[tuple[str, str], str]) -> Run:
    """Each query's candidates under the numbers of its variations."""
    rankings = {number: candidates.ranking(query_id) for (query_id, _), number in asked.items()}
    return _named(candidates.name, rankings)


def _named(name: str, rankings: Mapping[str, Sequence[ScoredDoc]]) -> Run:
    """A run of rankings that were made under other ids; empty ones are left out."""
    return Run(
        name,
        {
            query_id: tuple(line._replace(query_id=query_id) for line in ranking)
            for query_id, ranking in sorted(rankings.items())
            if ranking
        },
    )


def _reads_texts(stage: Ranker) -> bool:
    """Whether a ranking is known to depend on the texts of queries alone."""
    return _catalog_name(stage) not in (None, *_MAY_KNOW_IDS)


def _catalog_name(stage: Ranker) -> str | None:
    target = f"{type(stage).__module__}:{type(stage).__qualname__}"
    return next((name for name, known in RANKERS.table.items() if known == target), None)


def _check_sees_variations(ranker: Ranker) -> None:
    if all(_catalog_name(stage) == _REPLAY for stage in _stages(ranker)):
        raise InputError(
            f"ranker {ranker!r} is a run of the original queries and cannot see variations; for runs of both, see "
            "--runs and `vary --as-topics`."
        )


def _stages(ranker: Ranker) -> Iterator[Ranker]:
    """The rankers that a pipeline is made of, without its cuts."""
    if isinstance(ranker, Pipeline):
        for stage in ranker.stages:
            yield from _stages(stage)
    elif isinstance(ranker, Cut):
        yield from _stages(ranker.ranker)
    else:
        yield ranker


def _words(error: Exception) -> str:
    """An error in one line; its kind only where it is not one of ours, which say all in their message."""
    message = " ".join(str(error).split()).removesuffix(".")
    if isinstance(error, RingtrueError):
        return message
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
