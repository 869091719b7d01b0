"""What is trained on: triples of a query, a document relevant to it, and one that is not.

The study counts instances, which are pairs: a triple is two of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import InputError


@dataclass(frozen=True, eq=False)
class Triples:
    """Each text once; a row has the numbers of its query, its relevant and its non-relevant document."""

    queries: Sequence[str]
    documents: Sequence[str]
    rows: NDArray[np.int64]

    @classmethod
    def from_texts(cls, triples: Iterable[tuple[str, str, str]]) -> Triples:
        """Number the texts of (query, relevant, non-relevant) in order of appearance."""
        queries: dict[str, int] = {}
        documents: dict[str, int] = {}
        rows = [
            (
                queries.setdefault(query, len(queries)),
                documents.setdefault(relevant, len(documents)),
                documents.setdefault(other, len(documents)),
            )
            for query, relevant, other in triples
        ]
        return cls(tuple(queries), tuple(documents), np.array(rows, np.int64).reshape(-1, 3))

    def __len__(self) -> int:
        """The number of triples; of instances there are twice as many."""
        return len(self.rows)

    def texts(self, row: int) -> tuple[str, str, str]:
        """Query, relevant and non-relevant document of one triple."""
        query, relevant, other = self.rows[row].tolist()
        return self.queries[query], self.documents[relevant], self.documents[other]

    def fingerprint(self) -> str:
        """A key for texts and rows in their order."""
        digest = hashlib.blake2b(np.ascontiguousarray(self.rows).tobytes(), digest_size=16)
        for texts in (self.queries, self.documents):
            digest.update(f"\0{len(texts)}\0".encode())
            for text in texts:
                digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
        return digest.hexdigest()


class Usable(NamedTuple):
    """The numbers of the triples that can be trained on, and what was left out, in words."""

    numbers: NDArray[np.int64]
    notes: tuple[str, ...]


def usable(triples: Triples) -> Usable:
    """Leave out triples with a text that is blank, or that call one document both relevant and not."""
    _check_shape(triples)
    rows = triples.rows
    no_query = _blank(triples.queries)[rows[:, 0]]
    no_text = _blank(triples.documents)[rows[:, 1:]].any(1)
    same = rows[:, 1] == rows[:, 2]
    notes = []
    for wrong, why in (
        (no_query, "have a query without text"),
        (no_text & ~no_query, "have a document without text"),
        (same & ~no_text & ~no_query, "have the same document as relevant and as non-relevant"),
    ):
        if wrong.any():
            first = int(np.flatnonzero(wrong)[0])
            notes.append(f"{int(wrong.sum())} triples left out: they {why} (the first is triple {first})")
    numbers = np.flatnonzero(~(no_query | no_text | same))
    if not len(numbers):
        raise InputError("no triple can be used: " + ("; ".join(notes) or "there are none") + ".")
    return Usable(numbers, tuple(notes))


def _check_shape(triples: Triples) -> None:
    rows = triples.rows
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise InputError(f"triples need rows of three numbers, not an array of shape {rows.shape}.")
    for numbers, texts, what in (
        (rows[:, 0], triples.queries, "query"),
        (rows[:, 1:], triples.documents, "document"),
    ):
        wrong = (numbers < 0) | (numbers >= len(texts))
        if wrong.any():
            place = int(np.argwhere(wrong)[0][0])
            raise InputError(
                f"triple {place} names {what} {int(numbers[wrong][0])}, but there are {len(texts)}, counted from 0."
            )


def _blank(texts: Sequence[str]) -> NDArray[np.bool_]:
    return np.fromiter((not text.strip() for text in texts), np.bool_, len(texts))
