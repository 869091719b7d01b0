"""Very many short texts in one piece of bytes; a string is made when it is asked for.

Nearly all lines of a log are read once, by another process or by none: making ten million strings takes longer than
searching them on a GPU.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ringtrue.data.records import LogQuery

Ints = NDArray[np.int64]

_CODEC = ("utf-8", "surrogatepass")
_MULTIPLIER = 0x9E3779B97F4A7C15  # odd and without a pattern, so that short texts get keys far apart


class Cells(Sequence[str]):
    """Texts that begin and end somewhere in UTF-8 data."""

    def __init__(self, data: bytes, starts: Ints, ends: Ints) -> None:
        """The data is kept, not copied."""
        self._data, self._starts, self._ends = data, starts, ends

    @classmethod
    def of(cls, texts: Iterable[str]) -> Cells:
        """The same texts, packed."""
        coded = [text.encode(*_CODEC) for text in texts]
        ends = np.cumsum(np.fromiter(map(len, coded), np.int64, len(coded)))
        return cls(b"".join(coded), np.concatenate(([0], ends[:-1]))[: len(ends)], ends)

    @classmethod
    def joined(cls, parts: Sequence[Cells]) -> Cells:
        """The texts of all parts, without what their data holds beside them."""
        stretches = [part.stretch() for part in parts]
        offsets = np.cumsum([0, *(len(data) for data, _, _ in stretches[:-1])])
        starts, ends = (
            np.concatenate([values + offset for values, offset in zip(columns, offsets, strict=True)])
            for columns in ([starts for _, starts, _ in stretches], [ends for _, _, ends in stretches])
        )
        return cls(b"".join(data for data, _, _ in stretches), starts, ends)

    def stretch(self) -> tuple[memoryview, Ints, Ints]:
        """The stretch of data that the texts lie in, which is not copied, and where they begin and end in it."""
        if not len(self):
            return memoryview(b""), self._starts, self._ends
        low, high = int(self._starts.min()), int(self._ends.max())
        return memoryview(self._data)[low:high], self._starts - low, self._ends - low

    def __len__(self) -> int:
        """How many texts."""
        return len(self._starts)

    @overload
    def __getitem__(self, place: int, /) -> str: ...

    @overload
    def __getitem__(self, place: slice, /) -> Cells: ...

    def __getitem__(self, place: int | slice, /) -> str | Cells:
        """One text, or some without copying any."""
        if isinstance(place, slice):
            return Cells(self._data, self._starts[place], self._ends[place])
        return str(self._data[self._starts[place] : self._ends[place]], *_CODEC)

    def __iter__(self) -> Iterator[str]:
        """All texts; data without any but ASCII is decoded as a whole."""
        spans = zip(self._starts.tolist(), self._ends.tolist(), strict=True)
        if self._data.isascii():
            text = self._data.decode("ascii")
            return (text[start:end] for start, end in spans)
        return (str(self._data[start:end], *_CODEC) for start, end in spans)

    def take(self, places: Ints) -> Cells:
        """The texts at some places, copied together, so that all of them are soon decoded."""
        chosen = Cells(self._data, self._starts[places], self._ends[places])
        lengths = chosen._ends - chosen._starts
        ends = np.cumsum(lengths)
        return Cells(chosen._codes().tobytes(), ends - lengths, ends)

    def keys(self) -> Ints:
        """A number for each text, the same for the same text, and as good as never the same for two."""
        lengths = self._ends - self._starts
        before = np.cumsum(lengths) - lengths
        within = np.arange(int(lengths.sum())) - np.repeat(before, lengths)
        powers = np.cumprod(np.full(int(lengths.max(initial=0)) + 1, _MULTIPLIER, np.uint64))
        terms = (self._codes().astype(np.uint64) + np.uint64(1)) * powers[within]
        totals = np.concatenate((np.zeros(1, np.uint64), np.cumsum(terms)))
        keys: Ints = (totals[before + lengths] - totals[before]).view(np.int64)
        return keys

    def _codes(self) -> NDArray[np.uint8]:
        """The bytes of all texts, one text after the other."""
        lengths = self._ends - self._starts
        before = np.cumsum(lengths) - lengths
        places = np.arange(int(lengths.sum())) + np.repeat(self._starts - before, lengths)
        codes: NDArray[np.uint8] = np.frombuffer(self._data, np.uint8)[places]
        return codes


@dataclass(frozen=True, eq=False)
class LogBlock:
    """Lines of a training log, by column; the documents that a query was trained on are left out."""

    ids: Cells
    texts: Cells
    sources: Cells

    @classmethod
    def of(cls, entries: Sequence[LogQuery]) -> LogBlock:
        """The columns of some lines."""
        return cls(
            Cells.of(entry.query_id for entry in entries),
            Cells.of(entry.text for entry in entries),
            Cells.of(entry.source for entry in entries),
        )

    @classmethod
    def joined(cls, parts: Sequence[LogBlock]) -> LogBlock:
        """The lines of all parts."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            Cells.joined([part.ids for part in parts]),
            Cells.joined([part.texts for part in parts]),
            Cells.joined([part.sources for part in parts]),
        )

    def __len__(self) -> int:
        """How many lines."""
        return len(self.texts)

    def part(self, start: int, stop: int | None = None) -> LogBlock:
        """Some of the lines."""
        return LogBlock(self.ids[start:stop], self.texts[start:stop], self.sources[start:stop])


def packed(log: Iterator[LogQuery], size: int) -> Iterator[LogBlock]:
    """A log in blocks of so many lines."""
    while entries := list(islice(log, size)):
        yield LogBlock.of(entries)


def regrouped(pieces: Iterable[LogBlock], size: int) -> Iterator[LogBlock]:
    """The same lines in blocks of so many; the last may be shorter."""
    waiting: list[LogBlock] = []
    lines = 0
    for piece in pieces:
        waiting.append(piece)
        lines += len(piece)
        if lines >= size:
            block = LogBlock.joined(waiting)
            whole = lines - lines % size
            yield from (block.part(start, start + size) for start in range(0, whole, size))
            waiting, lines = [block.part(whole)], lines - whole
    if lines:
        yield LogBlock.joined(waiting)
