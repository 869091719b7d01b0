"""Many queries written differently in many ways."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ringtrue.data.records import Query
from ringtrue.errors import InputError, MissingError
from ringtrue.robustness.generators import GENERATORS, Generator
from ringtrue.robustness.variations import Variation

ALL = "all"


class Missing(NamedTuple):
    """A generator that cannot run here, and what it lacks."""

    generator: Generator
    reason: str


def vary(queries: Iterable[Query], generators: Iterable[Generator], n: int = 1, seed: int = 42) -> Iterator[Variation]:
    """Up to `n` variations of each query by each generator, generator after generator in order of the queries.

    Each combination of query text, generator and seed gives the same result whatever else is asked for. Where a
    generator makes nothing of a query there is one row without a variation and with the reason.
    """
    given = tuple(queries)
    if n < 1:
        raise InputError(f"cannot make {n} variations of a query; ask for 1 or more.")
    _check_distinct(query.query_id for query in given)
    for generator in generators:
        category, method = generator.category, repr(generator)
        for query, (texts, reason) in zip(given, generator.vary_all(given, n, seed), strict=True):
            for text in texts[:-1]:
                yield Variation(query.query_id, category, method, query.title, text, seed)
            last = texts[-1] if texts else None
            yield Variation(query.query_id, category, method, query.title, last, seed, reason)


def parse_generators(specs: Iterable[str]) -> tuple[Generator, ...]:
    """Generators by name (`wnetsynswap:choice=random`), by category (`misspelling`) or `all`, each once.

    Names and categories may be in any case. `all` and categories stand for every generator with its defaults, those
    that lack something too: see `runnable`.
    """
    found: dict[str, Generator] = {}
    for spec in specs:
        for generator in _parse(spec.strip()):
            found.setdefault(repr(generator), generator)
    if not found:
        raise InputError(f"no generator is named; give some of {', '.join(GENERATORS.names())}, or {ALL}.")
    return tuple(found.values())


def runnable(generators: Iterable[Generator]) -> tuple[tuple[Generator, ...], tuple[Missing, ...]]:
    """Those that can run here without a download, and those that cannot, with what to run first."""
    ready: list[Generator] = []
    missing: list[Missing] = []
    for generator in generators:
        try:
            generator.check()
        except MissingError as error:
            missing.append(Missing(generator, str(error)))
        else:
            ready.append(generator)
    return tuple(ready), tuple(missing)


def _parse(spec: str) -> Iterator[Generator]:
    """The generators that one word stands for."""
    name, colon, options = spec.partition(":")
    wanted = name.strip().lower()
    exact = next((known for known in GENERATORS.names() if known.lower() == wanted), name)
    every = [GENERATORS.parse(known) for known in GENERATORS.names()] if exact not in GENERATORS.table else []
    chosen = [generator for generator in every if wanted in (ALL, generator.category)]
    if chosen and not colon:
        yield from chosen
    else:
        yield GENERATORS.parse(exact + colon + options)


def _check_distinct(query_ids: Iterable[str]) -> None:
    """Two queries of one id are an error."""
    seen: set[str] = set()
    for query_id in query_ids:
        if query_id in seen:
            raise InputError(f"two queries have the id {query_id!r}; ids must be distinct.")
        seen.add(query_id)
