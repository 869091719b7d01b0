"""What all lexical rankers share: query terms in, the best documents out.

A document's score is the sum over the query's terms of the term's weight in the query (how often it is there, or
what an expansion gives it) times its weight in the document. Documents with a score of zero, which are those
without a query term, are never returned, also where they are candidates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ringtrue.data.runs import Run
from ringtrue.errors import InputError
from ringtrue.retrieval.analysis import Analyser, StemmerName
from ringtrue.retrieval.index import Floats, Index, Ints, Postings, TermWeights, open_index
from ringtrue.retrieval.pipeline import Composable

if TYPE_CHECKING:
    from ringtrue.data.collection import Collection
    from ringtrue.data.records import Query


@dataclass(frozen=True, repr=False)
class Lexical(Composable, ABC):
    """A ranker that adds up the weights of terms."""

    depth: int = 1000
    stemmer: StemmerName = "porter2"
    stopwords: str = "none"

    family: ClassVar[str] = "lexical"

    @property
    def analyser(self) -> Analyser:
        """How this ranker reads texts and queries."""
        return Analyser(self.stemmer, self.stopwords)

    @abstractmethod
    def weigh(self, postings: Postings, index: Index) -> Floats:
        """The weight of one term in each of its documents."""

    def rank(self, collection: Collection, queries: Sequence[Query], candidates: Run | None = None) -> Run:
        """Rank by the words of each query, a repeated word counting as often as it is there."""
        index, analyser = open_index(collection, self.analyser), self.analyser
        counts = {query.query_id: index.count(analyser.tokens(query.title)) for query in queries}
        return self.rank_terms(index, counts, candidates)

    def rank_terms(
        self, index: Index, queries: Mapping[str, TermWeights], candidates: Run | None = None, *, name: str = ""
    ) -> Run:
        """Rank by weighted terms of the index; the run is called `name` or like the ranker."""
        if self.depth < 1:
            raise InputError(f"ranker {self!r}: depth is {self.depth}; it should be 1 or more.")
        results = {}
        for query_id, weights in queries.items():
            among = None if candidates is None else _numbers(index, candidates, query_id)
            docs, scores = best(*self._score(index, weights, among), self.depth)
            if len(docs):
                results[query_id] = list(zip(index.docs.texts(docs), scores.tolist(), strict=True))
        return Run.from_results(name or repr(self), results)

    def _score(self, index: Index, weights: TermWeights, among: Ints | None) -> tuple[Ints, Floats]:
        """Document numbers, ascending, and their scores, none of them zero."""
        scores = np.zeros(index.documents)
        with np.errstate(divide="ignore", invalid="ignore"):  # told below, with the ranker's name
            # in the order of the terms, whatever the order of the words: sums of floats depend on it
            for term, weight in sorted(weights.items()):
                postings = index.postings(term, among)
                scores[postings.docs] += weight * self.weigh(postings, index)
        docs = np.flatnonzero(scores) if among is None else among[scores[among] != 0]
        if not np.isfinite(scores[docs]).all():
            raise InputError(f"ranker {self!r} gives scores that are not finite; its options are out of range.")
        return docs, scores[docs]


def best(docs: Ints, scores: Floats, depth: int) -> tuple[Ints, Floats]:
    """The `depth` highest scores, best first; where scores tie the lower document number is taken first."""
    if len(docs) > depth:
        lowest = np.partition(scores, -depth)[-depth]
        above = np.flatnonzero(scores > lowest)
        tied = np.flatnonzero(scores == lowest)[: depth - len(above)]
        kept = np.concatenate((above, tied))
        docs, scores = docs[kept], scores[kept]
    order = np.lexsort((docs, -scores))
    return docs[order], scores[order]


def _numbers(index: Index, candidates: Run, query_id: str) -> Ints:
    """A query's candidates as ascending document numbers."""
    found = index.numbers(line.doc_id for line in candidates.ranking(query_id))
    return np.unique(np.array(found, dtype=np.int64))
