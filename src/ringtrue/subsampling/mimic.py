"""Does retrieval on a sample give what retrieval on the full corpus gives.

A ranker searches the full collection and the sample. What is lost is split in two: documents that the sample lacks, and
what remains, which for rankers with corpus statistics is that these have changed. RBO is extrapolated with p = 0.9; the
study's program has p = 1, which is average overlap, and is given beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ringtrue.audit import Interval
from ringtrue.data.collection import Collection
from ringtrue.data.runs import Run
from ringtrue.errors import InputError
from ringtrue.evaluation.correlation import average_overlap, rbo
from ringtrue.evaluation.significance import bootstrap_interval
from ringtrue.retrieval.pipeline import family, parse_ranker

P = 0.9
TOP = 10


@dataclass(frozen=True)
class Mimicry:
    """One ranker on one sample: means over topics. `missing` and `statistics` add up to 1 - `rbo`."""

    ranker: str
    family: str
    sampler: str
    documents: int
    rbo: float
    interval: Interval
    recall: float
    overlap: float
    condensed_rbo: float
    missing: float
    statistics: float
    topics: int


def mimic(
    collection: Collection,
    rankers: Sequence[str],
    samples: Sequence[tuple[str, Sequence[str]]],
    *,
    seed: int = 42,
    say: Callable[[str], None] = lambda message: None,
) -> tuple[Mimicry, ...]:
    """Hold each ranker on each sample (a name and its document ids) against the same ranker on all documents."""
    if not collection.has_documents:
        raise InputError("retrieval needs the documents of the collection; give a --collection that has them.")
    rows = []
    for spec in rankers:
        ranker = parse_ranker(spec)
        say(f"searching everything with {spec}")
        full = ranker.rank(collection, collection.queries)
        for sampler, doc_ids in samples:
            say(f"searching {sampler} with {spec}")
            found = ranker.rank(collection.subset(doc_ids), collection.queries)
            rows.append(_compare(spec, family(ranker), sampler, frozenset(doc_ids), full, found, seed))
    return tuple(rows)


def _compare(ranker: str, kind: str, sampler: str, sample: frozenset[str], full: Run, found: Run, seed: int) -> Mimicry:
    topics = [topic for topic in full.topics if full.ranking(topic)]
    if not topics:
        raise InputError(f"ranker {ranker!r} finds nothing for any query of the collection.")
    figures = np.array([_topic(_ids(full, topic), _ids(found, topic), sample) for topic in topics])
    plain, recall, overlap, condensed, possible = figures.mean(axis=0).tolist()
    return Mimicry(
        ranker=ranker,
        family=kind,
        sampler=sampler,
        documents=len(sample),
        rbo=plain,
        interval=bootstrap_interval(figures[:, 0], seed=seed),
        recall=recall,
        overlap=overlap,
        condensed_rbo=condensed,
        missing=1 - possible,
        statistics=possible - plain,
        topics=len(topics),
    )


def _ids(run: Run, topic: str) -> list[str]:
    return [line.doc_id for line in run.ranking(topic)]


def _topic(full: list[str], found: list[str], sample: frozenset[str]) -> tuple[float, float, float, float, float]:
    """RBO, recall of the top ten, average overlap of it, condensed RBO, and the RBO that the sample allows."""
    kept = [doc for doc in full if doc in sample]
    top = full[:TOP]
    recall = len(set(top) & set(found[:TOP])) / len(top)
    condensed = rbo(kept, found, P) if kept and found else float(not kept and not found)
    return (
        rbo(full, found, P) if found else 0.0,
        recall,
        average_overlap(top, found[:TOP]) if found else 0.0,
        condensed,
        rbo(full, kept, P) if kept else 0.0,
    )
