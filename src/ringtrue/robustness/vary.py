"""Many queries written differently in many ways."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ringtrue.data.records import Query
from ringtrue.errors import InputError, MissingError, UnknownNameError
from ringtrue.robustness.generators import GENERATORS, Generator
from ringtrue.robustness.generators.recorded import Recorded
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
        if isinstance(generator, Recorded):
            generator.check_queries(given)
        category, method = generator.category, repr(generator)
        for query, (texts, reason) in zip(given, generator.vary_all(given, n, seed), strict=True):
            query_id, title = query[:2]
            if not texts:
                yield Variation(query_id, category, method, title, None, seed, reason)
                continue
            for text in texts[:-1]:
                yield Variation(query_id, category, method, title, text, seed)
            yield Variation(query_id, category, method, title, texts[-1], seed, reason)


def parse_generators(specs: Iterable[str]) -> tuple[Generator, ...]:
    """Generators by name (`wnetsynswap:choice=random`), by category (`misspelling`) or `all`, each once.

    Names and categories may be in any case. `all` and categories stand for every generator with its defaults, those
    that lack something too: see `choose`.
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


def choose(specs: Sequence[str]) -> tuple[tuple[Generator, ...], tuple[Missing, ...]]:
    """Of what is asked for, the generators that can run here, and those of `all` or a category that cannot.

    One that is named itself and lacks something raises its `MissingError`; so does a category none of which can run.
    """
    for spec in specs:
        members = tuple(_parse(spec.strip()))
        if not runnable(members)[0] or not _is_group(spec.strip()):
            members[0].check()
    ready, missing = runnable(parse_generators(specs))
    return ready, missing


def _parse(spec: str) -> Iterator[Generator]:
    """The generators that one word stands for."""
    if _is_group(spec):
        every = map(GENERATORS.parse, GENERATORS.names())
        yield from (generator for generator in every if spec.lower() in (ALL, generator.category))
        return
    name, colon, options = spec.partition(":")
    exact = next((known for known in GENERATORS.names() if known.lower() == name.strip().lower()), None)
    if exact is None:
        groups = () if colon else (*_categories(), ALL)
        raise UnknownNameError(GENERATORS.kind, name.strip(), (*GENERATORS.names(), *groups))
    yield GENERATORS.parse(exact + colon + options)


def _is_group(spec: str) -> bool:
    """Whether a word stands for several generators."""
    return spec.lower() == ALL or spec.lower() in _categories()


def _categories() -> set[str]:
    """The kinds of change that there is a generator for."""
    return {GENERATORS.parse(name).category for name in GENERATORS.names()}


def _check_distinct(query_ids: Iterable[str]) -> None:
    """Two queries of one id are an error."""
    seen: set[str] = set()
    for query_id in query_ids:
        if query_id in seen:
            raise InputError(f"two queries have the id {query_id!r}; ids must be distinct.")
        seen.add(query_id)
