"""Late interaction: each token of a query takes its most similar token of a document, and these similarities add up.

MaxSim of ColBERT (Khattab and Zaharia, SIGIR 2020) over the token vectors of any encoder with a model. Unlike ColBERT
there is no trained projection, no padding of queries with masks and no mark for queries and documents: the encoder is
taken as it is. Tokens that stand for the beginning and the end of a text are left out. Documents are encoded and
compared block by block, without an index: meant for re-ranking (`bm25 % 100 >> lateinteraction`) and small corpora.
Documents without text, or without a token, are ranked last, one below the lowest score of their query, and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ringtrue.data.runs import Run
from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import ENCODERS, Floats
from ringtrue.retrieval.encoders.neural import Neural, place
from ringtrue.retrieval.noting import note_once
from ringtrue.retrieval.pipeline import Composable
from ringtrue.retrieval.rankers.tokenvectors import TokenVectors, load_token_vectors
from ringtrue.retrieval.vectors import check_finite

if TYPE_CHECKING:
    from ringtrue.data.collection import Collection
    from ringtrue.data.records import Document, Query

_BLOCK = 256


@dataclass(frozen=True, repr=False)
class LateInteraction(Composable):
    """The sum of best token similarities, divided by the number of query tokens; options of `encoder` by semicolons."""

    encoder: str = "minilm"
    depth: int = 1000

    family: ClassVar[str] = "late interaction"

    def check_ready(self, *, first: bool) -> None:
        """There is such an encoder, and its packages are installed."""
        self._encoder()

    def rank(self, collection: Collection, queries: Sequence[Query], candidates: Run | None = None) -> Run:
        """Rank all documents, or the candidates of each query."""
        if self.depth < 1:
            raise InputError(f"ranker {self!r}: depth is {self.depth}; it should be 1 or more.")
        vectors_of = self._model()
        vectors = _query_vectors(queries, vectors_of)
        if not vectors:
            return Run(repr(self), {})
        wanted = _wanted(vectors, candidates)
        scores: dict[str, list[tuple[str, float]]] = {query_id: [] for query_id in vectors}
        seen: dict[str, bool] = {}
        for block in _blocks(collection.documents(), wanted):
            texts = _texts(block, vectors_of)
            seen |= {doc_id: len(rows) > 0 for doc_id, rows in texts.items()}
            for query_id, query in vectors.items():
                chosen = texts if candidates is None else {one: texts[one] for one in texts if one in wanted[query_id]}
                scores[query_id] += _score(query, chosen)
        _check_found(wanted, seen)
        empty = {doc_id for doc_id, has_text in seen.items() if not has_text}
        note_once(collection, "candidates without text, ranked last", empty, "document")
        whole = {query_id: _with_empty(one, empty & wanted.get(query_id, empty)) for query_id, one in scores.items()}
        results = {query_id: sorted(one, key=_by_score)[: self.depth] for query_id, one in whole.items() if one}
        return Run.from_results(repr(self), results)

    def _model(self) -> TokenVectors:
        encoder = self._encoder()
        return load_token_vectors(encoder.folder(), place(encoder.device), encoder.precision)

    def _encoder(self) -> Neural:
        encoder = ENCODERS.parse(self.encoder.replace(";", ","))
        if not isinstance(encoder, Neural):
            raise InputError(f"ranker {self!r}: encoder {self.encoder!r} has no token vectors; take minilm or sbert.")
        return encoder


def _query_vectors(queries: Sequence[Query], vectors_of: TokenVectors) -> dict[str, Floats]:
    """The vectors of each query that has any token."""
    asked = [query for query in queries if query.title.strip()]
    read = zip(asked, vectors_of([query.title for query in asked]), strict=True)
    found = {query.query_id: rows for query, rows in read if len(rows)}
    check_finite(found, "query")
    return found


def _check_found(wanted: Mapping[str, frozenset[str]], seen: Mapping[str, bool]) -> None:
    for query_id, docs in wanted.items():
        strange = next((doc for doc in sorted(docs) if doc not in seen), None)
        if strange is not None:
            raise InputError(f"candidate {strange!r} of query {query_id!r} is not in the collection.")


def _with_empty(found: list[tuple[str, float]], empty: Set[str]) -> list[tuple[str, float]]:
    """The same with documents that have no score, below all others."""
    last = min((score for _, score in found), default=0.0) - 1.0
    return [*found, *((doc_id, last) for doc_id in sorted(empty))]


def _by_score(pair: tuple[str, float]) -> tuple[float, str]:
    return -pair[1], pair[0]


def _wanted(asked: Iterable[str], candidates: Run | None) -> dict[str, frozenset[str]]:
    """The candidates of each query; nothing where all documents are ranked."""
    if candidates is None:
        return {}
    return {query_id: frozenset(line.doc_id for line in candidates.ranking(query_id)) for query_id in asked}


def _blocks(documents: Iterator[Document], wanted: Mapping[str, frozenset[str]]) -> Iterator[list[Document]]:
    """Documents that anyone wants, some at a time."""
    union = frozenset().union(*wanted.values()) if wanted else None
    needed = documents if union is None else (document for document in documents if document.doc_id in union)
    while block := list(islice(needed, _BLOCK)):
        yield block


def _texts(block: Sequence[Document], vectors_of: TokenVectors) -> dict[str, Floats]:
    """The vectors of each document, by its id."""
    found = dict(zip((one.doc_id for one in block), vectors_of([one.body for one in block]), strict=True))
    check_finite(found, "document")
    return found


def _score(query: Floats, texts: Mapping[str, Floats]) -> list[tuple[str, float]]:
    """MaxSim of one query with the documents that have tokens."""
    kept = {doc_id: rows for doc_id, rows in texts.items() if len(rows)}
    if not kept:
        return []
    starts = np.cumsum([0, *map(len, kept.values())])[:-1]
    similarities = query @ np.concatenate(list(kept.values())).T
    best = np.maximum.reduceat(similarities, starts, axis=1).mean(axis=0)
    return list(zip(kept, best.tolist(), strict=True))
