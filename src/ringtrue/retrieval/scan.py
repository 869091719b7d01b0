"""Comparing a block of vectors with all rows: on a CPU with numpy, on a GPU with torch.

Every similarity is computed, tile by tile; what is below the row's floor is dropped at once, so that most tiles cost a
product of matrices and a comparison. Similarities that are reported are computed again as sums in double precision:
they do not depend on how the work was cut up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ringtrue.retrieval.neighbours import Floats, Ints, Neighbours, Pairs

if TYPE_CHECKING:
    import torch

    from ringtrue.retrieval.encoders import Vectors

_TILE = 1 << 22
_GPU_TILE = 1 << 27
_PAIRS = 1 << 13
_GPU_PAIRS = 1 << 18
_FLOOD = 2


def product_error(dim: int) -> float:
    """How far a product of two vectors of length one in single precision can be from the truth, at the most."""
    return 1.1 * dim * 2.0**-24


class Scanner(Protocol):
    """Compares vectors with fixed rows."""

    def scan(self, vectors: Vectors, into: Neighbours) -> None:
        """Add all pairs that may be wanted; an item is its number within the block."""

    def similarities(self, vectors: Vectors, pairs: Pairs) -> Floats:
        """The similarity of each pair, correctly rounded."""


def scanner_for(vectors: Vectors, rows: Floats) -> Scanner:
    """The one for where the vectors are."""
    return NumpyScanner(rows) if isinstance(vectors, np.ndarray) else TorchScanner(rows, vectors.device)


def compare(scanner: Scanner, vectors: Vectors, so_far: Neighbours, dim: int) -> Pairs:
    """The pairs of a block that may be wanted beside those so far.

    Their similarities are exact where those so far are, which is where there is no margin.
    """
    wanted = so_far.wanted
    if wanted.margin:
        found = Neighbours(len(so_far.floor), wanted, so_far.floor)
        scanner.scan(vectors, found)
        return found.best()
    error = product_error(dim)
    found = Neighbours(len(so_far.floor), wanted._replace(margin=error), so_far.floor - np.float32(error))
    scanner.scan(vectors, found)
    pairs = found.best()
    return pairs._replace(scores=scanner.similarities(vectors, pairs))


def nearest(vectors: Floats, rows: Floats) -> Floats:
    """The similarity of each vector to the row that is nearest to it, whatever vectors it stands among."""
    scores = vectors @ rows.T
    items, near = np.nonzero(scores >= scores.max(axis=1, keepdims=True) - 2 * np.float32(product_error(rows.shape[1])))
    exact = NumpyScanner(rows).similarities(vectors, Pairs(near, items, scores[items, near]))
    best = np.full(len(vectors), -np.inf, np.float32)
    np.maximum.at(best, items, exact)
    return best


class NumpyScanner:
    """On a CPU."""

    def __init__(self, rows: Floats) -> None:
        """Hold the rows."""
        self._rows = rows

    def scan(self, vectors: Vectors, into: Neighbours) -> None:
        """Compare tile by tile, so that a tile's similarities stay in the cache."""
        assert isinstance(vectors, np.ndarray)
        for start, stop in _cuts(len(vectors), _TILE // max(len(self._rows), 1)):
            scores = self._rows @ vectors[start:stop].T
            above = scores >= into.floor[:, None]
            if _is_flood(int(np.count_nonzero(above)), scores.shape, into):
                kth = np.partition(scores, -into.wanted.k, axis=1)[:, -into.wanted.k]
                above = scores >= np.maximum(into.floor, into.wanted.floor(kth))[:, None]
            rows, items = np.nonzero(above)
            into.add(Pairs(rows, items + start, scores[rows, items]))

    def similarities(self, vectors: Vectors, pairs: Pairs) -> Floats:
        """A sum in double precision for each pair."""
        assert isinstance(vectors, np.ndarray)
        result = np.empty(len(pairs.rows), np.float32)
        for start, stop in _cuts(len(result), _PAIRS):
            left = self._rows[pairs.rows[start:stop]].astype(np.float64)
            right = vectors[pairs.items[start:stop]].astype(np.float64)
            result[start:stop] = np.einsum("ij,ij->i", left, right)
        return result


class TorchScanner:
    """On a GPU, or wherever torch has the vectors."""

    def __init__(self, rows: Floats, device: torch.device) -> None:
        """Copy the rows there."""
        import torch  # only who has torch's vectors comes here

        self._torch = torch
        self._rows = torch.from_numpy(rows).to(device)

    def scan(self, vectors: Vectors, into: Neighbours) -> None:
        """Compare in large tiles; only what may be wanted leaves the device."""
        assert not isinstance(vectors, np.ndarray)
        with self._torch.inference_mode():
            for start, stop in _cuts(len(vectors), _GPU_TILE // max(len(self._rows), 1)):
                scores = self._rows @ vectors[start:stop].T
                above = scores >= self._column(into.floor)
                if _is_flood(int(above.count_nonzero()), tuple(scores.shape), into):
                    kth = np.asarray(scores.topk(into.wanted.k, dim=1).values[:, -1].cpu().numpy())
                    above = scores >= self._column(np.maximum(into.floor, into.wanted.floor(kth)))
                rows, items = above.nonzero(as_tuple=True)
                into.add(Pairs(_ints(rows), _ints(items) + start, np.asarray(scores[rows, items].cpu().numpy())))

    def similarities(self, vectors: Vectors, pairs: Pairs) -> Floats:
        """A sum in double precision for each pair."""
        assert not isinstance(vectors, np.ndarray)
        result = np.empty(len(pairs.rows), np.float32)
        with self._torch.inference_mode():
            for start, stop in _cuts(len(result), _GPU_PAIRS):
                rows, items = (
                    self._torch.from_numpy(numbers[start:stop]).to(vectors.device)
                    for numbers in (pairs.rows, pairs.items)
                )
                products = self._rows[rows].double() * vectors[items].double()
                result[start:stop] = products.sum(1).float().cpu().numpy()
        return result

    def _column(self, values: Floats) -> torch.Tensor:
        return self._torch.from_numpy(values).to(self._rows.device)[:, None]


def _is_flood(count: int, shape: tuple[int, ...], into: Neighbours) -> bool:
    """Whether so many pairs of a tile pass that finding the tile's own k-th best first is less work."""
    rows, items = shape
    return 0 < into.wanted.k < items and count > _FLOOD * into.wanted.k * rows


def _cuts(size: int, step: int) -> Iterator[tuple[int, int]]:
    """Where pieces of at most `step` begin and end."""
    step = max(step, 1)
    return ((start, min(start + step, size)) for start in range(0, size, step))


def _ints(tensor: torch.Tensor) -> Ints:
    return np.asarray(tensor.cpu().numpy())
