"""A small world: documents on a few subjects, a log with two sources, topics with judgments, and leaks."""

from __future__ import annotations

import pytest

from ringtrue.data.collection import Collection
from ringtrue.data.records import Document, LogQuery, Qrel, Query

SUBJECTS = ("bees", "bread", "clocks", "tides", "trains", "lamps")


def _documents() -> list[Document]:
    found = []
    for subject in SUBJECTS:
        for n in range(8):
            text = f"{subject} need care number{n} and patience. Some {subject} word{n} differ much."
            found.append(Document(f"{subject}-{n}", text, f"{subject} part {n}"))
    return found


def _log() -> list[LogQuery]:
    found = []
    for subject in SUBJECTS:
        for n in range(8):
            doc = (f"{subject}-{n}",)
            found.append(LogQuery(f"w-{subject}-{n}", f"{subject} word{n} alpha{n} things", "web", doc))
            found.append(LogQuery(f"q-{subject}-{n}", f"why do {subject} need number{n} beta{n}", "questions", doc))
    found.append(LogQuery("leak-1", "care of bees", "web", ("bees-0",)))
    found.append(LogQuery("leak-2", "caring for bees at home", "questions", ("bees-1",)))
    found.append(LogQuery("leak-3", "care of bread", "web", ("bread-0",)))
    found.append(LogQuery("no-docs", "an orphan query", "web"))
    found.append(LogQuery("short", "query with a short document", "web", ("short",)))
    return found


@pytest.fixture
def world() -> Collection:
    qrels = [Qrel(f"t-{subject}", f"{subject}-{n}", int(n < 3)) for subject in SUBJECTS[:4] for n in range(6)]
    return Collection.from_records(
        "world",
        [*_documents(), Document("short", "x1")],
        [Query(f"t-{subject}", f"care of {subject}") for subject in SUBJECTS[:4]],
        qrels,
        _log(),
    )
