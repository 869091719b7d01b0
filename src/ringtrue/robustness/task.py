"""What has to be ranked: queries, and the valid variations of each by the method that made them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ringtrue.data.records import Query
from ringtrue.errors import InputError, brief
from ringtrue.robustness.labels import in_paper_order
from ringtrue.robustness.validity import Basis, Checked


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


def make_task(queries: Sequence[Query], judged: Sequence[str], checked: Sequence[Checked]) -> Task:
    """Sort checked variations into slots; queries without judgments are counted and left out."""
    known = set(judged)
    kept = tuple(query for query in queries if query.query_id in known)
    if not kept:
        raise InputError(_no_judged(queries, judged))
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


def _no_judged(queries: Sequence[Query], judged: Sequence[str]) -> str:
    """Why no query can be measured: there are no judgments, or they are of other topics."""
    if not queries or not judged:
        return "no query has judgments: robustness is measured on judged queries (--qrels FILE)."
    ids = [query.query_id for query in queries]
    return (
        f"none of the {len(ids):,} queries ({brief(ids)}) is among the {len(judged):,} judged topics "
        f"({brief(judged)}); are these the judgments of other topics? Ids are compared as text: 01 is not 1."
    )


def _slots(method: tuple[str, str], rows: Sequence[Checked]) -> dict[Slot, dict[str, str]]:
    """The n-th variation of each query that is one makes the n-th slot, which holds it where it is valid.

    So a slot does not depend on who decides what is valid. The first is there also where it is empty.
    """
    found: dict[Slot, dict[str, str]] = {Slot(*method): {}}
    numbers: dict[str, int] = {}
    for one in rows:
        query_id, text = one.variation.query_id, one.variation.variation
        if text is not None and (one.valid or one.basis not in (Basis.MISSING, Basis.COPY)):
            numbers[query_id] = numbers.get(query_id, 0) + 1
            slot = found.setdefault(Slot(*method, numbers[query_id]), {})
            if one.valid:
                slot[query_id] = text
    return found


def _count(method: tuple[str, str], rows: Sequence[Checked], queries: int) -> MethodCounts:
    """Queries by whether one of their variations is valid, a changed text at least, a copy, or nothing."""
    valid = {one.variation.query_id for one in rows if one.valid}
    changed = {one.variation.query_id for one in rows if one.basis not in (Basis.MISSING, Basis.COPY)} - valid
    copies = {one.variation.query_id for one in rows if one.basis is Basis.COPY} - valid - changed
    variations = sum(one.basis is not Basis.MISSING for one in rows)
    missing = queries - len(valid) - len(changed) - len(copies)
    return MethodCounts(*method, variations, len(valid), len(changed), len(copies), missing)
