"""Does a model remember what leaked: ranks and scores of leaked documents with and without leakage.

After Tables 6 to 8 of Fröbe et al. (SPIRE 2022). The query is the test topic's title, also where another query leaked
it. A leaked document that is not ranked again gets the rank that its score would give it. Seeds are averaged for each
document, documents for each topic, and what is reported is the mean over topics and the standard deviation between
them; "without" is the same model, size and seeds trained without leakage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtrue.evaluation.significance import paired_t
from ringtrue.leakage.experiment.result import Memory, Spread
from ringtrue.leakage.experiment.scores import ScoredPairs
from ringtrue.leakage.trainsets.records import Trainsets, Triple

Floats = NDArray[np.float64]


class LeakedTopics(NamedTuple):
    """Leaked documents by topic, for each cell: mean rank and score of relevant ones, mean offset of their pairs."""

    ranks: Floats
    scores: Floats
    offsets: Floats
    documents: int


def leaked_triples(made: Trainsets, kind: str) -> tuple[Triple, ...]:
    """What leaks in all sets of a kind."""
    smallest = min((one for one in made.sets if one.kind == kind), key=lambda one: one.instances)
    return tuple(triple for triple in smallest.triples if triple.topic_id)


def look_at(pairs: ScoredPairs, scores: Floats, leaked: Sequence[Triple]) -> LeakedTopics:
    """The leaked documents of each scored topic, for each row of scores."""
    by_topic: dict[str, list[Triple]] = {}
    for triple in leaked:
        if pairs.has(triple.topic_id):
            by_topic.setdefault(triple.topic_id, []).append(triple)
    found = np.empty((3, len(scores), len(by_topic)))
    for column, topic in enumerate(sorted(by_topic)):
        positives = [triple.positive for triple in by_topic[topic]]
        negatives = [triple.negative for triple in by_topic[topic]]
        distinct = list(dict.fromkeys(positives))
        ranks = pairs.ranks(scores, topic, distinct)
        offsets = pairs.ranks(scores, topic, negatives) - pairs.ranks(scores, topic, positives)
        own = scores[:, [pairs.row(topic, document) for document in distinct]]
        found[:, :, column] = ranks.mean(axis=1), own.mean(axis=1), offsets.mean(axis=1)
    count = sum(len({triple.positive for triple in some}) for some in by_topic.values())
    return LeakedTopics(found[0], found[1], found[2], count)


def remember(
    model: str, kind: str, sizes: Sequence[int], without: LeakedTopics, leaky: LeakedTopics
) -> Iterator[Memory]:
    """One row a size, then one over all; both have one row a size, with the seeds averaged."""
    for place, size in enumerate(sizes):
        yield _memory(model, kind, size, _at(without, [place]), _at(leaky, [place]))
    if len(sizes) > 1:
        every = list(range(len(sizes)))
        yield _memory(model, kind, None, _at(without, every), _at(leaky, every))


def _at(found: LeakedTopics, places: list[int]) -> LeakedTopics:
    """The mean over some sizes."""
    ranks, scores, offsets = (values[places].mean(axis=0) for values in (found.ranks, found.scores, found.offsets))
    return LeakedTopics(ranks, scores, offsets, found.documents)


def _memory(model: str, kind: str, size: int | None, without: LeakedTopics, leaky: LeakedTopics) -> Memory:
    test = paired_t(leaky.offsets, without.offsets)
    assert test.interval is not None
    return Memory(
        model,
        kind,
        size,
        len(leaky.ranks),
        leaky.documents,
        _spread(without.ranks),
        _spread(leaky.ranks),
        _spread(without.scores),
        _spread(leaky.scores),
        _spread(leaky.offsets - without.offsets),
        test.interval,
        test.p,
    )


def _spread(values: Floats) -> Spread:
    return Spread(float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else 0.0)
