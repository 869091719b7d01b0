"""Lexical retrieval: how good and how fast our models are, beside PISA and bm25s.

    python -m benchmarks.lexical [--collection FOLDER] [--out FILE]

PISA is compared where pyterrier-pisa is installed, with the same stemmer, stop words and parameters; see pisa.py.
The result goes to a JSON file with a description of the machine, a table to the console.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import bm25s
import ir_measures
import numpy as np
import Stemmer
from ir_measures import AP, nDCG
from rich.console import Console
from rich.table import Table

from benchmarks.pisa import Pisa, PisaDirichlet, PisaPL2
from ringtrue.data.collection import Collection
from ringtrue.data.load import load
from ringtrue.data.records import Query
from ringtrue.data.runs import Run
from ringtrue.provenance import version
from ringtrue.retrieval.bm25 import BM25
from ringtrue.retrieval.catalog import RANKERS
from ringtrue.retrieval.index import open_index
from ringtrue.retrieval.lexical import Lexical
from ringtrue.retrieval.pipeline import parse_ranker
from ringtrue.retrieval.weighting import DPH, PL2, Dirichlet

_HERE = Path(__file__).resolve().parent
_PACKAGES = ("bm25s", "numpy", "scipy", "PyStemmer", "pyterrier-pisa")
_STOPWORDS = ("none", "english")
_TOLERANCE = 0.01
_REPEATS = 5

# PISA's method and its parameters, and our models that should do the same
_PAIRS: Mapping[str, tuple[Mapping[str, float], Mapping[str, Lexical]]] = {
    "bm25": ({"k1": 0.9, "b": 0.4}, {"bm25 robertson": BM25(method="robertson")}),
    "qld": ({"mu": 1000}, {"dirichlet": Dirichlet(mu=1000), "dirichlet as PISA": PisaDirichlet(mu=1000)}),
    "pl2": ({"c": 1}, {"pl2": PL2(), "pl2 as PISA": PisaPL2()}),
    "dph": ({}, {"dph": DPH()}),
}


class Quality(NamedTuple):
    """One ranker at its defaults."""

    ranker: str
    stopwords: str
    ndcg_10: float
    ap: float


class Agreement(NamedTuple):
    """One of our models against PISA's; scores are compared after scaling by their median ratio."""

    model: str
    stopwords: str
    repeated_words: str
    ndcg_10: float
    ap: float
    pisa_ndcg_10: float
    pisa_ap: float
    within_tolerance: bool
    largest_score_deviation: float


class Times(NamedTuple):
    """What a piece of work takes by the clock and of the processor; the latter stands where a machine is shared."""

    seconds: float
    cpu_seconds: float


class Speed(NamedTuple):
    """The best of several times; a search ends with a `Run`, with PyTerrier's rows or with bm25s's bare numbers."""

    system: str
    step: str
    seconds: float
    cpu_seconds: float


def evaluate(collection: Collection, run: Run) -> tuple[float, float]:
    """Mean nDCG@10 and AP at 1000."""
    lines = (line for topic in run.topics for line in run.ranking(topic))
    means = ir_measures.calc_aggregate([nDCG @ 10, AP @ 1000], list(collection.qrels), lines)
    return round(means[nDCG @ 10], 4), round(means[AP @ 1000], 4)


def measure(collection: Collection) -> Iterator[Quality]:
    """All rankers of the catalog, with and without stop words."""
    for stopwords in _STOPWORDS:
        for name in RANKERS.names():
            option = f"model=bm25:stopwords={stopwords}" if name == "rm3" else f"stopwords={stopwords}"
            run = parse_ranker(f"{name}:{option}").rank(collection, collection.queries)
            yield Quality(name, stopwords, *evaluate(collection, run))


def compare(collection: Collection, folder: Path) -> Iterator[Agreement]:
    """PISA's four models and ours, with repeated query words counted and taken once."""
    for stopwords in _STOPWORDS:
        pisa = Pisa.build(collection, stopwords, folder / stopwords)
        for method, (options, models) in _PAIRS.items():
            for words in ("once", "counted"):
                theirs = pisa.search(collection, method, options, counted=words == "counted")
                figures = evaluate(collection, theirs)
                for name, model in models.items():
                    run = rank(replace(model, stopwords=stopwords), collection, counted=words == "counted")
                    ours = evaluate(collection, run)
                    within = max(abs(a - b) for a, b in zip(ours, figures, strict=True)) <= _TOLERANCE
                    yield Agreement(name, stopwords, words, *ours, *figures, within, deviation(run, theirs))


def rank(ranker: Lexical, collection: Collection, *, counted: bool) -> Run:
    """Rank with repeated query words counted, or each taken once."""
    if counted:
        return ranker.rank(collection, collection.queries)
    index = open_index(collection, ranker.analyser)
    counts = {query.query_id: index.count(ranker.analyser.tokens(query.title)) for query in collection.queries}
    return ranker.rank_terms(index, {topic: dict.fromkeys(terms, 1.0) for topic, terms in counts.items()})


