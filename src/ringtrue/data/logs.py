"""Queries as a training log: each with the documents that are judged relevant for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ringtrue.data.qrels import Qrels
from ringtrue.data.records import LogQuery, Positive, Query


def as_log(queries: Iterable[Query], source: str = "") -> Iterator[LogQuery]:
    """The queries with their titles as texts, not yet with documents."""
    return (LogQuery(query.query_id, query.title, source) for query in queries)


def with_positives(log: Iterable[LogQuery], qrels: Qrels) -> Iterator[LogQuery]:
    """The log with the relevant documents of each query that names none itself."""
    relevant: dict[str, list[str]] = {}
    for query_id, doc_id, relevance in qrels:
        if relevance > 0:
            relevant.setdefault(query_id, []).append(doc_id)
    for entry in log:
        yield entry if entry.doc_ids else entry._replace(doc_ids=tuple(relevant.get(entry.query_id, ())))


def positives_of(log: Iterable[LogQuery]) -> Iterator[Positive]:
    """The pairs of a training log."""
    return (Positive(entry.query_id, doc_id, entry.source or None) for entry in log for doc_id in entry.doc_ids)
