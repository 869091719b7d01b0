"""Chance that depends on the seed and the thing alone, so that no order of files or queries changes what is drawn."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable
from typing import Protocol, TypeVar


class Sourced(Protocol):
    """Anything that has an id and comes from a source."""

    @property
    def query_id(self) -> str:
        """Its id."""

    @property
    def source(self) -> str:
        """Where it comes from."""


T = TypeVar("T")
S = TypeVar("S", bound=Sourced)


def lot(seed: int, *parts: str) -> int:
    """A number of 64 bits; the lowest lots are drawn."""
    text = "\0".join((str(seed), *parts))
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def shuffled(items: Iterable[T], seed: int, *parts: str) -> list[T]:
    """Items in the order of their lots; those that read the same stay in the given order."""
    return sorted(items, key=lambda item: lot(seed, *parts, str(item)))


def draw(entries: Iterable[S], most: int, seed: int) -> dict[str, list[S]]:
    """For each source, ascending, at most so many entries, in the order of their lots; a stream of any length."""
    heaps: dict[str, list[tuple[int, int, S]]] = {}
    for place, entry in enumerate(entries):
        heap = heaps.setdefault(entry.source, [])
        item = (-lot(seed, entry.source, entry.query_id), -place, entry)
        if len(heap) < most:
            heapq.heappush(heap, item)
        elif item[:2] > heap[0][:2]:
            heapq.heapreplace(heap, item)
    return {source: [entry for *_, entry in sorted(heaps[source], reverse=True, key=_lot)] for source in sorted(heaps)}


def _lot(item: tuple[int, int, S]) -> tuple[int, int]:
    return item[:2]
