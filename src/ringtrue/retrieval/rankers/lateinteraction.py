"""Late interaction: each token of a query takes its most similar token of a document, and these similarities add up.

MaxSim of ColBERT (Khattab and Zaharia, SIGIR 2020) over the token vectors of any BERT-shaped encoder. Unlike ColBERT
there is no trained projection, no padding of queries with masks and no mark for queries and documents: the encoder is
taken as it is. Tokens that stand for the beginning and the end of a text are left out. Documents are encoded and
compared block by block, without an index: meant for re-ranking (`bm25 % 100 >> lateinteraction`) and small corpora.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from ringtrue.data.runs import Run
from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import ENCODERS
from ringtrue.retrieval.encoders.bert import BertNetwork
from ringtrue.retrieval.encoders.checkpoint import read_checkpoint
from ringtrue.retrieval.encoders.neural import Neural, place
from ringtrue.retrieval.encoders.tokens import Tokeniser, batches
from ringtrue.retrieval.pipeline import Composable

if TYPE_CHECKING:
    from ringtrue.data.collection import Collection
    from ringtrue.data.records import Document, Query

_BLOCK = 256
_BUDGET = 2048


class _Model(NamedTuple):
    network: BertNetwork
    tokeniser: Tokeniser
    device: torch.device

    def vectors(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """For each text one row a token."""
        tokens = self.tokeniser(texts)
        found: list[NDArray[np.float32]] = []
        for batch in batches(tokens.lengths, _BUDGET):
            ids = torch.from_numpy(tokens.ids[batch.ids]).view(-1, batch.length).to(self.device)
            found += list(self.network.tokens(ids)[:, 1:-1].cpu().numpy())
        return [found[row] for row in tokens.places.tolist()]


@dataclass(frozen=True, repr=False)
class LateInteraction(Composable):
    """The sum of best token similarities, divided by the number of query tokens; options of `encoder` by semicolons."""

    encoder: str = "minilm"
    depth: int = 1000

    family: ClassVar[str] = "late interaction"

    def rank(self, collection: Collection, queries: Sequence[Query], candidates: Run | None = None) -> Run:
        """Rank all documents, or the candidates of each query."""
        if self.depth < 1:
            raise InputError(f"ranker {self!r}: depth is {self.depth}; it should be 1 or more.")
        model = self._model()
        asked = {query.query_id: query.title for query in queries if query.title.strip()}
        vectors = dict(zip(asked, model.vectors(list(asked.values())), strict=True))
        wanted = _wanted(asked, candidates)
        scores: dict[str, list[tuple[str, float]]] = {query_id: [] for query_id in asked}
        for block in _blocks(collection.documents(), wanted):
            texts = model.vectors([document.body for document in block])
            for query_id, query in vectors.items():
                chosen = [place for place, one in enumerate(block) if one.doc_id in wanted.get(query_id, ())]
                chosen = list(range(len(block))) if candidates is None else chosen
                scores[query_id] += _score(query, [texts[at] for at in chosen], [block[at].doc_id for at in chosen])
        self._check_found(wanted, scores)
        results = {query_id: sorted(found, key=_by_score)[: self.depth] for query_id, found in scores.items() if found}
        return Run.from_results(repr(self), results)

    def _model(self) -> _Model:
        encoder = ENCODERS.parse(self.encoder.replace(";", ","))
        if not isinstance(encoder, Neural):
            raise InputError(f"ranker {self!r}: encoder {self.encoder!r} has no token vectors; take minilm or sbert.")
        return _load(encoder.folder(), place(encoder.device))

    def _check_found(
        self, wanted: Mapping[str, frozenset[str]], scores: Mapping[str, Sequence[tuple[str, float]]]
    ) -> None:
        for query_id, docs in wanted.items():
            known = {doc_id for doc_id, _ in scores[query_id]}
            strange = next((doc for doc in sorted(docs) if doc not in known), None)
            if strange is not None:
                raise InputError(f"candidate {strange!r} of query {query_id!r} is not in the collection.")


def _by_score(pair: tuple[str, float]) -> tuple[float, str]:
    return -pair[1], pair[0]


def _wanted(asked: Mapping[str, str], candidates: Run | None) -> dict[str, frozenset[str]]:
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


def _score(
    query: NDArray[np.float32], texts: Sequence[NDArray[np.float32]], ids: Sequence[str]
) -> list[tuple[str, float]]:
    """MaxSim of one query with some documents; a text without tokens is similar to nothing."""
    kept = [place for place, text in enumerate(texts) if len(text)]
    if not len(query) or not kept:
        return []
    starts = np.cumsum([0, *(len(texts[place]) for place in kept[:-1])])
    similarities = query @ np.concatenate([texts[place] for place in kept]).T
    best = np.maximum.reduceat(similarities, starts, axis=1).mean(axis=0)
    return [(ids[place], float(score)) for place, score in zip(kept, best.tolist(), strict=True)]


@lru_cache(maxsize=2)
def _load(folder: Path, device: str) -> _Model:
    checkpoint = read_checkpoint(folder)
    if checkpoint is None:
        raise InputError(f"{folder} is not a BERT-shaped model, and late interaction knows no other.")
    where = torch.device(device)
    tokeniser = Tokeniser(checkpoint.folder / "tokenizer.json", checkpoint.max_length)
    return _Model(BertNetwork(checkpoint, torch.float32, where), tokeniser, where)
