"""Words and character n-grams hashed into a vector (Weinberger et al., ICML 2009): no model, no training, any script.

Finds what is written alike, not what means the same. Hashes are polynomials over code points, so that a whole block is
hashed by a few operations on arrays and every machine gets the same vectors.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import Floats
from ringtrue.retrieval.encoders.naming import Named

_CHUNK = 2048
_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SPACE = np.uint64(ord(" "))


@dataclass(frozen=True, repr=False)
class Hashing(Named):
    """Counts of words and of character n-grams (from `shortest` to `longest`), hashed with signs into `dimensions`."""

    dimensions: int = 1024
    shortest: int = 3
    longest: int = 5

    @property
    def dim(self) -> int:
        """How long a vector is."""
        return self.dimensions

    def encode(self, texts: Sequence[str]) -> Floats:
        """Case, compatibility forms and runs of spaces do not count; a text of spaces alone gets zeros."""
        if self.dimensions < 1 or not 1 <= self.shortest <= self.longest:
            raise InputError(
                f"encoder {self!r}: dimensions and shortest should be 1 or more, longest at least shortest."
            )
        rows = np.empty((len(texts), self.dimensions), np.float32)
        for start in range(0, len(texts), _CHUNK):
            rows[start : start + _CHUNK] = self._encode(texts[start : start + _CHUNK])
        return rows

    def _encode(self, texts: Sequence[str]) -> Floats:
        sums = np.zeros(len(texts) * self.dimensions)
        for text_of, hashes in _features(texts, self.shortest, self.longest):
            slots = text_of * self.dimensions + (hashes >> np.uint64(1)).astype(np.int64) % self.dimensions
            signs = (hashes & np.uint64(1)).astype(np.float64) * 2 - 1
            sums += np.bincount(slots, signs, minlength=len(sums))
        rows = sums.reshape(len(texts), self.dimensions)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        np.divide(rows, lengths, out=rows, where=lengths > 0)
        return rows.astype(np.float32)


def _features(
    texts: Sequence[str], shortest: int, longest: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint64]]]:
    """For words and each length of n-gram: which text each is in, and its hash."""
    padded = [f" {' '.join(unicodedata.normalize('NFKC', text).casefold().split())} " for text in texts]
    ends = np.cumsum([len(text) for text in padded])
    codes = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    text_of = np.repeat(np.arange(len(texts)), np.diff(ends, prepend=0))
    yield _words(codes, text_of)
    grams = np.zeros_like(codes)
    with np.errstate(over="ignore"):
        for length in range(1, longest + 1):
            grams = grams[: len(codes) - length + 1] * _BASE + codes[length - 1 :]
            if length >= shortest:
                inside = text_of[: len(grams)] == text_of[length - 1 :]
                yield text_of[: len(grams)][inside], _mixed(grams[inside], length)


def _words(codes: NDArray[np.uint64], text_of: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Every run of code points between spaces."""
    letters = codes != _SPACE
    starts = np.flatnonzero(letters[1:] & ~letters[:-1]) + 1  # every text begins with a space
    if not len(starts):
        return np.empty(0, np.int64), np.empty(0, np.uint64)
    sizes = np.diff(starts, append=len(codes))
    with np.errstate(over="ignore"):
        powers = np.cumprod(np.full(int(sizes.max()), _BASE))
        places = np.arange(int(sizes.sum())) - np.repeat(starts - starts[0], sizes)
        terms = (codes * letters)[starts[0] :] * powers[places]
        return text_of[starts], _mixed(np.add.reduceat(terms, starts - starts[0]), 0)


def _mixed(hashes: NDArray[np.uint64], kind: int) -> NDArray[np.uint64]:
    """Spread the hashes over all bits, differently for each kind of feature (the finaliser of SplitMix64)."""
    with np.errstate(over="ignore"):
        mixed = hashes + np.uint64(kind + 1) * _BASE
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX[0]
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX[1]
        return mixed ^ (mixed >> np.uint64(31))
