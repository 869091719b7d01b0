"""The documents of one sample, by sampler or by budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ringtrue.errors import InputError
from ringtrue.subsampling.campaign import Campaign
from ringtrue.subsampling.samplers import SAMPLERS, ReachesOut
from ringtrue.subsampling.sizes import deepest_pool


@dataclass(frozen=True)
class Sample:
    """A sampler and the ids of its documents, ascending."""

    sampler: str
    doc_ids: tuple[str, ...]


@dataclass(frozen=True)
class Budget:
    """The most that a sample may hold; `bytes_per_doc` is a mean or the bytes of each document."""

    max_docs: int | None = None
    max_bytes: int | None = None
    bytes_per_doc: float | Mapping[str, int] | None = None


def build(campaign: Campaign, sampler: str, budget: Budget | None = None) -> Sample:
    """Sample from all runs; with a budget, the deepest pool that fits instead of the sampler."""
    if budget is not None:
        found = deepest_pool(
            campaign,
            max_docs=budget.max_docs,
            max_bytes=budget.max_bytes,
            bytes_per_doc=budget.bytes_per_doc,
        )
        sampler = f"pool:{found.depth}"
    component, view = SAMPLERS.parse(sampler), campaign.without()
    inside = (doc for doc, keep in zip(campaign.runs.docs, component.sample(view).tolist(), strict=True) if keep)
    outside = component.outside(view) if isinstance(component, ReachesOut) else ()
    ids = tuple(sorted((*inside, *outside)))
    if not ids:
        raise InputError(f"sampler {sampler!r} gives no document.")
    return Sample(sampler, ids)
