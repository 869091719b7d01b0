"""Pairs of queries that people sorted into the taxonomy: counts, agreement, and how the rules of `classify` compare.

The study had three people annotate 200 pairs of UQV100 queries each (Bailey et al., SIGIR 2016), 25 of them in common.
Its counts are over all 600 rows; counts over the 550 distinct pairs stand beside them here. The rules were made on the
pairs of one half of the stories, told by a hash of the story's id, and are tested on those of the other half.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ringtrue.data.formats.tables import Shape, read_rows
from ringtrue.data.notes import Notes
from ringtrue.errors import FormatError, InputError
from ringtrue.evaluation.agreement import cohen_kappa, fleiss_kappa
from ringtrue.retrieval.encoders import Encoder
from ringtrue.robustness.taxonomy import Kind, classify_all

COLUMNS = {
    "generalization/specialization": Kind.SPECIALISATION,
    "aspect change": Kind.ASPECT,
    "naturality": Kind.NATURALITY,
    "word ordering": Kind.ORDERING,
    "paraphrasing": Kind.PARAPHRASING,
}
ANNOTATED = tuple(COLUMNS.values())
_TRUTHS = {"true": True, "false": False}


class Annotation(NamedTuple):
    """What one person says of a pair of queries."""

    pair_id: str
    story: str
    first: str
    second: str
    kinds: frozenset[Kind]


Annotator = tuple[Annotation, ...]


class KindAgreement(NamedTuple):
    """How often people see one kind of change, and how far they and the rules agree."""

    kind: Kind
    stacked: int
    distinct: int
    people: float
    people_fleiss: float
    rules_made_on: float
    rules_tested_on: float


class TaxonomyAgreement(NamedTuple):
    """Counts over all rows (`stacked`) and over distinct pairs, and mean coefficients over kinds."""

    kinds: tuple[KindAgreement, ...]
    rows: int
    pairs: int
    common: int
    several: int
    several_distinct: int
    none: int
    people: float
    rules_made_on: float
    rules_tested_on: float
    tested_pairs: int
    encoder: str


def read_annotations(path: str | Path, notes: Notes) -> Annotator:
    """One person's file; a pair that is there twice is an error."""
    found: dict[str, Annotation] = {}
    for line, cells in read_rows(path, Shape.CSV, notes, ("id", "uqv story", "query 1", "query 2", *COLUMNS)):
        missing = [name for name in ("id", "query 1", "query 2", *COLUMNS) if name not in cells]
        if missing:
            raise FormatError(f"no column {missing[0]!r}; found {', '.join(cells)}.", path, line)
        one = Annotation(
            str(cells["id"]).strip(),
            str(cells.get("uqv story") or "").strip(),
            str(cells["query 1"]).strip(),
            str(cells["query 2"]).strip(),
            frozenset(kind for name, kind in COLUMNS.items() if _is_true(cells, name, path, line)),
        )
        if one.pair_id in found:
            raise FormatError(f"the pair {one.pair_id!r} was annotated before in this file.", path, line)
        found[one.pair_id] = one
    if not found:
        raise FormatError("no annotated pairs in this file.", path)
    return tuple(found.values())


def _is_true(cells: Mapping[str, object], name: str, path: str | Path, line: int) -> bool:
    text = str(cells[name]).strip().lower()
    if text not in _TRUTHS:
        raise FormatError(f"{name} should be TRUE or FALSE, not {cells[name]!r}.", path, line)
    return _TRUTHS[text]


def agreement(annotators: Sequence[Annotator], encoder: Encoder | None = None) -> TaxonomyAgreement:
    """Count the kinds, and compare people with each other and with the rules.

    Of a pair that several people annotated, the first one's labels count among the distinct pairs.
    """
    if not annotators:
        raise InputError("no annotations: give the files of one person or more.")
    rows = [one for annotator in annotators for one in annotator]
    distinct = {one.pair_id: one for one in reversed(rows)}
    common = _in_common(annotators)
    found = classify_all([(one.first, one.second) for one in distinct.values()], encoder)
    rules = dict(zip(distinct, found, strict=True))
    made_on = [one for one in rows if is_development(one.story)]
    tested_on = [one for one in rows if not is_development(one.story)]
    kinds = tuple(
        KindAgreement(
            kind,
            sum(kind in one.kinds for one in rows),
            sum(kind in one.kinds for one in distinct.values()),
            _mean(_pairwise(common, kind)),
            fleiss_kappa(_ratings(common, kind)) if len(common) > 1 and common[0] else float("nan"),
            _against_rules(made_on, rules, kind),
            _against_rules(tested_on, rules, kind),
        )
        for kind in ANNOTATED
    )
    return TaxonomyAgreement(
        kinds,
        len(rows),
        len(distinct),
        len(common[0]),
        sum(len(one.kinds) > 1 for one in rows),
        sum(len(one.kinds) > 1 for one in distinct.values()),
        sum(not one.kinds for one in rows),
        _mean([value for kind in ANNOTATED for value in _pairwise(common, kind)]),
        _mean([one.rules_made_on for one in kinds]),
        _mean([one.rules_tested_on for one in kinds]),
        len({one.pair_id for one in tested_on}),
        "" if encoder is None else repr(encoder),
    )


def is_development(story: str) -> bool:
    """Whether the rules were made on the pairs of this story."""
    return hashlib.md5(story.encode(), usedforsecurity=False).digest()[-1] % 2 == 0


def _in_common(annotators: Sequence[Annotator]) -> list[list[Annotation]]:
    """For each person the pairs that all have annotated, in one order."""
    by_id = [{one.pair_id: one for one in annotator} for annotator in annotators]
    shared = sorted(set.intersection(*(set(some) for some in by_id)))
    return [[some[pair_id] for pair_id in shared] for some in by_id]


def _pairwise(common: Sequence[Sequence[Annotation]], kind: Kind) -> list[float]:
    """Cohen's kappa of each two people; none where they have no pair in common."""
    if not common[0]:
        return []
    labels = [[kind in one.kinds for one in some] for some in common]
    return [cohen_kappa(first, second) for first, second in combinations(labels, 2)]


def _ratings(common: Sequence[Sequence[Annotation]], kind: Kind) -> list[list[bool]]:
    return [[kind in one.kinds for one in item] for item in zip(*common, strict=True)]


def _against_rules(rows: Sequence[Annotation], rules: Mapping[str, Sequence[Kind]], kind: Kind) -> float:
    """Cohen's kappa of the rules and the people, whoever they are."""
    if not rows:
        return float("nan")
    return cohen_kappa([kind in one.kinds for one in rows], [kind in rules[one.pair_id] for one in rows])


def _mean(values: Sequence[float]) -> float:
    finite = [value for value in values if np.isfinite(value)]
    return float(np.mean(finite)) if finite else float("nan")
