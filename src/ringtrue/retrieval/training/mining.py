"""Triples from a collection's training log: its positives, and negatives that BM25 finds (Fröbe et al., SPIRE 2022).

Negatives are drawn evenly from the first hundred documents of BM25 that are not positives of the query. Exact sizes,
sources and leaks are the business of the leakage study's training sets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ringtrue.data.notes import Notes
from ringtrue.data.records import LogQuery, Query
from ringtrue.errors import InputError
from ringtrue.retrieval.bm25 import BM25
from ringtrue.retrieval.candidates import texts_of
from ringtrue.retrieval.training.triples import Triples

if TYPE_CHECKING:
    from ringtrue.data.collection import Collection

_DEPTH = 100


class Mined(NamedTuple):
    """Triples, and an account of the queries that gave none."""

    triples: Triples
    notes: Notes


class _Chosen(NamedTuple):
    """A triple before its documents have texts."""

    query: str
    relevant: str
    other: str


def mine_triples(
    collection: Collection,
    *,
    depth: int = _DEPTH,
    most: int | None = None,
    seed: int = 42,
    wanted: Callable[[LogQuery], bool] | None = None,
) -> Mined:
    """One triple for each query of the log, or for `most` of them drawn by the seed; `wanted` may refuse queries."""
    notes, rng = Notes(), np.random.default_rng(seed)
    entries = _with_positives(collection, wanted, notes)
    relevant: dict[str, set[str]] = {}  # a log may ask the same several times, with other documents
    for entry in entries:
        relevant.setdefault(entry.text, set()).update(entry.doc_ids)
    if most is not None:
        entries = [entries[place] for place in rng.permutation(len(entries)).tolist()]
    chosen: list[_Chosen] = []
    step = most or max(len(entries), 1)
    for start in range(0, len(entries), step):  # a second time only where some of the first gave nothing
        chosen += _choose(collection, entries[start : start + step], relevant, depth, rng, notes)
        if len(chosen) >= step:
            break
    if not chosen or (most is not None and len(chosen) < most):
        asked = f"{len(chosen)} triples, but {most} are asked for" if most is not None else "no triples"
        raise InputError(f"the log of {collection.name!r} gives {asked}: {notes!r}.")
    chosen = chosen[:most]
    texts = texts_of(collection, (doc for one in chosen for doc in (one.relevant, one.other)))
    return Mined(Triples.from_texts((one.query, texts[one.relevant], texts[one.other]) for one in chosen), notes)


def _choose(
    collection: Collection,
    entries: Sequence[LogQuery],
    relevant: Mapping[str, set[str]],
    depth: int,
    rng: np.random.Generator,
    notes: Notes,
) -> list[_Chosen]:
    """One positive and one negative of each query that has both."""
    return [
        _Chosen(entry.text, entry.doc_ids[rng.integers(len(entry.doc_ids))], others[rng.integers(len(others))])
        for entry, others in zip(entries, _negatives(collection, entries, relevant, depth, notes), strict=True)
        if others
    ]


def _with_positives(collection: Collection, wanted: Callable[[LogQuery], bool] | None, notes: Notes) -> list[LogQuery]:
    """The queries of the log with those of their relevant documents that have a text; others are counted."""
    log = [entry for entry in collection.log() if wanted is None or wanted(entry)]
    asked = {doc for entry in log for doc in entry.doc_ids}
    there = {doc.doc_id for doc in collection.documents() if doc.doc_id in asked and doc.body.strip()}
    entries = []
    for entry in log:
        positives = tuple(doc for doc in entry.doc_ids if doc in there)
        if positives:
            entries.append(entry._replace(doc_ids=positives))
        else:
            why = "no relevant document of theirs has a text" if entry.doc_ids else "they have no relevant document"
            notes.add(f"queries left out: {why}", f"query {entry.query_id}")
    return entries


def _negatives(
    collection: Collection, entries: Sequence[LogQuery], relevant: Mapping[str, set[str]], depth: int, notes: Notes
) -> list[list[str]]:
    """What BM25 finds for each query and is not relevant to it; queries for which there is nothing are counted."""
    # numbered anew, for a log may have an id twice
    found = BM25(depth=depth).rank(collection, [Query(str(place), entry.text) for place, entry in enumerate(entries)])
    others = [
        [line.doc_id for line in found.ranking(str(place)) if line.doc_id not in relevant[entry.text]]
        for place, entry in enumerate(entries)
    ]
    for entry, left in zip(entries, others, strict=True):
        if not left:
            notes.add("queries left out: nothing but relevant documents is found", f"query {entry.query_id}")
    return others
