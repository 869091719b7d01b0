"""Rankers in a row: `bm25 % 100 >> rm3` retrieves, keeps the best hundred and ranks again.

The operators are those of PyTerrier (Macdonald and Tonellotto, ICTIR 2020): `%` cuts, `>>` hands the run on as
candidates. PyTerrier's other operators (sum, union, features) are left out.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ringtrue.errors import InputError
from ringtrue.retrieval.catalog import RANKERS

if TYPE_CHECKING:
    from ringtrue.data.collection import Collection
    from ringtrue.data.records import Query
    from ringtrue.data.runs import Run
    from ringtrue.retrieval.ranker import Ranker

_CUT = re.compile(r"%\s*(\S+)\s*$")


class Composable:
    """Gives a ranker its operators, and a name that `parse_ranker` reads back: `bm25:k1=1.2`."""

    def __mod__(self: Ranker, depth: int) -> Ranker:
        """Keep the best `depth` documents of each topic."""
        return Cut(self, depth)

    def __rshift__(self: Ranker, then: Ranker) -> Ranker:
        """Let another ranker go on with what this one returns."""
        return Pipeline((*_stages(self), *_stages(then)))

    def check_ready(self, *, first: bool) -> None:
        """Raise what ranking would: something is missing, or this is `first` and needs candidates."""

    def __repr__(self) -> str:
        """The name in the catalog with the options that are not at their default."""
        options = ",".join(f"{name}={value}" for name, value in _changed(self))
        return f"{_name(type(self))}:{options}" if options else _name(type(self))


@dataclasses.dataclass(frozen=True, repr=False)
class Cut(Composable):
    """The best documents of another ranker."""

    ranker: Ranker
    depth: int

    def rank(self, collection: Collection, queries: Sequence[Query], candidates: Run | None = None) -> Run:
        """Rank, then keep the first `depth` of each topic."""
        if self.depth < 1:
            raise InputError(f"ranker {self!r}: cannot keep {self.depth} documents; cut at 1 or more.")
        run = self.ranker.rank(collection, queries, candidates)
        return dataclasses.replace(run.cut(self.depth), name=repr(self))

    def __repr__(self) -> str:
        """As it is written."""
        return f"{self.ranker!r} % {self.depth}"

    def check_ready(self, *, first: bool) -> None:
        """As the ranker that is cut."""
        if isinstance(self.ranker, Composable):
            self.ranker.check_ready(first=first)


@dataclasses.dataclass(frozen=True, repr=False)
class Pipeline(Composable):
    """Rankers one after the other, each with the run before it as candidates."""

    stages: tuple[Ranker, ...]

    def __mod__(self, depth: int) -> Pipeline:
        """Cut the last stage: the same run, and a name without brackets."""
        return Pipeline((*self.stages[:-1], Cut(self.stages[-1], depth)))

    def rank(self, collection: Collection, queries: Sequence[Query], candidates: Run | None = None) -> Run:
        """Pass the run from stage to stage."""
        run = candidates
        for stage in self.stages:
            run = stage.rank(collection, queries, run)
        if run is None:
            raise InputError("a pipeline needs at least one ranker.")
        return dataclasses.replace(run, name=repr(self))

    def __repr__(self) -> str:
        """As it is written."""
        return " >> ".join(map(repr, self.stages))

    def check_ready(self, *, first: bool) -> None:
        """Each stage; all but the first have candidates."""
        for place, stage in enumerate(self.stages):
            if isinstance(stage, Composable):
                stage.check_ready(first=first and not place)


def family(ranker: Ranker) -> str:
    """What kind of ranker it is: `lexical`, `bi-encoder`, …; of a pipeline, its last stage."""
    if isinstance(ranker, Pipeline):
        return family(ranker.stages[-1])
    return family(ranker.ranker) if isinstance(ranker, Cut) else str(getattr(ranker, "family", "other"))


def parse_ranker(spec: str) -> Ranker:
    """Build a ranker or a pipeline from text such as `bm25:k1=1.2,b=.75 % 100 >> rm3:fb_docs=5`."""
    stages = tuple(_parse_stage(stage.strip(), spec) for stage in spec.split(">>"))
    return stages[0] if len(stages) == 1 else Pipeline(stages)


def _parse_stage(text: str, spec: str) -> Ranker:
    """Read one ranker and the cuts behind it."""
    cut = _CUT.search(text)
    if cut is None:
        if not text:
            raise InputError(f"ranker {spec!r}: a stage is empty; write NAME, NAME % DEPTH or NAME >> NAME.")
        return RANKERS.parse(text)
    if not cut[1].isdecimal():
        raise InputError(f"ranker {spec!r}: after % there should be a whole number, not {cut[1]!r}.")
    return Cut(_parse_stage(text[: cut.start()].strip(), spec), int(cut[1]))


def _stages(ranker: Ranker) -> tuple[Ranker, ...]:
    """A pipeline's stages, or the ranker alone: `a >> (b >> c)` is the same as `(a >> b) >> c`."""
    return ranker.stages if isinstance(ranker, Pipeline) else (ranker,)


def _name(found: type) -> str:
    """The name of a class in the catalog; of one that is not in it, its own."""
    target = f"{found.__module__}:{found.__qualname__}"
    return next((name for name, known in RANKERS.table.items() if known == target), found.__qualname__)


def _changed(component: object) -> Iterator[tuple[str, object]]:
    """The fields of a component that differ from their default."""
    for field in dataclasses.fields(component):  # type: ignore[arg-type]
        value = getattr(component, field.name)
        if value != field.default:
            yield field.name, value
