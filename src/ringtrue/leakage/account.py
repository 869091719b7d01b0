"""The account of what went from the training data, as tables and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ringtrue.audit import Cell, Column, Table
from ringtrue.leakage.result import Cleaning, Dropped


def account_tables(cleaning: Cleaning) -> tuple[Table, ...]:
    """What went by file, source and topic, and each query with its reason."""
    files = (
        Column("given", "Training data"),
        Column("written", "Written as"),
        Column("records", "Records"),
        Column("dropped", "Dropped"),
        Column("other_text", "Other text", None, "dropped by id though the text is not the candidate's"),
    )
    queries = Column("queries", "Queries")
    sources, topics = tuple(cleaning.by_source.items()), tuple(cleaning.by_topic.items())
    return (
        Table("files", f"Training files without leaks ({cleaning.rule})", files, tuple(cleaning.files)),
        Table("sources", "Dropped by source", (Column("source", "Source"), queries), sources),
        Table("topics", "Dropped by topic", (Column("topic_id", "Topic"), queries), topics),
        _queries_table("dropped", f"{len(cleaning.dropped):,} queries dropped", cleaning.dropped),
        _queries_table("not_found", f"{len(cleaning.not_found):,} queries not found", cleaning.not_found),
    )


def _queries_table(name: str, title: str, queries: Iterable[Dropped]) -> Table:
    columns = (
        Column("query_id", "Query id"),
        Column("query", "Training query"),
        Column("source", "Source"),
        Column("topics", "Topics"),
        Column("similarity", "Similarity", 4),
        Column("reason", "Reason"),
        Column("records", "Records", None, "how often it was in the training data"),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (one.query_id, one.query, one.source, " ".join(one.topic_ids), one.similarity, one.reason, one.records)
        for one in queries
    )
    return Table(name, title, columns, rows)


def account_json(cleaning: Cleaning) -> str:
    """The account as JSON: counts first, then every query that went, and those that were not there."""
    content = {
        "rule": cleaning.rule,
        "candidates": cleaning.candidates,
        "without_probability": cleaning.without_probability,
        "dropped_queries": len(cleaning.dropped),
        "not_found_queries": len(cleaning.not_found),
        "files": [file._asdict() for file in cleaning.files],
        "by_source": dict(cleaning.by_source),
        "by_topic": dict(cleaning.by_topic),
        "dropped": [one._asdict() for one in cleaning.dropped],
        "not_found": [one._asdict() for one in cleaning.not_found],
    }
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
