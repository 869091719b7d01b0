"""What people said about candidates: true leak or not, and which kind of reformulation.

The labels are those of Fröbe et al. (SPIRE 2022), given in doccano: one `Title-…` label says how the query relates to
the topic's title, one `Variant-…` label how it relates to the text that came nearest, `Different Topic` that it is no
leak. The study does not say how rows that break this convention count; here `Different Topic` wins over any other
label, of several labels for the title the first in the file counts, and a row with labels but none for the title is a
reformulation. These rules give the study's table exactly. A row without any label was not looked at and counts nowhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ringtrue.audit import Cell, Column, Table
from ringtrue.data.notes import Note, Notes
from ringtrue.errors import InputError, UnknownNameError, brief
from ringtrue.leakage.candidates import TYPES, folded

DIFFERENT = "different-topic"
ALL = "all"
Scope = Literal["title", "variant"]
_SPELLINGS = {"generalisation": "generalization", "specialisation": "specialization"}


class LabelledPair(NamedTuple):
    """A topic, a training query, and the labels that one person gave, in the order of the file.

    `text` is the topic's text that came nearest. `weight` is how many pairs it stands for where a sample was labelled.
    `row` is the row as JSON text, so that what it holds beyond these fields can be written back.
    """

    topic_id: str
    query_id: str
    query: str
    title: str = ""
    text: str = ""
    similarity: float | None = None
    labels: tuple[str, ...] = ()
    weight: float = 1.0
    source: str = ""
    row: str = ""


class LabelCount(NamedTuple):
    """True and false leaks of one test collection, as queries and as topics that have one."""

    collection: str
    true_queries: int
    true_topics: int
    false_queries: int
    false_topics: int


@dataclass(frozen=True)
class LabelSummary:
    """The study's second table: leaks by collection, and all pairs by type of reformulation."""

    pairs: int
    counts: tuple[LabelCount, ...]
    types: Mapping[str, int]
    notes: tuple[Note, ...]

    def tables(self) -> tuple[Table, ...]:
        """Both parts, for reports."""
        columns = (
            Column("collection", "Collection"),
            Column("true_queries", "True leaks", None, "labelled queries that leak a topic"),
            Column("true_topics", "in topics", None, "topics with a true leak"),
            Column("false_queries", "False leaks", None, "labelled queries on a different topic"),
            Column("false_topics", "in topics", None, "topics with a false one"),
        )
        kinds = (Column("type", "Type"), Column("queries", "Queries"), Column("share", "Share", 3))
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (name, number, number / self.pairs if self.pairs else None) for name, number in self.types.items()
        )
        return (
            Table("labels", f"{self.pairs:,} labelled pairs", columns, self.counts, "A topic may have both kinds."),
            Table("types", "How the queries relate to the title", kinds, rows),
        )


def relation(labels: Sequence[str], scope: Scope = "title", *, different_first: bool = True) -> str | None:
    """The type that labels give a pair, None where they give none.

    `different_first` lets `Different Topic` win over a label of the scope; otherwise it counts only where there is no
    such label.
    """
    read = [_read(label) for label in labels]
    is_different = any(kind == DIFFERENT for _, kind in read)
    given = next((kind for where, kind in read if where == scope), None)
    if is_different and (different_first or given is None):
        return DIFFERENT
    return given


def type_of(labels: Sequence[str]) -> str | None:
    """The reformulation type under the rules of this module; None for a pair that nobody labelled."""
    return (relation(labels) or "reformulation") if labels else None


def is_leak(labels: Sequence[str]) -> bool | None:
    """Whether the labels say that the query leaks the topic; None for a pair that nobody labelled."""
    kind = type_of(labels)
    return None if kind is None else kind != DIFFERENT


def distinct(pairs: Iterable[LabelledPair], notes: Notes) -> tuple[LabelledPair, ...]:
    """Each labelled pair once; two people's labels for one pair are an error, pairs without labels are counted."""
    found: dict[tuple[str, str, str], LabelledPair] = {}
    for pair in pairs:
        where = f"{pair.source or 'labels'}, topic {pair.topic_id}, query {pair.query_id}"
        if not pair.labels:
            notes.add("pairs without any label left out", where)
            continue
        try:
            type_of(pair.labels)
        except UnknownNameError as error:
            raise InputError(f"{where}: {error}") from error
        before = found.setdefault((pair.topic_id, pair.query_id, folded(pair.query)), pair)
        if before is pair:
            continue
        if set(before.labels) != set(pair.labels):
            raise InputError(
                f"topic {pair.topic_id!r} and query {pair.query_id!r} are labelled {_listed(before)} and "
                f"{_listed(pair)}; give one adjudicated label for each pair, or compare the files by agreement."
            )
        notes.add("pairs labelled twice alike counted once", where)
    return tuple(found.values())


