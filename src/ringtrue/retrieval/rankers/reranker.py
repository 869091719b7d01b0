"""What all trained rankers share: they load a checkpoint and rank the candidates of another ranker again.

Documents without text cannot be scored and are ranked last, each one below the lowest score of its query; how many
there were is noted with the collection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import InputError
from ringtrue.retrieval.candidates import texts_of
from ringtrue.retrieval.encoders import Precision
from ringtrue.retrieval.encoders.neural import Device, place
from ringtrue.retrieval.neural.checkpoint import load_network
from ringtrue.retrieval.neural.network import Network, PairRows
from ringtrue.retrieval.neural.passages import into_passages
from ringtrue.retrieval.neural.scoring import NotFiniteError, score
from ringtrue.retrieval.noting import note_once
from ringtrue.retrieval.pipeline import Composable

if TYPE_CHECKING:
    from ringtrue.data.collection import Collection
    from ringtrue.data.records import Query
    from ringtrue.data.runs import Run


@dataclass(frozen=True, repr=False)
class Reranker(Composable):
    """A trained network of `checkpoint`, after a first stage: `bm25 % 100 >> knrm:checkpoint=FOLDER`.

    Of a long document the network reads what it has room for; with `passages=best` it reads windows of `window` words,
    each `stride` words after the one before, and the best of them counts.
    """

    checkpoint: str = ""
    precision: Precision = "fp32"
    device: Device = "auto"
    passages: Literal["first", "best"] = "first"
    window: int = 150
    stride: int = 75

    name: ClassVar[str]
    family: ClassVar[str]

    def rank(self, collection: Collection, queries: Sequence[Query], candidates: Run | None = None) -> Run:
        """Score the candidates of each query."""
        from ringtrue.data.runs import Run  # late: a machine that only trains and scores need not have what it imports

        if candidates is None:
            raise self._alone()
        asked = {query.query_id: query.title for query in queries if query.title.strip()}
        wanted = [(query_id, line.doc_id) for query_id in asked for line in candidates.ranking(query_id)]
        texts = texts_of(collection, (doc_id for _, doc_id in wanted))
        found = self._scores(asked, texts, [(query, doc) for query, doc in wanted if texts[doc].strip()])
        empty = [(query, doc) for query, doc in wanted if not texts[doc].strip()]
        note_once(collection, "candidates without text, ranked last", {doc_id for _, doc_id in empty}, "document")
        results: dict[str, list[tuple[str, float]]] = {}
        for (query_id, doc_id), value in found.items():
            results.setdefault(query_id, []).append((doc_id, value))
        lowest = {query_id: min(value for _, value in pairs) for query_id, pairs in results.items()}
        for query_id, doc_id in empty:
            results.setdefault(query_id, []).append((doc_id, lowest.get(query_id, 0.0) - 1.0))
        return Run.from_results(repr(self), results)

    def score(self, queries: Sequence[str], documents: Sequence[str], pairs: PairRows) -> NDArray[np.float32]:
        """One score for each row of `pairs`, which has the number of a query and of a document."""
        if self.passages == "first":
            return score(self.network(), queries, documents, pairs)
        if self.window < 1 or not 1 <= self.stride <= self.window:
            raise InputError(
                f"ranker {self!r}: window is {self.window} and stride {self.stride}; the stride should be at least 1 "
                "and at most the window, or words would be skipped."
            )
        parts = into_passages(documents, pairs, self.window, self.stride)
        return parts.best(score(self.network(), queries, parts.texts, parts.pairs))

    def network(self) -> Network:
        """The network, loaded once a process, and again where its file has changed."""
        if not self.checkpoint:
            raise InputError(f"ranker {self.name!r} needs a trained model: write {self.name}:checkpoint=FOLDER.")
        same = replace(self, passages="first", window=Reranker.window, stride=Reranker.stride)
        return _load(same, _changed(self.checkpoint))

    def check_ready(self, *, first: bool) -> None:
        """Its checkpoint is read, and stays."""
        if first:
            raise self._alone()
        self.network()

    def _alone(self) -> InputError:
        """What it says without candidates."""
        return InputError(f"ranker {self!r} ranks candidates again; write bm25 % 100 >> {self!r}.")

    def open(self) -> Network:
        """Read the network of the checkpoint, in fp32 on the CPU."""
        return load_network(Path(self.checkpoint).expanduser(), self.name)

    def _scores(
        self, asked: dict[str, str], texts: dict[str, str], wanted: list[tuple[str, str]]
    ) -> dict[tuple[str, str], float]:
        """The score of each pair of ids."""
        query_of = {query_id: number for number, query_id in enumerate(asked)}
        document_of = {doc_id: number for number, doc_id in enumerate(texts)}
        pairs = np.array([(query_of[query], document_of[doc]) for query, doc in wanted], np.int64).reshape(-1, 2)
        try:
            scores = self.score(list(asked.values()), list(texts.values()), pairs)
        except NotFiniteError as error:
            raise self._named(error, wanted) from error
        return dict(zip(wanted, scores.tolist(), strict=True))

    def _named(self, error: NotFiniteError, wanted: list[tuple[str, str]]) -> NotFiniteError:
        """The same with ids, where the row of the pair tells them: passages have rows of their own."""
        if self.passages == "best":
            return error
        query_id, doc_id = wanted[error.row]
        return NotFiniteError(f"query {query_id!r} with document {doc_id!r}", error.value, error.row)


def is_checkpoint(folder: str) -> bool:
    """Whether training wrote the folder, and not another library."""
    return (Path(folder).expanduser() / "ranker.json").is_file()


def _changed(checkpoint: str) -> int:
    """When the weights of a folder were written; of a name, nothing is known."""
    path = Path(checkpoint).expanduser() / "model.safetensors"
    return path.stat().st_mtime_ns if path.is_file() else 0


@lru_cache(maxsize=2)
def _load(ranker: Reranker, changed: int) -> Network:
    network = ranker.open()
    network.to(place(ranker.device))
    network = network.at(ranker.precision)
    network.eval()
    return network
