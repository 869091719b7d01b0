"""Token vectors distilled from another encoder by model2vec (Tulkens and van Dongen, 2024): a text is their mean.

Hundreds of times faster than what it is distilled from, and less exact. Distilling takes seconds and is cached, keyed
by the content of the model. Tokenising and averaging are ours, on all cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from model2vec import StaticModel
from numpy.typing import NDArray

from ringtrue import cache
from ringtrue.errors import InputError, MissingExtraError
from ringtrue.provenance import version
from ringtrue.retrieval.encoders import ENCODERS, Floats
from ringtrue.retrieval.encoders.naming import Named
from ringtrue.retrieval.encoders.neural import Neural
from ringtrue.retrieval.encoders.quiet import quiet
from ringtrue.retrieval.encoders.tokens import Tokeniser
from ringtrue.retrieval.encoders.wordpieces import WordPieces

_FORMAT = 1
_MAX_TOKENS = 512


class Table(NamedTuple):
    """Token vectors, with zeros for the token that stands for the unknown, and the tokenizer that goes with them."""

    vectors: Floats
    pieces: WordPieces


@dataclass(frozen=True, repr=False)
class Static(Named):
    """The mean of token vectors distilled from `encoder`; a text without a known token gets zeros."""

    encoder: str = "minilm"
    dimensions: int = 256

    @property
    def dim(self) -> int:
        """How long a vector is; distils where the cache has nothing yet."""
        return int(self.table().vectors.shape[1])

    def encode(self, texts: Sequence[str]) -> Floats:
        """Sum the vectors of each text's tokens and scale to length one."""
        vectors, pieces = self.table()
        ids, starts = (torch.from_numpy(part) for part in pieces(texts))
        with torch.inference_mode():
            sums = torch.nn.functional.embedding_bag(ids, torch.from_numpy(vectors), starts[:-1], mode="sum")
        rows = np.asarray(sums.numpy(), np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0))

    def content(self) -> str:
        """A key for the model that it is distilled from, which all else follows from."""
        return _name(self._teacher(), self.dimensions)

    def table(self) -> Table:
        """The token vectors and their tokenizer; distils where the cache has nothing yet."""
        teacher = self._teacher()
        return _load(teacher, teacher.folder(), self.dimensions)

    def _teacher(self) -> Neural:
        teacher = ENCODERS.parse(self.encoder)
        if not isinstance(teacher, Neural):
            raise InputError(
                f"encoder {self.encoder!r} cannot be distilled, as static and a cascade do; take minilm or sbert:NAME."
            )
        if self.dimensions < 1:
            raise InputError(f"encoder {self!r}: dimensions is {self.dimensions}; it should be 1 or more.")
        return teacher


@lru_cache(maxsize=4)
def _load(teacher: Neural, folder: Path, dimensions: int) -> Table:
    """Read what was distilled, distilling it first where the cache does not have it."""
    place = cache.entry("static", _name(teacher, dimensions), lambda draft: _distil(folder, dimensions, draft))
    vectors = np.load(place / "vectors.npy", allow_pickle=False)
    return Table(vectors, WordPieces(Tokeniser(place / "tokenizer.json", _MAX_TOKENS, special=False)))


def _name(teacher: Neural, dimensions: int) -> str:
    return cache.key(_FORMAT, version("model2vec"), teacher.content(), dimensions)


def _distil(folder: Path, dimensions: int, draft: Path) -> None:
    """Distil on the CPU in fp32 and write the vectors."""
    try:
        from model2vec.distill import distill  # slow to import, and not needed where the cache has the result
    except ImportError as error:
        raise MissingExtraError("distilling an encoder", "neural") from error
    with quiet():
        model = distill(model_name=str(folder), pca_dims=dimensions, device="cpu", quantize_to="float32")
    model.tokenizer.save(str(draft / "tokenizer.json"))
    np.save(draft / "vectors.npy", _known(model), allow_pickle=False)


def _known(model: StaticModel) -> NDArray[np.float32]:
    """The vectors with the unknown token's set to zero: model2vec leaves that token out when it averages."""
    vectors = np.array(model.embedding, np.float32)
    if model.unk_token_id is not None:
        vectors[model.unk_token_id] = 0
    return vectors
