"""What each detector finds that the others miss."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from ringtrue.audit import Cell, Column, Table
from ringtrue.data.records import Query
from ringtrue.errors import InputError
from ringtrue.leakage.detectors.catalog import DETECTORS, USUAL
from ringtrue.leakage.detectors.detector import Log

Pair = tuple[str, str, str]
"""Topic, id of the query, and its text: two sources may give the same id to two queries."""


class Found(Protocol):
    """What hits and candidates have in common."""

    @property
    def topic_id(self) -> str:
        """The topic."""

    @property
    def text(self) -> str:
        """Its text that was found."""

    @property
    def query_id(self) -> str:
        """The training query."""

    @property
    def query(self) -> str:
        """Its text."""


@dataclass(frozen=True)
class Comparison:
    """The pairs of topic and query that each way to search found, by its name."""

    found: Mapping[str, Mapping[Pair, Found]]

    @cached_property
    def everything(self) -> frozenset[Pair]:
        """What any of them found."""
        return frozenset(pair for pairs in self.found.values() for pair in pairs)

    def missed(self, finder: str, other: str) -> list[Found]:
        """What one found and another did not, by topic and query id."""
        mine, theirs = self.found[finder], self.found[other]
        return [mine[pair] for pair in sorted(mine) if pair not in theirs]

    def only(self, finder: str) -> list[Found]:
        """What none of the others found, by topic and query id."""
        others = [pairs for name, pairs in self.found.items() if name != finder]
        mine = self.found[finder]
        return [mine[pair] for pair in sorted(mine) if not any(pair in pairs for pairs in others)]

    def tables(self, examples: int = 3) -> tuple[Table, ...]:
        """Counts, who misses what, and some pairs that only one found."""
        return self._counts(), self._matrix(), self._examples(examples)

    def _counts(self) -> Table:
        columns = (
            Column("detector", "Detector"),
            Column("pairs", "Pairs", None, "pairs of topic and training query"),
            Column("topics", "Topics"),
            Column("queries", "Queries"),
            Column("only", "Only here", None, "pairs that no other detector found"),
            Column("share", "Share", 3, "of the pairs that any detector found"),
        )
        total = len(self.everything)
        rows: list[tuple[Cell, ...]] = []
        for name, pairs in self.found.items():
            topics, queries = (len({pair[part] for pair in pairs}) for part in (slice(1), slice(1, None)))
            share = len(pairs) / total if total else None
            rows.append((name, len(pairs), topics, queries, len(self.only(name)), share))
        return Table("detectors", f"{total:,} pairs found by any detector", columns, tuple(rows))

    def _matrix(self) -> Table:
        names = list(self.found)
        columns = (Column("detector", "Found by"), *(Column(name, f"not by {name}") for name in names))
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (one, *(len(self.missed(one, other)) for other in names)) for one in names
        )
        return Table("missed", "What each finds that another misses", columns, rows)

    def _examples(self, number: int) -> Table:
        names = ("detector", "topic_id", "text", "query_id", "query")
        headers = ("Only by", "Topic", "Text of the topic", "Query id", "Training query")
        rows = tuple(
            (name, one.topic_id, one.text, one.query_id, one.query)
            for name in self.found
            for one in _spread(self.only(name), number)
        )
        columns = tuple(Column(name, header) for name, header in zip(names, headers, strict=True))
        return Table("only", "Examples that one detector alone finds", columns, rows)


def compare(found: Mapping[str, Iterable[Found]]) -> Comparison:
    """Hold hits and candidates against each other; of several for one pair the first is kept."""
    kept: dict[str, dict[Pair, Found]] = {}
    for name, hits in found.items():
        pairs = kept.setdefault(name, {})
        for hit in hits:
            pairs.setdefault((hit.topic_id, hit.query_id, hit.query), hit)
    return Comparison(kept)


def detect(
    topics: Sequence[Query],
    log: Log,
    detectors: Sequence[str] = USUAL,
    beside: Mapping[str, Iterable[Found]] | None = None,
) -> Comparison:
    """Run detectors by name over a log and compare them, with what a search by meaning found `beside`."""
    if len(set(detectors)) < len(detectors):
        raise InputError(f"a detector is named twice: {', '.join(detectors)}; name each once.")
    found = {name: DETECTORS.parse(name).find(topics, log) for name in detectors}
    return compare({**(beside or {}), **found})


def _spread(items: Sequence[Found], number: int) -> list[Found]:
    """Some items from all over a list, always the same."""
    step = max(len(items) / number, 1) if number else 1
    return [items[int(place * step)] for place in range(min(number, len(items)))]
