"""The documents of one sample, by sampler or by budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ringtrue.data.notes import Note, Notes
from ringtrue.errors import InputError
from ringtrue.subsampling.campaign import Campaign, Search
from ringtrue.subsampling.samplers import SAMPLERS, note_shortfall, outside
from ringtrue.subsampling.samplers.rerank import Rerank
from ringtrue.subsampling.sizes import Size, deepest_pool


@dataclass(frozen=True)
class Sample:
    """A sampler and the ids of its documents, ascending; bytes are known where the budget was in bytes.

    `notes` say where it is not what one may take it for.
    """

    sampler: str
    doc_ids: tuple[str, ...]
    size: Size
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Budget:
    """The most that a sample may hold; `bytes_per_doc` is a mean or the bytes of each document."""

    max_docs: int | None = None
    max_bytes: int | None = None
    bytes_per_doc: float | Mapping[str, int] | None = None


def build(campaign: Campaign, sampler: str, budget: Budget | None = None) -> Sample:
    """Sample from all runs; with a budget, the deepest pool that fits instead of the sampler."""
    volume: Size | None = None
    if budget is not None:
        found = deepest_pool(
            campaign,
            max_docs=budget.max_docs,
            max_bytes=budget.max_bytes,
            bytes_per_doc=budget.bytes_per_doc,
        )
        sampler, volume = f"pool:{found.depth}", found.size
    component, view = SAMPLERS.parse(sampler), campaign.without()
    inside = (doc for doc, keep in zip(campaign.runs.docs, component.sample(view).tolist(), strict=True) if keep)
    ids = tuple(sorted((*inside, *outside(component, view))))
    if not ids:
        raise InputError(f"sampler {sampler!r} gives no document.")
    notes = Notes()
    notes.update(campaign.notes)
    note_shortfall(component, sampler, len(ids), notes)
    return Sample(sampler, ids, volume or Size(len(ids)), tuple(notes))


def build_without_runs(search: Search | None, sampler: str) -> Sample:
    """Sample from what a ranker finds for all queries; other samplers need runs."""
    component = SAMPLERS.parse(sampler)
    if not isinstance(component, Rerank):
        raise InputError(
            f"no runs: sampler {sampler!r} needs them (--runs FOLDER), or a --collection that has them; with the "
            "documents and queries of a collection alone, rerank:run=bm25 can be built."
        )
    if search is None:
        raise InputError(
            f"sampler {sampler!r} has nothing to take from: give runs (--runs FOLDER), or documents and queries that "
            "can be searched."
        )
    run = search(component.run, component.depth)
    ids = tuple(sorted({line.doc_id for topic in run.topics for line in run.ranking(topic)}))
    return Sample(sampler, ids, Size(len(ids)))
