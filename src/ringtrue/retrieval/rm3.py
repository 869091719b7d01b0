"""RM3: query expansion from feedback documents (Lavrenko and Croft, SIGIR 2001; Abdul-Jaleel et al., TREC 2004).

`bm25 >> rm3` takes the first run's best documents as feedback and searches the whole collection again with the
weighted terms, so the result may hold documents that were no candidates. Without candidates the feedback comes from
its own model. The estimate is that of Anserini: each feedback document is cut to its most frequent usable terms and
counts by its retrieval score, of which the model's normalisation makes shares; Lavrenko's query likelihoods are
offered as `likelihood`. Deviation: Anserini takes terms of a-z and 0-9 only, here any script's, so that other
languages can be expanded; its shortest length is asked of ASCII terms alone, since one ideograph is a word.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from ringtrue.errors import InputError
from ringtrue.retrieval.catalog import RANKERS
from ringtrue.retrieval.index import Floats, Index, Ints, TermWeights, open_index
from ringtrue.retrieval.lexical import Lexical
from ringtrue.retrieval.pipeline import Composable

if TYPE_CHECKING:
    from ringtrue.data.collection import Collection
    from ringtrue.data.records import Query, ScoredDoc
    from ringtrue.data.runs import Run

Bag = tuple[Ints, Ints]
"""The terms of a document and how often it has each."""


@dataclass(frozen=True, repr=False)
class RM3(Composable):
    """Expand, then rank with `model`: a lexical ranker as text, its options parted by semicolons."""

    fb_docs: int = 10
    fb_terms: int = 10
    original_weight: float = 0.5
    model: str = "bm25"
    document_weights: Literal["score", "likelihood", "uniform"] = "score"
    max_df: float = 0.1
    min_length: int = 2
    max_length: int = 20

    family: ClassVar[str] = "lexical"

    def rank(self, collection: Collection, queries: Sequence[Query], candidates: Run | None = None) -> Run:
        """Search again with the words of each query and of its feedback documents."""
        model = self.searcher()
        index = open_index(collection, model.analyser)
        feedback = model.rank(collection, queries) if candidates is None else candidates
        expanded = {
            query.query_id: self.expand(index, model.analyser.tokens(query.title), feedback.ranking(query.query_id))
            for query in queries
        }
        return model.rank_terms(index, expanded, name=repr(self))

    def expand(self, index: Index, tokens: Sequence[str], feedback: Sequence[ScoredDoc]) -> TermWeights:
        """The new query: terms of the index with their weights, those of query and feedback each adding up to 1."""
        chosen = feedback[: self.fb_docs]
        bags = [index.terms_of(number) for number in index.numbers(line.doc_id for line in chosen)]
        return self.mix(index, tokens, bags, chosen)

    def mix(
        self, index: Index, tokens: Sequence[str], bags: Sequence[Bag], feedback: Sequence[ScoredDoc]
    ) -> TermWeights:
        """The new query from feedback documents whose terms, numbered as in the index, are given as `bags`."""
        self._check()
        shares = {term: count / len(tokens) for term, count in index.count(tokens).items()}
        learnt = self._relevance_model(index, bags, self._shares(feedback))
        weights = {
            term: self.original_weight * shares.get(term, 0.0) + (1 - self.original_weight) * learnt.get(term, 0.0)
            for term in sorted({*shares, *learnt})
        }
        return {term: weight for term, weight in weights.items() if weight}

    def _relevance_model(self, index: Index, bags: Sequence[Bag], shares: Sequence[float]) -> TermWeights:
        """RM1: how likely each term is in the feedback documents."""
        found: TermWeights = {}
        for (terms, counts), share in zip(bags, shares, strict=True):
            usable = self._usable(index, terms)
            for term, likelihood in _heaviest(terms[usable], counts[usable], self.fb_terms):
                found[term] = found.get(term, 0.0) + share * likelihood
        return dict(_heaviest(np.array(list(found), np.int64), np.array(list(found.values())), self.fb_terms))

    def _shares(self, feedback: Sequence[ScoredDoc]) -> list[float]:
        """What each feedback document counts."""
        if self.document_weights == "score" and feedback and feedback[-1].score <= 0:
            raise InputError(
                f"ranker {self!r}: topic {feedback[0].query_id!r} has a feedback document with score "
                f"{feedback[-1].score}, which cannot be a weight; set document_weights to likelihood or uniform."
            )
        return _DOCUMENT_WEIGHTS[self.document_weights]([line.score for line in feedback])

    def _usable(self, index: Index, terms: Ints) -> Ints:
        """The places of terms that are neither too frequent nor too short nor too long."""
        rare = np.flatnonzero(index.document_frequencies(terms) <= self.max_df * index.documents)
        return np.array([place for place in rare.tolist() if self._fits(index.terms[int(terms[place])])], np.int64)

    def _fits(self, term: str) -> bool:
        return len(term) <= self.max_length and (len(term) >= self.min_length or not term.isascii())

    def searcher(self) -> Lexical:
        """The lexical ranker that searches."""
        ranker = RANKERS.parse(self.model.replace(";", ","))
        if not isinstance(ranker, Lexical):
            raise InputError(f"ranker {self!r}: model {self.model!r} cannot take weighted terms; name a lexical model.")
        return ranker

    def _check(self) -> None:
        """Refuse options that give no model."""
        if self.fb_docs < 1 or self.fb_terms < 1 or not 0 <= self.original_weight <= 1:
            raise InputError(
                f"ranker {self!r}: fb_docs and fb_terms should be 1 or more and original_weight from 0 to 1."
            )


def _exponentials(scores: Sequence[float]) -> list[float]:
    """Log-likelihoods to likelihoods, up to a factor that keeps the greatest at 1."""
    return [math.exp(score - max(scores)) for score in scores]


_DOCUMENT_WEIGHTS: dict[str, Callable[[Sequence[float]], list[float]]] = {
    "score": list,
    "likelihood": _exponentials,
    "uniform": lambda scores: [1.0] * len(scores),
}


def _heaviest(terms: Ints, weights: Floats | Ints, number: int) -> list[tuple[int, float]]:
    """The heaviest terms with their share of what is kept; where weights tie, those first in the alphabet."""
    order = np.lexsort((terms, -weights))[:number]
    shares = weights[order] / weights[order].sum()
    return list(zip(terms[order].tolist(), shares.tolist(), strict=True))
