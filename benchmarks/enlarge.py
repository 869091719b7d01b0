"""Logs of any size from real queries: the queries themselves, then the start of one joined to the end of another.

All texts are distinct, their words and lengths are those of real queries, and the same size gives the same log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path


def read_queries(path: Path) -> list[str]:
    """The distinct texts of a TSV log, in its order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(dict.fromkeys(line.split("\t")[1].strip() for line in lines if "\t" in line))


def enlarged(queries: Sequence[str], size: int) -> Iterator[str]:
    """So many distinct queries, the real ones first."""
    given, seen = 0, set(map(hash, queries))
    for query in queries[:size]:
        given += 1
        yield query
    halves = [_halves(query) for query in queries]
    step = 1
    while given < size:
        step += 7919 if step % len(queries) else 1  # a prime: every round joins other pairs
        for number, (start, _) in enumerate(halves):
            text = f"{start} {halves[(number + step) % len(halves)][1]}"
            if given < size and hash(text) not in seen:
                seen.add(hash(text))
                given += 1
                yield text


def _halves(query: str) -> tuple[str, str]:
    words = query.split()
    middle = (len(words) + 1) // 2
    return " ".join(words[:middle]), " ".join(words[middle:]) or query
