"""Query and document as one sequence, with the special tokens that a model wants around and between them.

Both are tokenised once, whatever pairs are made of them; numpy puts the pairs together, one row a pair with padding,
or one after the other without.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from ringtrue.errors import InputError
from ringtrue.retrieval.neural.network import PairRows, Prepared
from ringtrue.retrieval.neural.ragged import Ragged

Ints = NDArray[np.int64]


class Assembled(NamedTuple):
    """Token numbers, the type of each, and its position in its sequence, in one flat array each."""

    ids: NDArray[np.int32]
    types: NDArray[np.int32]
    positions: NDArray[np.int32]


class Rows(NamedTuple):
    """Token numbers and types, one row a pair, and what of them is no padding."""

    ids: Ints
    types: Ints
    inside: NDArray[np.bool_]


class PairTemplate(NamedTuple):
    """The tokens before the query, between query and document, and behind the document; the types of these parts."""

    before: tuple[int, ...]
    between: tuple[int, ...]
    behind: tuple[int, ...]
    types: tuple[int, int, int, int, int]

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> PairTemplate:
        """What a tokenizer does with a pair."""
        encoding = tokenizer.encode("a", "b")
        parts = encoding.sequence_ids
        if 0 not in parts or 1 not in parts:
            raise InputError("the tokenizer of this model makes no tokens of plain letters; it cannot be used.")
        first, second = parts.index(0), parts.index(1)
        last = len(parts) - parts[::-1].index(1)
        query_end = len(parts) - parts[::-1].index(0)
        ids, types = encoding.ids, encoding.type_ids
        return cls(
            before=tuple(ids[:first]),
            between=tuple(ids[query_end:second]),
            behind=tuple(ids[last:]),
            types=(
                types[0] if first else types[first],
                types[first],
                types[query_end] if second > query_end else types[first],
                types[second],
                types[last] if last < len(parts) else types[second],
            ),
        )

    @property
    def special(self) -> int:
        """How many tokens each pair has beside those of its texts."""
        return len(self.before) + len(self.between) + len(self.behind)

    def cut(self, prepared: Prepared, pairs: PairRows, limit: int) -> tuple[Ints, Ints]:
        """How many tokens of each pair's query and document there is room for; the document gives way first."""
        room = limit - self.special
        queries = np.minimum(prepared.queries.lengths[pairs[:, 0]], room)
        return queries, np.minimum(prepared.documents.lengths[pairs[:, 1]], room - queries)

    def rows(self, prepared: Prepared, pairs: PairRows, limit: int, pad: int) -> Rows:
        """One row a pair, filled up at the end."""
        lengths = self.lengths(prepared, pairs, limit)
        count, width = len(pairs), int(lengths.max(initial=1))
        found = self.assemble(prepared, pairs, limit, np.arange(count, dtype=np.int64) * width, count * width)
        inside = np.arange(width) < lengths[:, None]
        ids, types = found.ids.reshape(count, width), found.types.reshape(count, width)
        return Rows(np.where(inside, ids, pad).astype(np.int64), types.astype(np.int64), inside)

    def lengths(self, prepared: Prepared, pairs: PairRows, limit: int) -> Ints:
        """How many tokens each pair has."""
        queries, documents = self.cut(prepared, pairs, limit)
        return queries + documents + self.special

    def assemble(self, prepared: Prepared, pairs: PairRows, limit: int, starts: Ints, size: int) -> Assembled:
        """Put pairs into arrays of `size`, each from its start on; what lies between them stays zero."""
        queries, documents = self.cut(prepared, pairs, limit)
        canvas = _Canvas(starts, size)
        canvas.put_tokens(self.before, self.types[0])
        canvas.put_texts(prepared.queries, pairs[:, 0], queries, self.types[1])
        canvas.put_tokens(self.between, self.types[2])
        canvas.put_texts(prepared.documents, pairs[:, 1], documents, self.types[3])
        canvas.put_tokens(self.behind, self.types[4])
        return canvas.finished()


class _Canvas:
    """Sequences in the making; each part is put behind what its sequence has already."""

    def __init__(self, starts: Ints, size: int) -> None:
        self._starts, self._at = starts, starts
        self._ids, self._types, self._positions = (np.zeros(size, np.int32) for _ in range(3))

    def put_tokens(self, tokens: tuple[int, ...], kind: int) -> None:
        """The same tokens for all."""
        places = self._at[:, None] + np.arange(len(tokens))
        self._ids[places], self._types[places] = tokens, kind
        self._at = self._at + len(tokens)

    def put_texts(self, texts: Ragged, numbers: Ints, lengths: Ints, kind: int) -> None:
        """The first tokens of a text for each."""
        places = spread_out(self._at, lengths)
        self._ids[places], self._types[places] = texts.ids[spread_out(texts.starts[numbers], lengths)], kind
        self._at = self._at + lengths

    def finished(self) -> Assembled:
        """All that was put, with positions from zero on in each sequence."""
        lengths = self._at - self._starts
        places = spread_out(self._starts, lengths)
        self._positions[places] = places - np.repeat(self._starts, lengths)
        return Assembled(self._ids, self._types, self._positions)


def spread_out(starts: Ints, lengths: Ints) -> Ints:
    """`starts[0]`, `starts[0] + 1`, … as many as `lengths[0]` says, then the same for the others."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total)
