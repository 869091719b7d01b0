"""A collection of six documents, rankers that are easy to follow, and variations of four queries."""

from __future__ import annotations

from dataclasses import dataclass

from ringtrue.data.collection import Collection
from ringtrue.data.records import Document, Qrel, Query
from ringtrue.data.runs import Run
from ringtrue.retrieval.pipeline import Composable
from ringtrue.robustness.validity import Checked, check
from ringtrue.robustness.variations import Variation

DOCUMENTS = {
    "d1": "red fox in the snow",
    "d2": "red lamp by the door",
    "d3": "fox and dog",
    "d4": "snow on the lamp",
    "d5": "door of the house",
    "d6": "dog in the house",
}
QUERIES = (
    Query("q1", "red fox"),
    Query("q2", "lamp door"),
    Query("q3", "dog house"),
    Query("q4", "snow"),
    Query("q9", "nobody judged this"),
)
QRELS = (
    Qrel("q1", "d1", 2),
    Qrel("q1", "d3", 1),
    Qrel("q1", "d2", 0),
    Qrel("q2", "d2", 1),
    Qrel("q2", "d5", 0),
    Qrel("q3", "d6", 1),
    Qrel("q3", "d3", 1),
    Qrel("q4", "d1", 1),
    Qrel("q4", "d4", 1),
)
COLLECTION = Collection.from_records("toy", [Document(*item) for item in DOCUMENTS.items()], QUERIES, QRELS)

_TITLES = {query.query_id: query.title for query in QUERIES}


def row(query_id: str, category: str, method: str, text: str | None) -> Variation:
    return Variation(query_id, category, method, _TITLES[query_id], text, 1)


VARIATIONS = (
    row("q1", "misspelling", "DeleteChar", "red fx"),
    row("q1", "misspelling", "DeleteChar", "re fox"),
    row("q2", "misspelling", "DeleteChar", "lmp dor"),
    row("q3", "misspelling", "DeleteChar", "dog huse"),
    row("q4", "misspelling", "DeleteChar", None),
    row("q1", "ordering", "RandOrderSwap", "fox red"),
    row("q2", "ordering", "RandOrderSwap", "lamp door"),
    row("q3", "ordering", "RandOrderSwap", "house dog"),
    row("q1", "recorded", "Recorded", "snow fox"),
    row("q9", "recorded", "Recorded", "this"),
)


def checked() -> tuple[Checked, ...]:
    return check(VARIATIONS)


@dataclass(frozen=True, repr=False)
class Overlap(Composable):
    """Counts the words that a document shares with the query; `first` words of the query count double."""

    first: int = 0

    def rank(self, collection, queries, candidates=None):
        results = {}
        for query in queries:
            among = None if candidates is None else {line.doc_id for line in candidates.ranking(query.query_id)}
            words = query.title.split()
            scores = {
                document.doc_id: float(
                    sum(1 + (place < self.first) for place, word in enumerate(words) if word in document.text.split())
                )
                for document in collection.documents()
                if among is None or document.doc_id in among
            }
            results[query.query_id] = [(doc, score) for doc, score in scores.items() if score]
        return Run.from_results(repr(self), {query_id: pairs for query_id, pairs in results.items() if pairs})


@dataclass(frozen=True, repr=False)
class Fragile(Overlap):
    """Breaks on one word."""

    word: str = "lmp"

    def rank(self, collection, queries, candidates=None):
        if any(self.word in query.title for query in queries):
            raise ZeroDivisionError(f"cannot do {self.word}")
        return super().rank(collection, queries, candidates)