def deviation(run: Run, other: Run) -> float:
    """How far the scores of common documents are from a constant ratio."""
    ratios = []
    for topic in run.topics:
        scores = {line.doc_id: line.score for line in other.ranking(topic)}
        ratios += [scores[line.doc_id] / line.score for line in run.ranking(topic) if line.doc_id in scores]
    spread = np.array(ratios) / np.median(ratios)
    return float(f"{np.abs(spread - 1).max():.2g}")


def time_ours(collection: Collection) -> Iterator[Speed]:
    """Analysis and index, BM25's weights beside it, and searching with what is there."""
    ranker, word = BM25(), [Query("any", next(iter(collection.documents())).body)]
    indexing, weighing = [], []
    for _ in range(_REPEATS):
        with own_cache():
            indexing.append(clock(partial(open_index, collection, ranker.analyser)))
            weighing.append(clock(partial(ranker.rank, collection, word)))
    yield Speed("ringtrue", "index", *shortest(indexing))
    yield Speed("ringtrue", "BM25 weights", *shortest(weighing))
    with own_cache():
        for model in (BM25(), DPH()):
            model.rank(collection, collection.queries)
            yield Speed("ringtrue", f"search, {model!r}", *best_of(partial(model.rank, collection, collection.queries)))


def time_bm25s(collection: Collection) -> Iterator[Speed]:
    """bm25s as its manual has it, with the same stemmer."""
    stemmer, maker = Stemmer.Stemmer("english"), bm25s.BM25(k1=0.9, b=0.4)
    texts = [doc.body for doc in collection.documents()]
    titles = [query.title for query in collection.queries]

    def tokens(some: Sequence[str]) -> Any:  # noqa: ANN401
        return bm25s.tokenize(list(some), stopwords=None, stemmer=stemmer, show_progress=False)

    yield Speed("bm25s", "index", *best_of(lambda: maker.index(tokens(texts), show_progress=False)))
    yield Speed("bm25s", "search, bm25", *best_of(lambda: maker.retrieve(tokens(titles), k=1000, show_progress=False)))


def time_pisa(collection: Collection, folder: Path) -> Iterator[Speed]:
    """PISA with its own pruning; making a searcher is part of neither step."""
    places = (folder / f"speed-{number}" for number in range(_REPEATS))
    yield Speed("PISA", "index", *best_of(lambda: Pisa.build(collection, "none", next(places))))
    pisa = Pisa.build(collection, "none", folder / "speed")
    for method in ("bm25", "dph"):
        searcher = pisa.searcher(method, {}, counted=False, pruned=True)
        yield Speed("PISA", f"search, {method}", *best_of(partial(searcher, pisa.queries(collection))))


@contextlib.contextmanager
def own_cache() -> Iterator[None]:
    """A cache folder that is empty at first and gone afterwards."""
    before = os.environ.get("RINGTRUE_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RINGTRUE_CACHE"] = folder
        try:
            yield
        finally:
            os.environ.pop("RINGTRUE_CACHE")
            if before is not None:
                os.environ["RINGTRUE_CACHE"] = before


def clock(work: Callable[[], object]) -> Times:
    """How long a piece of work takes; the processor's time is that of all threads."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return Times(time.perf_counter() - wall, time.process_time() - processor)


def best_of(work: Callable[[], object]) -> Times:
    """Do the work several times and take the shortest."""
    return shortest([clock(work) for _ in range(_REPEATS)])


def shortest(times: Sequence[Times]) -> Times:
    """The least of each."""
    return Times(*(round(min(some), 4) for some in zip(*times, strict=True)))


def machine() -> dict[str, str | int | float | None]:
    """What the figures were taken on."""
    listing = Path("/proc/cpuinfo")
    lines = listing.read_text().splitlines() if listing.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "system": platform.platform(),
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        **{package: version(package) for package in _PACKAGES},
    }


def show(title: str, rows: Sequence[NamedTuple]) -> None:
    """Print rows as a table."""
    if not rows:
        return
    table = Table(*rows[0]._fields, title=title)
    for row in rows:
        table.add_row(*(f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row))
    Console(width=140).print(table)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collection", type=Path, default=_HERE / "../../shared/data/collections/vaswani")
    parser.add_argument("--out", type=Path, default=_HERE / "results" / "lexical.json")
    options = parser.parse_args()
    place = options.collection
    collection = load(documents=place / "doc-text.trec", queries=place / "query-text.trec", qrels=place / "qrels")
    has_pisa = importlib.util.find_spec("pyterrier_pisa") is not None
    with own_cache(), tempfile.TemporaryDirectory() as folder:
        quality = list(measure(collection))
        agreement = list(compare(collection, Path(folder))) if has_pisa else []
        read = Collection.from_records(place.name, collection.documents(), collection.queries)
        speed = [*time_ours(read), *time_bm25s(read)]
        speed += time_pisa(read, Path(folder)) if has_pisa else []
    parts: dict[str, Sequence[NamedTuple]] = {"quality": quality, "agreement": agreement, "speed": speed}
    result = {
        "collection": place.name,
        "machine": machine(),
        "tolerance": _TOLERANCE,
        **{name: [row._asdict() for row in rows] for name, rows in parts.items()},
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for name, rows in parts.items():
        show(name, rows)


if __name__ == "__main__":
    main()
