"""Which candidates people should look at: a stratified sample for the threshold, the nearest ones for verification.

Fröbe et al. (SPIRE 2022) label 100 pairs above 0.8, stratified by similarity, to find the threshold, and then verify
the five most similar queries of each topic above it. Each pair of the stratified sample carries as weight how many
pairs of its stratum it stands for.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence

from ringtrue.data.records import Query
from ringtrue.errors import InputError, brief
from ringtrue.leakage.candidates import Candidate, folded
from ringtrue.leakage.labels import LabelledPair

_GAP = 0.01
_FEWEST_OF_K = 10  # lists of the k nearest have k of each topic; of all above a threshold some topics have few


def for_threshold(
    candidates: Iterable[Candidate], topics: Iterable[Query] = (), *, n: int = 100, low: float = 0.8, bins: int = 10,
    seed: int = 0,
) -> tuple[LabelledPair, ...]:  # fmt: skip
    """Draw n pairs above `low`, as equally over bins of similarity as these can give; most similar first.

    Where there are no more than n pairs all of them come. The order of the candidates does not matter.
    """
    if n < 1 or bins < 1 or not low < 1:
        raise InputError(f"{n} pairs in {bins} bins above {low:g}: n and bins must be at least 1, and low below 1.")
    strata: list[list[Candidate]] = [[] for _ in range(bins)]
    for candidate in _best(candidates):
        if candidate.similarity > low:
            place = int((candidate.similarity - low) / (1 - low) * bins)
            strata[min(place, bins - 1)].append(candidate)
    if not any(strata):
        raise InputError(f"no candidate is above {low:g}; search with a lower threshold.")
    rng = random.Random(seed)
    titles = _by_id(topics, [candidate for stratum in strata for candidate in stratum])
    chosen = []
    for stratum, number in zip(strata, _shares([len(stratum) for stratum in strata], n), strict=True):
        weight = len(stratum) / number if number else 0.0
        chosen += [(candidate, weight) for candidate in rng.sample(stratum, number)]
    return tuple(_task(one, titles, weight) for one, weight in sorted(chosen, key=lambda item: _by_similarity(item[0])))


def not_covered(candidates: Iterable[Candidate], low: float = 0.8) -> str:
    """What a sample above `low` cannot hold since the candidates do not go down to it, in words; else empty."""
    ends: dict[str, list[float]] = {}
    for candidate in _best(candidates):
        ends.setdefault(candidate.topic_id, []).append(candidate.similarity)
    lowest = [some[-1] for some in ends.values()]
    if lowest and min(lowest) > low + _GAP:
        return (
            f"the candidates begin at {min(lowest):.3f}, so that nothing from {low:g} up to there can be drawn; give "
            f"neighbours.jsonl of the same search, or search with --threshold {low:g}"
        )
    above = sum(one > low + _GAP for one in lowest)
    if above and min(map(len, ends.values())) >= _FEWEST_OF_K:
        return (
            f"of {above:,} of {len(ends):,} topics only the k nearest queries are given, which end above {low:g}, so "
            f"that nothing farther of these can be drawn; search with a larger --k, or with --threshold {low:g} for all"
        )
    return ""


def for_verification(
    candidates: Iterable[Candidate], topics: Iterable[Query] = (), *, threshold: float, per_topic: int = 5
) -> tuple[LabelledPair, ...]:
    """The most similar queries of each topic above the threshold, topics by id, equal similarities by query id."""
    found: dict[str, list[Candidate]] = {}
    for candidate in _best(candidates):
        if candidate.similarity > threshold:
            found.setdefault(candidate.topic_id, []).append(candidate)
    if not found:
        raise InputError(f"no candidate is above {threshold:g}; there is nothing to verify.")
    titles = _by_id(topics, [candidate for some in found.values() for candidate in some])
    return tuple(_task(one, titles, 1.0) for topic_id in sorted(found) for one in found[topic_id][:per_topic])


def _by_id(topics: Iterable[Query], candidates: Sequence[Candidate]) -> dict[str, Query]:
    """Topics by id; where none of the candidates is of one, or none of their titles, they are of another collection."""
    known = {topic.query_id: topic for topic in topics}
    asked = sorted({one.topic_id for one in candidates})
    titled = [one for one in candidates if one.field == "title" and one.topic_id in known]
    if titled and not any(folded(one.text) == folded(known[one.topic_id].title) for one in titled):
        first = titled[0]
        raise InputError(
            f"the topics given are not those of the candidates: {first.topic_id!r} is "
            f"{known[first.topic_id].title[:60]!r}, and was {first.text[:60]!r} in the search; give the topics that "
            "were searched for (--test)."
        )
    if known and not known.keys() & set(asked):
        raise InputError(
            f"none of the {len(asked)} topics of the candidates ({brief(asked)}) is among the {len(known)} topics "
            f"given ({brief(tuple(known))}); give the topics that were searched for (--test)."
        )
    return known


def _shares(sizes: Sequence[int], n: int) -> list[int]:
    """How many to draw from each stratum: one each in turn, from the top, until n are found or all are drawn."""
    shares = [0] * len(sizes)
    left = min(n, sum(sizes))
    while left:
        for place in reversed(range(len(sizes))):
            if left and shares[place] < sizes[place]:
                shares[place] += 1
                left -= 1
    return shares


def _best(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The best row of each topic and query, most similar first; two sources may give one id to two queries."""
    found: dict[tuple[str, str, str], Candidate] = {}
    for candidate in sorted(candidates, key=_by_similarity):
        found.setdefault((candidate.topic_id, candidate.query_id, folded(candidate.query)), candidate)
    return list(found.values())


def _by_similarity(candidate: Candidate) -> tuple[float, str, str, str]:
    return -candidate.similarity, candidate.topic_id, candidate.query_id, candidate.text


def _task(candidate: Candidate, topics: Mapping[str, Query], weight: float) -> LabelledPair:
    """A candidate as a row to be labelled, with what people need to know of its topic."""
    topic = topics.get(candidate.topic_id)
    more = {"description": topic.description, "narrative": topic.narrative} if topic else {}
    row: dict[str, object] = {
        "text": candidate.query,
        "label": [],
        "title": topic.title if topic else "",
        "topic_id": candidate.topic_id,
        "variant": candidate.text,
        **{name: value for name, value in more.items() if value},
        "query_id": candidate.query_id,
        "similarity": float(candidate.similarity),
        "weight": weight,
    }
    return LabelledPair(
        topic_id=candidate.topic_id,
        query_id=candidate.query_id,
        query=candidate.query,
        title=topic.title if topic else "",
        text=candidate.text,
        similarity=float(candidate.similarity),
        weight=weight,
        source=candidate.source,
        row=json.dumps(row, ensure_ascii=False),
    )
