"""BM25 (Robertson and Zaragoza, 2009) with the weights that bm25s computes (Lù, 2024).

bm25s weighs every term in every document once, when the index is made; here that is an array beside the postings, kept
in the cache for each choice of parameters. Adding up and cutting are ours, since bm25s takes no weighted query terms
and cuts ties by chance. Two of its variants, `bm25l` and `bm25+`, also give documents that lack a term a
constant: it is the same for every document of a query and left out, so that no query term still means no score.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import bm25s
import numpy as np
from numpy.typing import NDArray

from ringtrue import cache
from ringtrue.provenance import version
from ringtrue.retrieval.index import Floats, Index, Postings
from ringtrue.retrieval.lexical import Lexical

_FORMAT = 1


@dataclass(frozen=True, repr=False)
class BM25(Lexical):
    """BM25; `method` is the variant after Kamphuis et al. (ECIR 2020), `delta` is for `bm25l` and `bm25+` alone."""

    k1: float = 0.9
    b: float = 0.4
    method: Literal["lucene", "robertson", "atire", "bm25l", "bm25+"] = "lucene"
    delta: float = 0.5

    def weigh(self, postings: Postings, index: Index) -> Floats:
        """Look up what was computed beforehand."""
        return _weights(self, index)[postings.places].astype(np.float64)


@lru_cache(maxsize=4)
def _weights(model: BM25, index: Index) -> NDArray[np.float32]:
    """The weights of all postings in their order, made where the cache does not have them."""
    parameters = (model.k1, model.b, model.method, model.delta)
    key = cache.key(_FORMAT, version("bm25s"), index.folder.name, *parameters)
    folder = cache.entry("bm25", key, lambda draft: _build(model, index, draft))
    return np.asarray(np.load(folder / "weights.npy", mmap_mode="r", allow_pickle=False))


def _build(model: BM25, index: Index, folder: Path) -> None:
    """Let bm25s weigh the documents of an index."""
    maker = bm25s.BM25(k1=model.k1, b=model.b, delta=model.delta, method=model.method)
    made = maker.build_index_from_ids(range(len(index.terms)), _Bags(index), show_progress=False)
    assert np.array_equal(made["indices"], index.by_term.items), "bm25s has the postings in another order"
    np.save(folder / "weights.npy", made["data"], allow_pickle=False)


class _Bags:
    """The documents of an index as bm25s wants them, lists of term numbers, without holding them all."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def __len__(self) -> int:
        return self._index.documents

    def __iter__(self) -> Iterator[list[int]]:
        for doc in range(len(self)):
            terms, counts = self._index.terms_of(doc)
            yield np.repeat(terms, counts).tolist()
