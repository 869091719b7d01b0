"""Recorded: variations that were written before, by people above all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ringtrue.data.formats.streams import check_file
from ringtrue.data.formats.tables import Shape, shape_of
from ringtrue.data.formats.variants import Variant, read_variants
from ringtrue.data.notes import Notes
from ringtrue.data.records import Query
from ringtrue.errors import InputError, MissingModelError
from ringtrue.robustness.generators import Outcome
from ringtrue.robustness.generators.base import Named, pick
from ringtrue.robustness.variations import read_variations


@dataclass(frozen=True, repr=False)
class Recorded(Named):
    """Look a query's variations up by its id, in the order of the file.

    Reads `topic-user-n;query` lines (Benham and Culpepper's user query variations), TSV of topic and variant, and
    `variations.csv`, there those of `method` alone where one is given.
    """

    path: str = ""
    method: str = ""

    category = "recorded"
    needs = "a file"

    def check(self) -> None:
        """The file must be named."""
        if not self.path:
            raise MissingModelError("Recorded needs a file of variations: give Recorded:path=FILE.")
        check_file(self.path)

    def vary_all(self, queries: Sequence[Query], n: int, seed: int) -> Iterator[Outcome]:
        """The first of each query's texts; the same for every seed."""
        self.check()
        known = _texts(self.path, self.method, Path(self.path).stat().st_mtime_ns)
        for query in queries:
            texts = known.get(query.query_id, ())
            failure = "all recorded variations are the query itself" if texts else "no recorded variation"
            yield pick(query.title, texts, n, failure)

    def check_queries(self, queries: Sequence[Query]) -> None:
        """A file none of whose variations is of these queries is of others."""
        self.check()
        known = _texts(self.path, self.method, Path(self.path).stat().st_mtime_ns)
        if queries and not any(query.query_id in known for query in queries):
            first = f"the first is of {next(iter(known))!r}" if known else f"the method {self.method!r} has none"
            raise InputError(
                f"{self.path}: no variation is of a known query: {first}, known are "
                f"{', '.join(query.query_id for query in queries[:3])} …; is this the file of another collection?"
            )


@lru_cache(maxsize=4)
def _texts(path: str, method: str, changed: int) -> dict[str, list[str]]:
    """All variations of a file by query; the time of its last change tells it from what it was before."""
    found: dict[str, list[str]] = {}
    for query_id, text in _variants(path, method):
        found.setdefault(query_id, []).append(text)
    return found


def _variants(path: str, method: str) -> Iterator[Variant]:
    """The rows of either kind of file."""
    if shape_of(path) is not Shape.CSV:
        yield from read_variants(path, Notes())
        return
    for row in read_variations(path, Notes()):
        if row.variation is not None and method in ("", row.method):
            yield Variant(row.query_id, row.variation)
