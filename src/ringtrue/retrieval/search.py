"""Exact search over a stream: for each text its k nearest items and every item above a threshold, by cosine.

The stream is encoded and compared block by block and never held as a whole. Items may be screened by vectors in a
lower precision first; all pairs that could then be wanted, by a margin measured on the stream itself, are encoded and
compared again in full, so that the result is that of comparing everything in full. A search can stop after any block
and go on in another process from arrays. Approximate indexes are left out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue import cache
from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import Encoder, Screening, stream
from ringtrue.retrieval.neighbours import Floats, Ints, Neighbours, Pairs, Wanted
from ringtrue.retrieval.rescoring import Rescored, rescore
from ringtrue.retrieval.scan import Scanner, compare, product_error, scanner_for
from ringtrue.retrieval.textstore import TextStore

if TYPE_CHECKING:
    from ringtrue.retrieval.encoders import Vectors
    from ringtrue.retrieval.scoring import Screened

Screen = Literal["auto", "fp32", "bf16"]
Remember: TypeAlias = "Callable[[Encoder], Encoder]"

HALF_MARGIN = 2.0**-10
"""How far similarities can be off that were computed from vectors kept in half precision, with room to spare."""

_SAMPLE = 512
_SAFETY = 3
_TEXTS = 100_000
_PAYS = 2


def as_it_is(encoder: Encoder) -> Encoder:
    """An encoder that remembers nothing of what it encoded."""
    return encoder


class Block(NamedTuple):
    """A piece of the stream; `ids` are handed back with what is found."""

    texts: Sequence[str]
    ids: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Hits:
    """Pairs of a text and an item, by text, the most similar first, those as similar in the order of the stream."""

    rows: Ints
    items: Ints
    similarities: Floats

    def of(self, row: int) -> tuple[Ints, Floats]:
        """The items of one text and their similarities."""
        start, stop = np.searchsorted(self.rows, [row, row + 1])
        return self.items[start:stop], self.similarities[start:stop]


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found, with the texts and ids of the items, and what it had to leave out.

    `blank` items have a vector of zeros and `broken` ones had numbers that are not finite in it: both are similar to
    nothing, and so are the rows `unknown`, of whose texts the encoder knows nothing. `rescored` tells about the
    screening in a lower precision, `screened` about that of a cascade, if there was one.
    """

    hits: Hits
    texts: Mapping[int, str]
    ids: Mapping[int, str]
    seen: int
    blank: int
    broken: int
    unknown: tuple[int, ...]
    rescored: Rescored | None
    screened: Screened | None = None


