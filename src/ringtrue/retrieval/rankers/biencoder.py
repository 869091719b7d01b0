"""A bi-encoder: one vector a document, one a query, ranked by cosine.

Any encoder of the package serves, among them every sentence-transformers model (`biencoder:sbert:NAME`). Document
vectors are kept on disk, keyed by the documents and the encoder. Search is exact; approximate indexes are left out.
Documents without text are ranked last, with -1, below which no cosine is, and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtrue import cache
from ringtrue.data.runs import Run
from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import ENCODERS, Encoder
from ringtrue.retrieval.noting import note_once
from ringtrue.retrieval.pipeline import Composable
from ringtrue.retrieval.vectors import check_finite

if TYPE_CHECKING:
    from ringtrue.data.collection import Collection
    from ringtrue.data.records import Document, Query

_BLOCK = 4096
_FORMAT = 2
_LOWEST = -1.0


@dataclass(frozen=True, repr=False)
class BiEncoder(Composable):
    """Cosine between query and document vectors of `encoder`; its options are parted by semicolons."""

    encoder: str = "minilm"
    depth: int = 1000

    family: ClassVar[str] = "bi-encoder"

    def check_ready(self, *, first: bool) -> None:
        """There is such an encoder, and its packages are installed."""
        self._encoder()

    def _encoder(self) -> Encoder:
        return ENCODERS.parse(self.encoder.replace(";", ","))

    def rank(self, collection: Collection, queries: Sequence[Query], candidates: Run | None = None) -> Run:
        """Rank all documents, or the candidates of each query."""
        if self.depth < 1:
            raise InputError(f"ranker {self!r}: depth is {self.depth}; it should be 1 or more.")
        encoder = self._encoder()
        documents = _document_vectors(collection, encoder)
        ids = documents.ids
        places = {doc_id: place for place, doc_id in enumerate(ids)}
        asked = [query for query in queries if query.title.strip()]
        encoded = encoder.encode([query.title for query in asked])
        check_finite(dict(zip((query.query_id for query in asked), encoded, strict=True)), "query")
        results: dict[str, list[tuple[str, float]]] = {}
        for query, vector in zip(asked, encoded, strict=True):
            known = None if candidates is None else _candidates(candidates, query.query_id, places)
            found = self._best(documents, vector, known) if vector.any() else []
            if found:
                results[query.query_id] = found
        listed = {doc_id for found in results.values() for doc_id, _ in found}
        empty = {ids[place] for place in np.flatnonzero(documents.empty).tolist()} & listed
        note_once(collection, "candidates without text, ranked last", empty, "document")
        return Run.from_results(repr(self), results)

    def _best(
        self, documents: _Documents, query: NDArray[np.float32], known: NDArray[np.intp] | None
    ) -> list[tuple[str, float]]:
        """The `depth` nearest documents; equal ones at the cut go by id, since ids ascend."""
        ids, vectors, empty = documents
        scores = (vectors if known is None else vectors[known]) @ query
        scores[empty if known is None else empty[known]] = _LOWEST
        order = np.argsort(-scores, kind="stable")[: self.depth]
        chosen = order if known is None else known[order]
        return [(ids[place], float(score)) for place, score in zip(chosen.tolist(), scores[order], strict=True)]


def _candidates(run: Run, query_id: str, places: dict[str, int]) -> NDArray[np.intp]:
    """The places of a query's candidates, ascending."""
    docs = [line.doc_id for line in run.ranking(query_id)]
    strange = next((doc for doc in docs if doc not in places), None)
    if strange is not None:
        raise InputError(f"candidate {strange!r} of query {query_id!r} is not in the collection.")
    return np.sort(np.array([places[doc] for doc in docs], dtype=np.intp))


class _Documents(NamedTuple):
    """Ids, ascending, their vectors, and which of them have no text."""

    ids: list[str]
    vectors: NDArray[np.float32]
    empty: NDArray[np.bool_]


def _document_vectors(collection: Collection, encoder: Encoder) -> _Documents:
    """What is kept on disk, made where it is not there yet."""
    key = cache.key(_FORMAT, collection.fingerprint_of("documents"), repr(encoder))
    place = cache.entry("vectors", key, lambda draft: _encode_all(collection, encoder, draft))
    ids = (place / "ids.txt").read_text(encoding="utf-8").split("\n")
    vectors: NDArray[np.float32] = np.load(place / "vectors.npy", mmap_mode="r", allow_pickle=False)
    return _Documents(ids, vectors, np.load(place / "empty.npy", allow_pickle=False))


def _encode_all(collection: Collection, encoder: Encoder, draft: Path) -> None:
    ids: list[str] = []
    parts: list[NDArray[np.float32]] = []
    empty: list[bool] = []
    for block in _blocks(collection.documents()):
        ids += [document.doc_id for document in block]
        parts.append(encoder.encode([document.body for document in block]))
        check_finite(dict(zip((document.doc_id for document in block), parts[-1], strict=True)), "document")
        empty += [not document.body.strip() for document in block]
    order = sorted(range(len(ids)), key=ids.__getitem__)
    (draft / "ids.txt").write_text("\n".join(ids[place] for place in order), encoding="utf-8", newline="\n")
    np.save(draft / "vectors.npy", np.concatenate(parts)[order], allow_pickle=False)
    np.save(draft / "empty.npy", np.array(empty)[order], allow_pickle=False)


def _blocks(documents: Iterator[Document]) -> Iterator[list[Document]]:
    while block := list(islice(documents, _BLOCK)):
        yield block
