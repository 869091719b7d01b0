"""How far two people agree on the same pairs: Cohen's kappa on the title's type, the variant's, and true or false.

The title is compared under both readings of rows that carry `Different Topic` beside another label, since the study
does not say which it used. The study's own .59 comes out under no reading that it describes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ringtrue.audit import Column, Interval, Table
from ringtrue.data.notes import Note, Notes
from ringtrue.errors import InputError
from ringtrue.evaluation.agreement import cohen_kappa
from ringtrue.evaluation.significance import bootstrap_interval
from ringtrue.leakage.labels import LabelledPair, distinct, is_leak, relation, type_of

_Reading = Callable[[Sequence[str]], object]

_READINGS: Mapping[str, tuple[str, _Reading]] = {
    "title": (
        "type against the title; Different Topic wins over other labels",
        type_of,
    ),
    "title_first": (
        "type against the title; Different Topic only without a label for the title",
        lambda labels: relation(labels, "title", different_first=False) or "reformulation",
    ),
    "variant": (
        "type against the nearest text; Different Topic only without a label for it",
        lambda labels: relation(labels, "variant", different_first=False),
    ),
    "true_false": ("a true leak or a different topic", is_leak),
}


class Kappa(NamedTuple):
    """One reading of the labels: Cohen's kappa with its interval, and the share of pairs labelled alike."""

    name: str
    what: str
    kappa: float
    interval: Interval
    alike: float
    pairs: int


@dataclass(frozen=True)
class Agreement:
    """What two people agree on, and which pairs only one of them labelled."""

    kappas: tuple[Kappa, ...]
    notes: tuple[Note, ...]

    def __getitem__(self, name: str) -> Kappa:
        """One reading by its name: title, title_first, variant or true_false."""
        return next(kappa for kappa in self.kappas if kappa.name == name)

    def tables(self) -> tuple[Table, ...]:
        """The kappas, for reports."""
        columns = (
            Column("name", "Labels"),
            Column("what", "Reading"),
            Column("kappa", "Kappa", 4),
            Column("low", "Low", 4, "lower end of the 95 % interval"),
            Column("high", "High", 4, "upper end of the 95 % interval"),
            Column("alike", "Alike", 4, "share of pairs with the same label"),
            Column("pairs", "Pairs"),
        )
        rows = tuple(
            (one.name, one.what, one.kappa, one.interval.low, one.interval.high, one.alike, one.pairs)
            for one in self.kappas
        )
        note = "Intervals by bootstrap over pairs; pairs of one topic are alike, so that true ones are somewhat wider."
        return (Table("agreement", "Agreement of two annotators", columns, rows, note),)


def compare(
    first: Iterable[LabelledPair], second: Iterable[LabelledPair], *, replicates: int = 2000, seed: int = 0
) -> Agreement:
    """Compare the labels of two people on the pairs that both labelled."""
    notes = Notes()
    a, b = ({(one.topic_id, one.query_id): one.labels for one in distinct(side, notes)} for side in (first, second))
    shared = [key for key in a if key in b]
    if not shared:
        raise InputError(
            f"the two files share no labelled pair ({len(a)} and {len(b)} pairs); give two people's labels of the same "
            "topics and queries."
        )
    for side, other in ((a, b), (b, a)):
        for topic_id, query_id in side:
            if (topic_id, query_id) not in other:
                notes.add("pairs that only one of the two labelled", f"topic {topic_id}, query {query_id}")
    kappas = tuple(
        _kappa(name, what, [read(a[key]) for key in shared], [read(b[key]) for key in shared], replicates, seed)
        for name, (what, read) in _READINGS.items()
    )
    return Agreement(kappas, tuple(notes))


def _kappa(name: str, what: str, a: Sequence[object], b: Sequence[object], replicates: int, seed: int) -> Kappa:
    """One reading, with a bootstrap over pairs."""
    places = np.arange(len(a), dtype=np.float64)

    def resampled(chosen: np.ndarray) -> float:
        rows = chosen.astype(np.int64).tolist()
        return cohen_kappa([a[row] for row in rows], [b[row] for row in rows])

    interval = bootstrap_interval(places, resampled, replicates=replicates, seed=seed)
    alike = sum(one == other for one, other in zip(a, b, strict=True)) / len(a)
    return Kappa(name, what, cohen_kappa(a, b), interval, alike, len(a))
