"""Texts as token numbers, sorted by length, so that a batch holds sequences of one length and nothing is padded.

A text that comes again is tokenised, and later encoded, once.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from ringtrue.retrieval.encoders import Unread


class Tokens(NamedTuple):
    """The distinct sequences of a block, one after the other, shortest first; `places` leads from texts to them."""

    ids: NDArray[np.int32]
    lengths: NDArray[np.int64]
    places: NDArray[np.int64]


class Batch(NamedTuple):
    """Some sequences of one length: their numbers, and where their token numbers are."""

    rows: slice
    ids: slice
    length: int


@dataclass(frozen=True)
class Tokeniser:
    """The tokenizer of a model's folder, cutting at `max_length` tokens; loaded when first called."""

    path: Path
    max_length: int
    special: bool = True

    def __call__(self, texts: Sequence[str]) -> Tokens:
        """Tokenise a block; the work is spread over all cores."""
        return tokenise(_load(self.path, self.max_length), texts, special=self.special)

    def words(self) -> list[str]:
        """The vocabulary, by number."""
        numbers = _load(self.path, self.max_length).get_vocab()
        return sorted(numbers, key=numbers.__getitem__)

    def unread(self, text: str) -> Unread:
        """The parts of a text that become the token of the unknown."""
        tokenizer, unknown = _load(self.path, self.max_length), _unknown(self.path, self.max_length)
        (clean,) = _clean({text: 0})
        found = tokenizer.encode(clean, add_special_tokens=False)
        spans = zip(found.ids, found.offsets, strict=True)
        return Unread(tuple(clean[begin:end] for number, (begin, end) in spans if number == unknown), len(found.ids))


def tokenise(tokenizer: Tokenizer, texts: Sequence[str], *, special: bool = True) -> Tokens:
    """The tokens of some texts; what comes again is tokenised once."""
    first = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    encodings = tokenizer.encode_batch_fast(_clean(first), add_special_tokens=special)
    sequences = [encoding.ids for encoding in encodings]
    lengths = np.fromiter(map(len, sequences), np.int64, len(sequences))
    order = np.argsort(lengths, kind="stable")
    ids = itertools.chain.from_iterable(map(sequences.__getitem__, order.tolist()))
    sequence_of = np.empty_like(order)
    sequence_of[order] = np.arange(len(order))
    return Tokens(
        ids=np.fromiter(ids, np.int32, int(lengths.sum())),
        lengths=lengths[order],
        places=sequence_of[np.fromiter(map(first.__getitem__, texts), np.int64, len(texts))],
    )


def joined(parts: Sequence[Tokens]) -> Tokens:
    """The sequences of all parts in one order; what comes again in another part stays."""
    if len(parts) == 1:
        return parts[0]
    lengths = np.concatenate([part.lengths for part in parts])
    order = np.argsort(lengths, kind="stable")
    sequence_of = np.empty_like(order)
    sequence_of[order] = np.arange(len(order))
    runs = [(run.length, part.ids[run.ids]) for part in parts for run in batches(part.lengths, sys.maxsize)]
    runs.sort(key=itemgetter(0))
    offsets = np.cumsum([0, *(len(part.lengths) for part in parts[:-1])])
    places = np.concatenate([part.places + offset for part, offset in zip(parts, offsets, strict=True)])
    return Tokens(np.concatenate([ids for _, ids in runs]), lengths[order], sequence_of[places])


def batches(lengths: NDArray[np.int64], budget: int, multiple: int = 1) -> Iterator[Batch]:
    """Cut ascending lengths into batches of one length with at most `budget` tokens, in multiples of sequences."""
    starts = np.concatenate(([0], np.cumsum(lengths))).tolist()
    edges = np.flatnonzero(np.diff(lengths, prepend=-1, append=-1)).tolist()
    for begin, end in itertools.pairwise(edges):
        length = int(lengths[begin])
        size = max(1, budget // max(length, 1) // multiple) * multiple
        for low in range(begin, end, size):
            high = min(low + size, end)
            yield Batch(slice(low, high), slice(starts[low], starts[high]), length)


@lru_cache(maxsize=8)
def _load(path: Path, max_length: int) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()  # some files have a fixed length switched on
    tokenizer.enable_truncation(max_length)
    return tokenizer


@lru_cache(maxsize=8)
def _unknown(path: Path, max_length: int) -> int | None:
    """The number of the token that stands for all unknown words; None where every text has tokens of its own."""
    tokenizer = _load(path, max_length)
    model = json.loads(tokenizer.to_str())["model"]
    number: int | None = model.get("unk_id")
    return tokenizer.token_to_id(model["unk_token"]) if model.get("unk_token") else number


def _clean(texts: dict[str, int]) -> list[str]:
    """The texts, with half characters as broken files have them replaced: the tokenizer takes none."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in texts]
    return list(texts)