class ExactSearch:
    """A search under way: `run` over the blocks, `state` to stop, `restore` to go on, `finish` for the result."""

    def __init__(
        self,
        encoder: Encoder,
        texts: Sequence[str],
        *,
        k: int = 100,
        threshold: float | None = None,
        screen: Screen = "auto",
        expected: int | None = None,
        margin: float | None = None,
    ) -> None:
        """Encode the texts to search for.

        `screen` chooses what the stream is encoded in first; `auto` takes bf16 where the machine is fast in it and the
        stream, of which `expected` items will come, is not so short that most of it would be encoded again. `margin`
        says how far similarities can be off where `add` is given vectors that are not exact, such as kept ones.
        """
        if k < 0 or (k == 0 and threshold is None):
            raise InputError(f"cannot search for the {k} nearest; say 1 or more, or give a threshold.")
        self._encoder = encoder
        if screen == "auto" and expected is not None and expected < fewest_to_screen(k, len(texts)):
            screen = "fp32"
        self._screener = _screener(encoder, screen) if margin is None else None
        self._wanted = Wanted(k, threshold)
        self.rows = _checked(encoder.encode(texts), texts)
        self._key = cache.key(repr(encoder), repr(self._screener), list(texts), k, threshold, margin)
        self._margin: float | None = None
        self._scanner: Scanner | None = None
        self._kept, self._room = TextStore(), _TEXTS
        self.seen = self._blank = self._broken = 0
        if margin is not None or self._screener is None:
            self._set_margin(margin or 0.0)

    @property
    def margin(self) -> float | None:
        """How far a similarity is taken to be off at the most; None before the first block of a screened stream.

        Vectors that are kept from this search in half precision need `HALF_MARGIN` more.
        """
        return self._margin

    def run(self, blocks: Iterable[Block]) -> Iterator[Vectors]:
        """Encode and compare; hands out the vectors of each block once it is merged."""
        waiting: deque[Block] = deque()

        def texts() -> Iterator[Sequence[str]]:
            for block in blocks:
                waiting.append(block)
                yield block.texts

        for vectors in stream(self._screener or self._encoder, texts()):
            self.add(waiting.popleft(), vectors)
            yield vectors

    def add(self, block: Block, vectors: Vectors) -> None:
        """Compare a block whose vectors are known."""
        if len(vectors) != len(block.texts):
            raise InputError(f"a block of {len(block.texts)} texts came with {len(vectors)} vectors.")
        if not block.texts:
            return
        vectors = self._without_broken(block.texts, vectors)
        if self._margin is None:
            self._set_margin(self._measured_margin(block.texts, vectors))
        scanner = self._scanner = self._scanner or scanner_for(vectors, self.rows)
        pairs = compare(scanner, vectors, self._neighbours, self.rows.shape[1])
        self._kept.add(self.seen, block.texts, block.ids, np.unique(pairs.items))
        self._neighbours.add(pairs._replace(items=pairs.items + self.seen))
        self.seen += len(block.texts)
        if len(self._kept.texts) > self._room:
            self._best()
            self._room = max(self._room, 2 * len(self._kept.texts))

    def finish(self, remember: Remember = as_it_is) -> Found:
        """The result; what was screened is compared in full first, by what `remember` makes of the encoder."""
        pairs, told = self._best(), None
        if self._margin:
            encoder, texts = remember(self._encoder), self._kept.texts
            pairs, told = rescore(encoder, self.rows, pairs, texts, self._wanted, self._margin)
        items = np.unique(pairs.items).tolist()
        return Found(
            hits=Hits(*pairs),
            texts={item: self._kept.texts[item] for item in items},
            ids={item: self._kept.ids[item] for item in items if item in self._kept.ids},
            seen=self.seen,
            blank=self._blank,
            broken=self._broken + (told.broken if told else 0),
            unknown=tuple(np.flatnonzero(~self.rows.any(axis=1)).tolist()),
            rescored=told,
        )

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Where the search stands, as arrays that `numpy.savez` writes; call it between blocks."""
        self._best()
        return {
            "key": np.frombuffer(self._key.encode(), np.uint8),
            "counts": np.array([self.seen, self._blank, self._broken]),
            "margin": np.array([np.nan if self._margin is None else self._margin]),
            **(self._neighbours.arrays() if self._margin is not None else {}),
            **self._kept.arrays(),
        }

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        """Go on from a state; `seen` says how many items of the stream to skip."""
        if state["key"].tobytes().decode() != self._key:
            raise InputError("this state is of another search: texts, encoder, k, threshold or screening differ.")
        self.seen, self._blank, self._broken = (int(count) for count in state["counts"].tolist())
        margin = float(state["margin"].tolist()[0])
        if not np.isnan(margin):
            self._set_margin(margin)
            self._neighbours.load(state)
        self._kept.load(state)

    def _best(self) -> Pairs:
        """What is wanted so far; texts that no pair needs any more are dropped."""
        if self._margin is None:
            return Pairs.joined([])
        pairs = self._neighbours.best()
        self._kept.keep(np.unique(pairs.items))
        return pairs

    def _set_margin(self, margin: float) -> None:
        self._margin = margin
        self._neighbours = Neighbours(len(self.rows), self._wanted._replace(margin=margin))
        self._neighbours.floor[~self.rows.any(axis=1)] = np.inf  # a text of which nothing is known is near nothing

    def _measured_margin(self, texts: Sequence[str], vectors: Vectors) -> float:
        """How far a similarity can be off: thrice the worst that is seen between a sample and the texts."""
        sample = np.unique(np.linspace(0, len(texts) - 1, min(len(texts), _SAMPLE)).astype(np.int64))
        exact = self._encoder.encode([texts[number] for number in sample])
        screened = vectors[sample] if isinstance(vectors, np.ndarray) else vectors[sample.tolist()].cpu().numpy()
        sound = np.isfinite(exact).all(axis=1) & screened.any(axis=1)  # what is near nothing tells nothing
        worst = float(np.abs(self.rows @ (exact - screened)[sound].T).max(initial=0.0))
        return _SAFETY * worst + product_error(self.rows.shape[1])

    def _without_broken(self, texts: Sequence[str], vectors: Vectors) -> Vectors:
        """Count vectors of zeros, and replace those that hold something that is not a number."""
        if isinstance(vectors, np.ndarray):
            vectors = np.ascontiguousarray(vectors, np.float32)  # kept ones are smaller, and slow to multiply as such
            sizes = np.einsum("ij,ij->i", vectors, vectors)
        else:
            sizes = (vectors * vectors).sum(1).cpu().numpy()
        broken = np.flatnonzero(~np.isfinite(sizes))
        self._blank += int(np.count_nonzero(sizes == 0))
        if not len(broken):
            return vectors
        return _with_rows(vectors, broken, self._repaired([texts[number] for number in broken.tolist()]))

    def _repaired(self, texts: Sequence[str]) -> Floats:
        """Vectors for texts whose own are broken: those in full precision where they were screened, else zeros."""
        rows = np.full((len(texts), self.rows.shape[1]), np.nan, np.float32)
        if self._screener is not None:
            rows = self._encoder.encode(texts)
        lost = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        self._broken += len(lost)
        rows = rows.copy()
        rows[lost] = 0.0
        return rows


def fewest_to_screen(k: int, texts: int) -> int:
    """How many items a stream should have for screening to pay: of fewer, most would be encoded again."""
    return _PAYS * k * texts


def search(
    encoder: Encoder,
    texts: Sequence[str],
    blocks: Iterable[Block],
    *,
    k: int = 100,
    threshold: float | None = None,
    screen: Screen = "auto",
    expected: int | None = None,
) -> Found:
    """Search a whole stream at once."""
    running = ExactSearch(encoder, texts, k=k, threshold=threshold, screen=screen, expected=expected)
    for _ in running.run(blocks):
        pass
    return running.finish()


def top_k(queries: Floats, blocks: Iterable[Vectors], k: int, threshold: float | None = None) -> Hits:
    """The same for vectors of length one that are there already."""
    neighbours, seen = Neighbours(len(queries), Wanted(k, threshold)), 0
    for vectors in blocks:
        pairs = compare(scanner_for(vectors, queries), vectors, neighbours, queries.shape[1])
        neighbours.add(pairs._replace(items=pairs.items + seen))
        seen += len(vectors)
    return Hits(*neighbours.best())


def _screener(encoder: Encoder, screen: Screen) -> Encoder | None:
    """The encoder in bf16, where that is asked for or pays."""
    if screen == "fp32":
        return None
    if not isinstance(encoder, Screening) or encoder.precision != "fp32":
        if screen == "bf16":
            raise InputError(f"encoder {encoder!r} cannot be screened in bf16: it has no fp32; leave screening out.")
        return None
    return encoder.at("bf16") if screen == "bf16" or encoder.bf16_is_fast() else None


def _with_rows(vectors: Vectors, numbers: Ints, rows: Floats) -> Vectors:
    """A copy with other vectors in some places."""
    if isinstance(vectors, np.ndarray):
        vectors = vectors.copy()
        vectors[numbers] = rows
        return vectors
    import torch  # only who has torch's vectors comes here

    vectors = vectors.clone()
    vectors[numbers.tolist()] = torch.from_numpy(rows).to(vectors)
    return vectors


def _checked(rows: Floats, texts: Sequence[str]) -> Floats:
    """The vectors of the texts to search for; one that is not a number would be near nothing without a word."""
    broken = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(broken):
        raise InputError(f"the encoder gives no numbers for {len(broken)} texts, the first is {texts[broken[0]]!r}.")
    return np.ascontiguousarray(rows, np.float32)
