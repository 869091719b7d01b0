"""PISA (pyterrier-pisa) as something to compare with, and our models with its two deviations from Terrier.

PISA takes repeated query words once by default and drops stop words from queries alone; here it can count them, and
gets texts without stop words. A term's Dirichlet weight is never negative in PISA, and its PL2 has ln(1/2) where the
formula has log2(e): `PisaDirichlet` and `PisaPL2` do the same, to show that nothing else differs.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ringtrue.data.collection import Collection
from ringtrue.data.runs import Run
from ringtrue.retrieval.analysis import Analyser, words
from ringtrue.retrieval.index import Floats, Index, Postings
from ringtrue.retrieval.weighting import PL2, Dirichlet


@dataclass(frozen=True, repr=False)
class PisaDirichlet(Dirichlet):
    """Dirichlet with PISA's floor."""

    def weigh(self, postings: Postings, index: Index) -> Floats:
        """No term counts against a document."""
        return np.maximum(super().weigh(postings, index), 0)


@dataclass(frozen=True, repr=False)
class PisaPL2(PL2):
    """PL2 with PISA's constant."""

    def weigh(self, postings: Postings, index: Index) -> Floats:
        """Put ln(1/2) in the place of log2(e)."""
        tfn = postings.tf * np.log2(1 + self.c * index.average_length / postings.lengths)
        mean = postings.collection_frequency / index.documents
        return super().weigh(postings, index) + (mean - tfn) * (math.log(0.5) - math.log2(math.e)) / (tfn + 1)


@dataclass(frozen=True, eq=False)
class Pisa:
    """An index of PISA's, stemmed with Porter2, one thread."""

    native: Any
    stopwords: str

    @classmethod
    def build(cls, collection: Collection, stopwords: str, folder: Path) -> Pisa:
        """Index a collection in a folder that does not exist yet."""
        from pyterrier_pisa import PisaIndex

        texts = [{"docno": doc.doc_id, "text": stripped(doc.body, stopwords)} for doc in collection.documents()]
        native = PisaIndex(str(folder), text_field="text", stemmer="porter2", stops="none", threads=1)
        with silence():
            native.index(texts)
        return cls(native, stopwords)

    def queries(self, collection: Collection) -> list[dict[str, str]]:
        """The topics as PISA reads them."""
        return [{"qid": one.query_id, "query": stripped(one.title, self.stopwords)} for one in collection.queries]

    def searcher(self, method: str, options: Mapping[str, float], *, counted: bool, pruned: bool) -> Any:  # noqa: ANN401
        """What ranks; without pruning nothing stands between the formulas."""
        algorithm = "block_max_wand" if pruned else "ranked_or"
        with silence():
            return getattr(self.native, method)(
                num_results=1000, query_algorithm=algorithm, query_weighted=counted, **options
            )

    def search(self, collection: Collection, method: str, options: Mapping[str, float], *, counted: bool) -> Run:
        """PISA's run over all topics."""
        searcher = self.searcher(method, options, counted=counted, pruned=False)
        results: dict[str, list[tuple[str, float]]] = {}
        for line in searcher(self.queries(collection)):
            results.setdefault(line["qid"], []).append((line["docno"], float(line["score"])))
        return Run.from_results(f"PISA {method}", results)


def stripped(text: str, stopwords: str) -> str:
    """A text without stop words; as it is where there are none."""
    stopped = Analyser(stopwords=stopwords).stop_list()
    if not stopped:
        return text
    return " ".join(word for word in words(text) if word not in stopped)


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Send what native code prints nowhere: PISA reports every step."""
    kept = [os.dup(stream) for stream in (1, 2)]
    with open(os.devnull, "w") as nowhere:
        for stream in (1, 2):
            os.dup2(nowhere.fileno(), stream)
        try:
            yield
        finally:
            for stream, copy in zip((1, 2), kept, strict=True):
                os.dup2(copy, stream)
                os.close(copy)
