"""Facts about a collection and its judgments that decide what an evaluation can show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringtrue.data.collection import Collection
from ringtrue.data.qrels import Qrels


@dataclass(frozen=True)
class CollectionFacts:
    """Counts over documents, topics and judgments; None where the collection has no such part."""

    documents: int | None
    empty_documents: int | None
    words_per_document: float | None
    judged_not_in_corpus: tuple[str, ...]
    topics: int
    topics_with_description: int
    topics_with_narrative: int
    variants: int
    words_per_title: float
    topics_not_judged: tuple[str, ...]
    judged_not_a_topic: tuple[str, ...]


def collection_facts(collection: Collection) -> CollectionFacts:
    """Read the whole collection once."""
    documents = empty = words = 0
    unseen = dict.fromkeys(collection.qrels.docs)
    if collection.has_documents:
        for document in collection.documents():
            documents += 1
            length = document.body.count(" ") + 1 if document.body.strip() else 0
            words += length
            empty += not length
            unseen.pop(document.doc_id, None)
    queries = collection.queries
    known = {query.query_id for query in queries}
    judged = set(collection.qrels.topics)
    return CollectionFacts(
        documents=documents if collection.has_documents else None,
        empty_documents=empty if collection.has_documents else None,
        words_per_document=words / documents if documents else None,
        judged_not_in_corpus=tuple(unseen) if collection.has_documents else (),
        topics=len(queries),
        topics_with_description=sum(bool(query.description) for query in queries),
        topics_with_narrative=sum(bool(query.narrative) for query in queries),
        variants=sum(len(query.variants) for query in queries),
        words_per_title=sum(len(query.title.split()) for query in queries) / max(len(queries), 1),
        topics_not_judged=tuple(query.query_id for query in queries if query.query_id not in judged) if judged else (),
        judged_not_a_topic=tuple(topic for topic in collection.qrels.topics if queries and topic not in known),
    )


@dataclass(frozen=True, eq=False)
class JudgmentFacts:
    """Counts over judgments; `relevant` has one number a topic, in the order of the judgments' topics."""

    judgments: int
    by_grade: tuple[tuple[int, int], ...]
    relevant: NDArray[np.int64]
    topics_without_relevant: tuple[str, ...]


def judgment_facts(qrels: Qrels) -> JudgmentFacts:
    """Count grades and relevant documents."""
    grades, counts = np.unique(qrels.relevance, return_counts=True)
    relevant = np.bincount(qrels.topic[qrels.relevance > 0], minlength=len(qrels.topics)).astype(np.int64)
    without = tuple(topic for topic, number in zip(qrels.topics, relevant.tolist(), strict=True) if not number)
    by_grade = tuple(zip(grades.tolist(), counts.tolist(), strict=True))
    return JudgmentFacts(len(qrels), by_grade, relevant, without)
