"""A cheap stand-in for an encoder that says how near a text is to the nearest of some known ones.

Token vectors distilled from the encoder are fitted to the known texts, whose exact vectors the search has anyway: the
words that matter most are those of the texts that are searched for. A new text is the mean of its tokens and is held
against the exact vectors of the known texts, and against the mean of the tokens of those that cannot be fitted: a text
in a script that the vocabulary has letter by letter would else be far from itself. As every token's product with every
known text is computed beforehand, a new text costs a sum of a few rows. Fitting is deterministic; the stand-in is only
for choosing what to encode in full.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse
import torch
from numpy.typing import NDArray

from ringtrue.retrieval.encoders import Encoder
from ringtrue.retrieval.encoders.static import Static
from ringtrue.retrieval.encoders.wordpieces import Ragged, WordPieces
from ringtrue.retrieval.neighbours import Floats

_ANCHORS = 2000
_RIDGE = 0.3
_EPOCHS, _BATCH, _RATE = 10, 256, 0.005
_BADLY_FITTED = 0.6
_TABLE = 1 << 28  # numbers; a table that is larger would not stay in memory beside the rest
_CHUNK = 8192


@dataclass(frozen=True, eq=False)
class Student:
    """Fitted token vectors and the exact vectors of the known texts; `nearest` is what it is for."""

    pieces: WordPieces
    tokens: Floats
    products: torch.Tensor | None
    rows: torch.Tensor

    @classmethod
    def of(cls, encoder: Encoder, texts: Sequence[str], rows: Floats) -> Student:
        """Fit to texts whose exact vectors are `rows`; an encoder that cannot be distilled is an error."""
        vectors, pieces = Static(repr(encoder)).table()
        anchors = _anchors(pieces.tokeniser.words(), _ANCHORS)
        counts = _counts(pieces([*texts, *anchors]), len(vectors))
        exact = np.concatenate((rows, encoder.encode(anchors)))
        tokens = _fit(vectors, counts, exact, len(texts))
        known = torch.from_numpy(np.concatenate((rows, _own(tokens, counts[: len(texts)], rows)))).bfloat16()
        small = len(tokens) * len(known) <= _TABLE
        return cls(pieces, tokens, torch.from_numpy(tokens).bfloat16() @ known.T if small else None, known)

    def nearest(self, texts: Sequence[str]) -> Floats:
        """The largest similarity to any known text; -1 for a text without a known token."""
        ragged = self.pieces(texts)
        parts = [
            self._nearest(ragged.ids[ragged.starts[low] :], ragged.starts[low : low + _CHUNK + 1] - ragged.starts[low])
            for low in range(0, len(texts), _CHUNK)
        ]
        return np.concatenate([np.empty(0, np.float32), *parts])

    def _nearest(self, ids: NDArray[np.int64], starts: NDArray[np.int64]) -> Floats:
        bags = torch.from_numpy(ids[: starts[-1]]), torch.from_numpy(starts[:-1])
        with torch.inference_mode():
            sums = _sum(bags, torch.from_numpy(self.tokens))
            lengths = sums.norm(dim=1)
            products = sums.bfloat16() @ self.rows.T if self.products is None else _sum(bags, self.products)
            best = products.amax(dim=1).float() / lengths
            return np.asarray(torch.where(lengths > 0, best, -1.0).numpy())


def _sum(bags: tuple[torch.Tensor, torch.Tensor], table: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.embedding_bag(bags[0], table, bags[1], mode="sum")


def _anchors(words: Sequence[str], count: int) -> list[str]:
    """Whole words of the vocabulary, evenly spread: they hold the fit where the known texts say nothing."""
    whole = [word for word in words if word.isalpha() and len(word) > 2]
    return [whole[number] for number in np.unique(np.linspace(0, len(whole) - 1, min(count, len(whole))).astype(int))]


def _counts(ragged: Ragged, tokens: int) -> scipy.sparse.csr_array:
    ones = np.ones(len(ragged.ids), np.float32)
    return scipy.sparse.csr_array((ones, ragged.ids, ragged.starts), shape=(len(ragged.starts) - 1, tokens))


def _fit(vectors: Floats, counts: scipy.sparse.csr_array, exact: Floats, known: int) -> Floats:
    """Turn the vectors towards the encoder's by least squares, then tune those of tokens in the known texts (Adam)."""
    means = _unit(np.asarray(counts @ vectors))
    square = means.T @ means + _RIDGE * np.eye(means.shape[1], dtype=np.float32)
    tokens = np.asarray(vectors @ np.linalg.solve(square, means.T @ exact), np.float32)
    used = np.unique(counts[:known].indices)
    tokens[used] = _tuned(tokens[used], counts[:known][:, used].tocsr(), exact[:known])
    return tokens


def _own(tokens: Floats, counts: scipy.sparse.csr_array, exact: Floats) -> Floats:
    """The vectors that badly fitted texts have as means of their tokens; none of a text without a known token."""
    own = _unit(np.asarray(counts @ tokens, np.float32))
    near = np.einsum("ij,ij->i", own, exact)
    return np.asarray(own[(near < _BADLY_FITTED) & own.any(axis=1)])


def _tuned(tokens: Floats, counts: scipy.sparse.csr_array, exact: Floats) -> Floats:
    """Let the means of tokens point where the exact vectors do (Kingma and Ba's steps, ICLR 2015)."""
    first, second, step = np.zeros_like(tokens), np.zeros_like(tokens), 0
    generator = np.random.default_rng(0)
    for _ in range(_EPOCHS):
        order = generator.permutation(counts.shape[0])
        for low in range(0, len(order), _BATCH):
            chosen = order[low : low + _BATCH]
            part, step = counts[chosen], step + 1
            slope = np.asarray(part.T @ _slope(np.asarray(part @ tokens), exact[chosen]), np.float32)
            first += np.float32(0.1) * (slope - first)
            second += np.float32(0.001) * (slope * slope - second)
            size = np.float32(_RATE * (1 - 0.999**step) ** 0.5 / (1 - 0.9**step))
            tokens = np.asarray(tokens - size * first / (np.sqrt(second) + np.float32(1e-8)), np.float32)
    return tokens


def _slope(sums: Floats, exact: Floats) -> Floats:
    """Of one less the cosine, by the sums."""
    lengths = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    sums = sums / lengths
    cosines = np.einsum("ij,ij->i", sums, exact)[:, None]
    return np.asarray((cosines * sums - exact) / lengths / len(sums), np.float32)


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0), np.float32)
