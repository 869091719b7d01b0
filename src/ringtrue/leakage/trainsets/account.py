"""The account of training sets: what is in each, what was left out, and that nothing near a topic is left."""

from __future__ import annotations

from typing import Any

from ringtrue.audit import Cell, Column, Evidence, Section, Table, Text
from ringtrue.data.notes import notes_tables
from ringtrue.leakage.trainsets.records import TITLES, Trainset, Trainsets
from ringtrue.provenance import stamp

_ORIGINS = ("log", "document", "leak", "topic")


def describe(one: Trainset, made: Trainsets) -> dict[str, Any]:
    """One set's account, with plain values."""
    documents = {key for triple in one.triples for key in (triple.positive, triple.negative)}
    return {
        "kind": one.kind,
        "title": TITLES[one.kind],
        "instances": one.instances,
        "queries": len(one.triples),
        "by_origin": dict(one.by_origin),
        "without_leakage_by_source": dict(one.by_source),
        "leaked_topics": len(one.leaked_topics),
        "documents": len(documents),
        "rest": made.rest,
        "leaks": made.leak_rule if one.kind == "msm" else "",
        "detector": {"encoder": made.encoder, "threshold": made.threshold},
        "highest_similarity_without_leakage": made.nearest[0].similarity if made.nearest else None,
        "seed": made.settings.seed,
    }


def in_words(one: Trainset, made: Trainsets) -> str:
    """The same for people."""
    count = one.by_origin
    lines = [
        f"{TITLES[one.kind]}: {one.instances:,} instances, a relevant and a non-relevant document for each of "
        f"{len(one.triples):,} queries.",
        f"Queries without leakage: {count.get('log', 0) + count.get('document', 0):,} ({made.rest}); "
        f"{', '.join(f'{source} {number:,}' for source, number in one.by_source.items()) or 'none'}.",
    ]
    if one.kind == "msm":
        lines.append(
            f"Leaking queries: {count.get('leak', 0):,} of {made.leaks_known:,} ({made.leak_rule}), against "
            f"{len(one.leaked_topics):,} topics."
        )
    if one.kind == "test":
        lines.append(f"Test topics: {count.get('topic', 0):,} times, {len(one.leaked_topics):,} topics.")
    if made.nearest:
        nearest = made.nearest[0]
        lines.append(
            f"No query of the rest is above {made.threshold:g} for any topic ({made.encoder}); the nearest of all sets "
            f"has {nearest.similarity:.4f}: {nearest.query!r} to {nearest.text!r} (topic {nearest.topic_id})."
        )
    return "\n".join(lines) + "\n"


def account_of(made: Trainsets) -> Evidence:
    """Everything as tables."""
    settings = made.settings
    parts: list[Section] = [_sets_table(made), _sources_table(made), _text(made)]
    if made.nearest:
        parts.append(_nearest_table(made))
    parts += notes_tables(made.notes, "Skipped and tolerated", "skipped")
    provenance = stamp(
        (settings.ranker, settings.encoder),
        made.inputs,
        {"seed": settings.seed, "threshold": made.threshold, "depth": settings.depth, "repeats": settings.repeats},
    )
    return Evidence("trainsets", "What are the training sets made of?", tuple(parts), provenance)


def _sets_table(made: Trainsets) -> Table:
    columns = (
        Column("kind", "Kind"),
        Column("instances", "Instances", None, "pairs of a query and a document"),
        Column("queries", "Queries", None, "each with a relevant and a non-relevant document"),
        Column("log", "Log", None, "queries of the log without leakage"),
        Column("document", "Made", None, "queries made of documents"),
        Column("leak", "Leaks", None, "queries that leak a topic"),
        Column("topic", "Topics", None, "test topics as queries"),
        Column("leaked_topics", "Leaked topics"),
    )
    rows: list[tuple[Cell, ...]] = []
    for one in made.sets:
        counts = one.by_origin
        origins = (counts.get(origin, 0) for origin in _ORIGINS)
        rows.append((TITLES[one.kind], one.instances, len(one.triples), *origins, len(one.leaked_topics)))
    return Table("sets", f"{len(rows)} training sets", columns, tuple(rows), "Larger sets contain the smaller.")


def _sources_table(made: Trainsets) -> Table:
    columns = (Column("set", "Set"), Column("source", "Source"), Column("queries", "Queries"))
    rows = tuple((one.name, source, number) for one in made.sets for source, number in one.by_source.items())
    return Table("sources", "Queries without leakage by source", columns, rows)


def _text(made: Trainsets) -> Text:
    settings = made.settings
    body = (
        f"Queries without leakage: {made.rest}. Of {made.checked:,} that were drawn the detector ({made.encoder}) "
        f"found {made.near:,} above {made.threshold:g} for some topic; they were left out, and what was taken was "
        "searched once more. "
    )
    if made.leak_rule:
        body += f"Leaking queries: {made.leak_rule}, {made.leaks_known:,} known. "
    body += (
        f"Non-relevant documents are drawn uniformly from the best {settings.depth} of {settings.ranker} that are not "
        "relevant; those of test topics from the judgments."
    )
    return Text("making", "How they were made", body)


def _nearest_table(made: Trainsets) -> Table:
    columns = (
        Column("topic_id", "Topic"),
        Column("text", "Text", None, "of the topic's texts the one that comes nearest"),
        Column("query", "Nearest query without leakage"),
        Column("similarity", "Similarity", 4),
    )
    note = f"None is above {made.threshold:g}, so that none counts as a leak."
    return Table("nearest", "What comes nearest to each topic", columns, tuple(made.nearest), note)