def verified(pairs: Iterable[LabelledPair]) -> dict[tuple[str, str], bool]:
    """Whether each labelled pair, by topic and query id, is a true leak; of two queries of one id either may be."""
    found: dict[tuple[str, str], bool] = {}
    for (topic_id, query_id, _), is_true in verified_texts(pairs).items():
        found[topic_id, query_id] = is_true or found.get((topic_id, query_id), False)
    return found


def verified_texts(pairs: Iterable[LabelledPair]) -> dict[tuple[str, ...], bool]:
    """The same with the queries' texts, for logs in which two queries may have one id."""
    checked = distinct(pairs, Notes())
    return {(one.topic_id, one.query_id, folded(one.query)): type_of(one.labels) != DIFFERENT for one in checked}


def summarise(
    pairs: Iterable[LabelledPair], collections: Mapping[str, Collection[str]] | None = None, notes: Notes | None = None
) -> LabelSummary:
    """Count the labels; `collections` maps a test collection's name to its topic ids, which may overlap."""
    notes = Notes() if notes is None else notes
    labelled = distinct(pairs, notes)
    if not labelled:
        raise InputError("no labels: the files hold no pair that anyone labelled.")
    _check_topics(labelled, collections or {})
    for pair in labelled:
        _note_odd(pair, notes)
        if collections and not any(pair.topic_id in ids for ids in collections.values()):
            notes.add("labelled pairs of topics that no given collection has", f"topic {pair.topic_id}")
    kinds = Counter(type_of(pair.labels) for pair in labelled)
    everything = {pair.topic_id for pair in labelled}
    return LabelSummary(
        pairs=len(labelled),
        counts=tuple(_count(labelled, *item) for item in (*(collections or {}).items(), (ALL, everything))),
        types={kind: kinds[kind] for kind in TYPES},
        notes=tuple(notes),
    )


def _check_topics(pairs: Sequence[LabelledPair], collections: Mapping[str, Collection[str]]) -> None:
    """Labels of which no collection has a topic are those of others."""
    known = sorted(set().union(*collections.values()))
    labelled = sorted({pair.topic_id for pair in pairs})
    if collections and not set(labelled).intersection(known):
        raise InputError(
            f"none of the {len(labelled)} labelled topics ({brief(labelled)}) is in {', '.join(collections)}, "
            f"which has {brief(known)}; are these the topics of other labels?"
        )


def _count(pairs: Iterable[LabelledPair], name: str, topic_ids: Collection[str]) -> LabelCount:
    """The row of one collection."""
    inside = [pair for pair in pairs if pair.topic_id in topic_ids]
    true = [pair.topic_id for pair in inside if is_leak(pair.labels)]
    false = [pair.topic_id for pair in inside if not is_leak(pair.labels)]
    return LabelCount(name, len(true), len(set(true)), len(false), len(set(false)))


def _note_odd(pair: LabelledPair, notes: Notes) -> None:
    """Count what does not keep to the convention, with the rule that was applied."""
    where = f"{pair.source or 'labels'}, topic {pair.topic_id}, query {pair.query_id}"
    titles = [kind for scope, kind in map(_read, pair.labels) if scope == "title"]
    is_different = relation(pair.labels) == DIFFERENT
    if is_different and titles:
        notes.add("pairs with Different Topic and a label for the title, counted as different", where)
    elif len(titles) > 1:
        notes.add("pairs with several labels for the title, the first counted", where)
    elif not (titles or is_different):
        notes.add("pairs without a label for the title, counted as reformulation", where)


def _read(label: str) -> tuple[str, str]:
    """The scope and the type of one label; one without a scope is about the title."""
    scope, _, kind = "-".join(label.lower().replace("_", " ").replace("-", " ").split()).partition("-")
    if (scope, kind) == ("different", "topic"):
        return "", DIFFERENT
    if not kind:
        scope, kind = "title", scope
    kind = _SPELLINGS.get(kind, kind)
    if scope not in ("title", "variant") or kind not in TYPES or kind == DIFFERENT:
        known = [f"{where}-{what}".title() for where in ("title", "variant") for what in TYPES if what != DIFFERENT]
        raise UnknownNameError("label", label, (*known, "Different Topic"))
    return scope, kind


def _listed(pair: LabelledPair) -> str:
    """The labels of a pair and where they come from, for messages."""
    return " + ".join(pair.labels) + (f" ({pair.source})" if pair.source else "")
