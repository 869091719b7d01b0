"""The inverted index that all lexical models share, as arrays that are mapped from disk.

It is built in one pass over the documents and kept in the cache. Documents are numbered in the order of their ids
and terms in the order of their text, so that the same documents give the same index in whatever order they come,
and a lower number wins a tie. Left out: positions, fields, compression, updates.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ringtrue import cache
from ringtrue.errors import InputError
from ringtrue.retrieval import strings
from ringtrue.retrieval.analysis import Analyser, Coder
from ringtrue.retrieval.strings import StringTable

if TYPE_CHECKING:
    from ringtrue.data.collection import Collection
    from ringtrue.data.records import Document

Ints = NDArray[np.integer]
Floats = NDArray[np.float64]
TermWeights = dict[int, float]

_FORMAT = 1
_BATCH = 1 << 23  # tokens counted at once: bounds what is held beside the postings


class Counts(NamedTuple):
    """Sparse rows of counts: row i holds `items` and `counts` from `starts[i]` up to `starts[i + 1]`."""

    starts: Ints
    items: Ints
    counts: Ints

    def span(self, row: int) -> slice:
        """Where a row's entries lie."""
        return slice(int(self.starts[row]), int(self.starts[row + 1]))


class Postings(NamedTuple):
    """The documents that hold a term, ascending, with all that a weighting model asks about them."""

    docs: Ints
    tf: Floats
    lengths: Floats
    document_frequency: int
    collection_frequency: int
    places: slice | Ints


@dataclass(frozen=True, eq=False)
class Index:
    """Terms, documents and how often each term is in each document."""

    collection: str
    folder: Path
    docs: StringTable
    terms: StringTable
    lengths: Ints
    frequencies: Ints
    by_term: Counts
    by_doc: Counts

    @property
    def documents(self) -> int:
        """How many documents the collection has, empty ones included."""
        return len(self.docs)

    @cached_property
    def tokens(self) -> int:
        """How many tokens the collection has."""
        return int(self.lengths.sum())

    @property
    def average_length(self) -> float:
        """Tokens per document."""
        return self.tokens / self.documents

    def postings(self, term: int, among: Ints | None = None) -> Postings:
        """The documents of a term, or those of the given ascending document numbers that hold it."""
        span = self.by_term.span(term)
        places: slice | Ints = span
        if among is not None:
            held = self.by_term.items[span]
            near = np.searchsorted(held, among)
            near = near[near < len(held)]
            places = span.start + near[held[near] == among[: len(near)]]
        docs = self.by_term.items[places]
        tf, lengths = self.by_term.counts[places].astype(np.float64), self.lengths[docs].astype(np.float64)
        return Postings(docs, tf, lengths, span.stop - span.start, int(self.frequencies[term]), places)

    def terms_of(self, doc: int) -> tuple[Ints, Ints]:
        """The terms of a document, ascending, and how often it holds each."""
        span = self.by_doc.span(doc)
        return self.by_doc.items[span], self.by_doc.counts[span]

    def document_frequencies(self, terms: Ints) -> Ints:
        """In how many documents each term is."""
        frequencies: Ints = self.by_term.starts[terms + 1] - self.by_term.starts[terms]
        return frequencies

    def count(self, tokens: Iterable[str]) -> TermWeights:
        """How often each known term is in a query; words that no document has are left out."""
        weights: TermWeights = {}
        for token in tokens:
            term = self.terms.find(token)
            if term is not None:
                weights[term] = weights.get(term, 0.0) + 1.0
        return weights

    def numbers(self, doc_ids: Iterable[str]) -> list[int]:
        """The numbers of documents; one that the collection does not have is an error."""
        found = []
        for doc_id in doc_ids:
            number = self.docs.find(doc_id)
            if number is None:
                raise InputError(
                    f"candidate document {doc_id!r} is not in collection {self.collection!r}; "
                    "give candidates of that collection, or drop the others first."
                )
            found.append(number)
        return found


