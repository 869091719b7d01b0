"""Does retrieval on a sample give what retrieval on the full corpus gives.

A ranker searches the full collection and the sample. What is lost is split in two: documents that the sample lacks, and
what remains, which for rankers with corpus statistics is that these have changed. RBO is extrapolated with p = 0.9; the
study's program has p = 1, which is average overlap, and is given beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from ringtrue import cache
from ringtrue.audit import Interval
from ringtrue.data.collection import Collection
from ringtrue.data.runs import Run
from ringtrue.errors import InputError
from ringtrue.evaluation.correlation import average_overlap, rbo
from ringtrue.evaluation.significance import bootstrap_interval
from ringtrue.retrieval.pipeline import family, parse_ranker
from ringtrue.retrieval.ranker import Ranker
from ringtrue.subsampling.energy import NOT_MEASURABLE, Meter
from ringtrue.subsampling.sizes import Size, measure_sample

P = 0.9
TOP = 10
_INDEXED = ("lexical", "bi-encoder")  # what they make of the documents is kept, so that a first query shows its cost


@dataclass(frozen=True)
class Mimicry:
    """One ranker on one sample: means over topics. `missing` and `statistics` add up to 1 - `rbo`."""

    ranker: str
    family: str
    sampler: str
    documents: int
    megabytes: float
    rbo: float
    interval: Interval
    recall: float
    overlap: float
    condensed_rbo: float
    condensed_recall: float
    missing: float
    statistics: float
    topics: int


def mimic(
    collection: Collection,
    rankers: Sequence[str],
    samples: Sequence[tuple[str, Sequence[str]]],
    *,
    seed: int = 42,
    meter: Meter | None = None,
    say: Callable[[str], None] = lambda message: None,
) -> tuple[Mimicry, ...]:
    """Hold each ranker on each sample (a name and its document ids) against the same ranker on all documents.

    With a `meter` the energy of each is measured, from an index that is made anew.
    """
    if not collection.has_documents:
        raise InputError("retrieval needs the documents of the collection; give a --collection that has them.")
    sizes = {name: measure_sample(collection.documents(), frozenset(doc_ids)) for name, doc_ids in samples}
    rows = []
    for spec in rankers:
        ranker = parse_ranker(spec)
        say(f"searching everything with {spec}")
        full = rank_metered(ranker, collection, f"{spec} on everything", meter)
        for sampler, doc_ids in samples:
            say(f"searching {sampler} with {spec}")
            found = rank_metered(ranker, collection.subset(doc_ids), f"{spec} on {sampler}", meter)
            given = _Given(spec, family(ranker), sampler, sizes[sampler], frozenset(doc_ids))
            rows.append(_compare(given, full, found, seed))
    return tuple(rows)


def rank_metered(ranker: Ranker, collection: Collection, name: str, meter: Meter | None) -> Run:
    """Rank, and with a meter see what it takes: the index apart from the search for rankers that keep one."""
    if meter is None:
        return ranker.rank(collection, collection.queries)
    documents = sum(1 for _ in collection.documents())
    with cache.cold():
        if family(ranker) in _INDEXED:
            with meter.stage(f"index: {name}", documents):
                ranker.rank(collection, collection.queries[:1])
        with meter.stage(f"search: {name}", documents):
            return ranker.rank(collection, collection.queries)


def kwh_per_document(ranker: Ranker, collection: Collection, documents: int = 1000) -> float:
    """What indexing and search take for a document, from the first `documents`; an error where nothing can be read."""
    some = collection.subset(document.doc_id for document in islice(collection.documents(), documents))
    meter = Meter()
    rank_metered(ranker, some, repr(ranker), meter)
    kwh = [stage.energy.kwh for stage in meter.stages if stage.energy.kwh is not None]
    if not kwh:
        raise InputError(
            f"the energy of {ranker!r} is {NOT_MEASURABLE}, which has no counters that can be read; give "
            "--kwh-per-doc as measured elsewhere."
        )
    return sum(kwh) / meter.stages[-1].documents


class _Given(NamedTuple):
    """One ranker and one sample."""

    ranker: str
    family: str
    sampler: str
    size: Size
    doc_ids: frozenset[str]


def _compare(given: _Given, full: Run, found: Run, seed: int) -> Mimicry:
    topics = [topic for topic in full.topics if full.ranking(topic)]
    if not topics:
        raise InputError(f"ranker {given.ranker!r} finds nothing for any query of the collection.")
    figures = np.array([_topic(_ids(full, topic), _ids(found, topic), given.doc_ids) for topic in topics])
    plain, recall, overlap, condensed, condensed_recall, possible = figures.mean(axis=0).tolist()
    return Mimicry(
        ranker=given.ranker,
        family=given.family,
        sampler=given.sampler,
        documents=int(given.size.documents),
        megabytes=given.size.megabytes or 0.0,
        rbo=plain,
        interval=bootstrap_interval(figures[:, 0], seed=seed),
        recall=recall,
        overlap=overlap,
        condensed_rbo=condensed,
        condensed_recall=condensed_recall,
        missing=1 - possible,
        statistics=possible - plain,
        topics=len(topics),
    )


def _ids(run: Run, topic: str) -> list[str]:
    return [line.doc_id for line in run.ranking(topic)]


def _topic(full: list[str], found: list[str], sample: frozenset[str]) -> tuple[float, ...]:
    """RBO, recall of the top ten, average overlap of it, condensed RBO and recall, and the RBO that is possible."""
    kept = [doc for doc in full if doc in sample]
    both = bool(kept and found)
    nothing = float(not kept and not found)
    return (
        rbo(full, found, P) if found else 0.0,
        _recall(full, found),
        average_overlap(full[:TOP], found[:TOP]) if found else 0.0,
        rbo(kept, found, P) if both else nothing,
        _recall(kept, found) if both else nothing,
        rbo(full, kept, P) if kept else 0.0,
    )


def _recall(full: list[str], found: list[str]) -> float:
    return len(set(full[:TOP]) & set(found[:TOP])) / len(full[:TOP])