def open_index(collection: Collection, analyser: Analyser) -> Index:
    """The index of a collection, built where the cache does not have it."""
    key = cache.key(_FORMAT, collection.fingerprint_of("documents"), *analyser.identity())
    folder = cache.entry("lexical", key, lambda draft: _build(collection, analyser, draft))
    return Index(
        collection.name,
        folder,
        docs=StringTable.load(folder, "docs"),
        terms=StringTable.load(folder, "terms"),
        lengths=_load(folder, "lengths"),
        frequencies=_load(folder, "frequencies"),
        by_term=Counts(*(_load(folder, name) for name in _names("by_term"))),
        by_doc=Counts(*(_load(folder, name) for name in _names("by_doc"))),
    )


def _build(collection: Collection, analyser: Analyser, folder: Path) -> None:
    """Count all terms and write the arrays."""
    coder = Coder(analyser)
    doc_ids: list[str] = []
    batches = list(_count(collection.documents(), coder, doc_ids))
    matrix = sp.vstack(
        [sp.csr_array((part.data, part.indices, part.indptr), (part.shape[0], len(coder.terms))) for part in batches],
        format="csr",
    )
    order = sorted(range(len(doc_ids)), key=doc_ids.__getitem__)
    terms = sorted(coder.terms)
    _check_distinct([doc_ids[number] for number in order], collection.name)
    matrix = _reorder(matrix, order, [coder.terms[term] for term in terms])
    strings.save([doc_ids[number] for number in order], folder, "docs")
    strings.save(terms, folder, "terms")
    _save(matrix, folder)


def _count(documents: Iterable[Document], coder: Coder, doc_ids: list[str]) -> Iterator[sp.csr_array]:
    """Documents by term codes, a batch at a time; `doc_ids` is filled on the way."""
    codes, ends = array("i"), [0]
    for document in documents:
        doc_ids.append(document.doc_id)
        codes.extend(coder.codes(document.body))
        ends.append(len(codes))
        if len(codes) >= _BATCH:
            yield _matrix(codes, ends, len(coder.terms))
            codes, ends = array("i"), [0]
    yield _matrix(codes, ends, len(coder.terms))


def _matrix(codes: array[int], ends: Sequence[int], terms: int) -> sp.csr_array:
    """One row a document, one column a term."""
    ones = np.ones(len(codes), dtype=np.int32)
    matrix = sp.csr_array((ones, np.array(codes, dtype=np.int32), np.array(ends)), (len(ends) - 1, terms))
    matrix.sum_duplicates()
    return matrix


def _reorder(matrix: sp.csr_array, docs: Sequence[int], terms: Sequence[int]) -> sp.csr_array:
    """Rows and columns in the given orders."""
    places = np.empty(len(terms), dtype=np.int32)
    places[np.array(terms, dtype=np.intp)] = np.arange(len(terms), dtype=np.int32)
    matrix = sp.csr_array((matrix.data, places[matrix.indices], matrix.indptr), matrix.shape)
    matrix = matrix[np.array(docs, dtype=np.intp)]
    matrix.sort_indices()
    return matrix


def _save(by_doc: sp.csr_array, folder: Path) -> None:
    """Write the counts in both directions and their sums."""
    by_term = by_doc.tocsc()
    arrays: dict[str, Ints] = {"lengths": by_doc.sum(axis=1), "frequencies": by_doc.sum(axis=0)}
    for name, matrix in (("by_term", by_term), ("by_doc", by_doc)):
        arrays |= dict(zip(_names(name), (matrix.indptr, matrix.indices, matrix.data), strict=True))
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values, allow_pickle=False)


def _load(folder: Path, name: str) -> Ints:
    """Map an array; as a plain array, since numpy's memmap class makes every small slice slow."""
    return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))


def _names(counts: str) -> tuple[str, str, str]:
    """The files of one `Counts`."""
    return f"{counts}-starts", f"{counts}-items", f"{counts}-counts"


def _check_distinct(doc_ids: Sequence[str], collection: str) -> None:
    """Two documents of one id would be taken for one."""
    for before, after in pairwise(doc_ids):
        if before == after:
            raise InputError(f"collection {collection!r} has document id {before!r} twice; ids must be distinct.")
