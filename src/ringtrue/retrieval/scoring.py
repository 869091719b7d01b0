"""What a cascade encodes of what its stand-in kept, from the highest score downwards, and what it misses by that.

The cut lies between two ranges of scores. Everything above it is encoded, and of each stratum below it an even sample.
A text is encoded once and costs once, however often the stream has it; copies of what was sampled are found with it,
but what is missed is estimated without them, as if they were still to be found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ringtrue.retrieval.encoders import Encoder
from ringtrue.retrieval.neighbours import Floats, Ints
from ringtrue.retrieval.recall import Missed, Stratum, count_missed, is_refuted
from ringtrue.retrieval.scan import nearest
from ringtrue.retrieval.search import Block
from ringtrue.retrieval.sieve import RANGES, Sieve, range_of

SAMPLE = 600
_CHUNK = 8192


class Band(NamedTuple):
    """One stratum: its lowest score, how many items it has, and of its sample the size, hits and largest similarity."""

    low: float
    items: int
    sampled: int
    hits: int
    nearest: float


@dataclass(frozen=True)
class Screened:
    """How a cascade went: how many items were scored, how many are above the threshold, and how many are missed.

    `missed` is by the tails of the sampled similarities unless these were `refuted`, `worst` by the sampled hits alone.
    `exhausted` says that what lies below the cut was too much to be kept, so that no effort could lower it further.
    """

    cut: float
    scored: int
    hits: int
    missed: Missed
    worst: Missed
    refuted: bool
    bands: tuple[Band, ...]
    exhausted: bool = False

    @property
    def estimate(self) -> float | None:
        """The share of items above the threshold that were found; None where none was."""
        return self.hits / (self.hits + self.missed.expected) if self.hits else None

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of its 95 % interval."""
        return _share(self.hits, self.missed.high), _share(self.hits, self.missed.low)

    @property
    def certain(self) -> float:
        """The lower end if nothing is assumed of what the sample did not show."""
        return _share(self.hits, self.worst.high)


class Scoring:
    """The texts that are encoded, and what is known of the items."""

    def __init__(self, encoder: Encoder, rows: Floats, sieve: Sieve, threshold: float, seed: int) -> None:
        """Nothing is encoded yet; the sieve is trimmed."""
        self._encoder, self._rows, self._sieve = encoder, rows, sieve
        self._threshold, self._seed = threshold, seed
        number_of: dict[str, int] = {}
        kept = (sieve.texts.texts[item] for item in sieve.numbers.tolist())
        self._text = np.array([number_of.setdefault(text, len(number_of)) for text in kept], np.int64)
        self._texts = list(number_of)
        self._nearest = np.full(len(self._texts), np.nan, np.float32)
        self._vectors: dict[int, Floats] = {}
        self._drawn = np.zeros(len(self._text), bool)
        self._ranges = range_of(sieve.scores)
        self._above = _from_the_top(sieve.counts)  # items in a range or a higher one
        highest = np.zeros(len(self._texts), np.int64)
        np.maximum.at(highest, self._text, self._ranges)
        self._cost = np.append(_from_the_top(np.bincount(highest, minlength=RANGES)), 0)
        dropped = np.bincount(self._ranges, minlength=RANGES) < sieve.counts
        self._whole = _from_the_top(dropped.astype(np.int64)) == 0  # nothing of it or above it was dropped
        self._cut = RANGES

    @property
    def spent(self) -> int:
        """How many texts are encoded."""
        return len(self._vectors)

    @property
    def passed(self) -> int:
        """How many of these are above the cut; the others are from samples."""
        return int(self._cost[self._cut])

    @property
    def next_cost(self) -> int:
        """How many texts to let pass in order to go on: twice as many, and a range at least."""
        return max(2 * self.passed, int(self._cost[max(self._cut - 1, 0)]))

    @property
    def is_at_the_end(self) -> bool:
        """Whether what lies below the cut is no longer there as a whole."""
        return self._cut > 0 and not self._whole[self._cut - 1]

    def screen(self, wanted: int, more: int = 0) -> Screened:
        """Encode what is above the lowest cut that lets at most so many texts pass, and a sample of what is below.

        `more` texts are added to the sample of the highest stratum, where a range is too large to pass as a whole.
        """
        possible = np.flatnonzero((self._cost[:-1] <= wanted) & self._whole)
        cut = self._cut = int(possible[0]) if len(possible) else RANGES
        passing = np.flatnonzero(self._ranges >= cut)
        ranges_below = self._strata(cut, max(len(passing) // 2, SAMPLE))
        below = [(low, high, self._draw(low, high, more if high == cut else 0)) for low, high in ranges_below]
        self._score(np.concatenate([passing, *(places for _, _, places in below)]))
        strata = [self._stratum(low, high, places) for low, high, places in below]
        refuted = self._is_refuted(cut, len(passing)) or self._is_surprising(strata)
        worst = count_missed(strata, self._threshold, self._seed, tails=False)
        known = self._nearest[self._text]
        return Screened(
            cut=_score_of(cut),
            scored=int(np.count_nonzero(~np.isnan(known))),
            hits=int(np.count_nonzero(known > self._threshold)),
            missed=worst if refuted else count_missed(strata, self._threshold, self._seed),
            worst=worst,
            refuted=refuted,
            bands=tuple(self._band(low, high, places) for low, high, places in below),
        )

    def numbers(self) -> Ints:
        """The numbers of the items in the stream whose texts are encoded, in its order."""
        return self._sieve.numbers[self._known_places()]

    def blocks(self) -> Iterator[tuple[Block, Floats]]:
        """The same items with their vectors."""
        places, store = self._known_places(), self._sieve.texts
        for start in range(0, len(places), _CHUNK):
            part = places[start : start + _CHUNK]
            numbers = self._sieve.numbers[part].tolist()
            ids = [store.ids[number] for number in numbers] if store.ids else []
            block = Block([store.texts[number] for number in numbers], ids)
            yield block, np.stack([self._vectors[text] for text in self._text[part].tolist()])

    def _known_places(self) -> Ints:
        known = np.flatnonzero(~np.isnan(self._nearest[self._text]))
        return known[np.argsort(self._sieve.numbers[known])]

    def _strata(self, cut: int, size: int) -> Iterator[tuple[int, int]]:
        """Ranges below the cut, the first with about so many items, each other with twice as many as the one above."""
        high = cut
        while high > 0 and self._above[0] > (self._above[high] if high < RANGES else 0):
            reached = (self._above[high] if high < RANGES else 0) + size
            low = int(np.max(np.flatnonzero(self._above[:high] >= min(reached, self._above[0]))))
            yield low, high
            size, high = 2 * size, low

    def _draw(self, low: int, high: int, more: int) -> Ints:
        """An even sample of a stratum; with `more` it goes on until so many further texts are in it."""
        places = self._sieve.drawn(low, high)
        texts, firsts = np.unique(self._text[places], return_index=True)
        new = np.zeros(len(places), np.int64)
        new[firsts] = np.isnan(self._nearest[texts])
        new[:SAMPLE] = 0
        places = places[: max(SAMPLE, int(np.searchsorted(np.cumsum(new), more)) + 1)]
        self._drawn[places] = True
        return places

    def _stratum(self, low: int, high: int, places: Ints) -> Stratum:
        drawn = int(np.count_nonzero(self._drawn & (self._ranges >= low) & (self._ranges < high)))
        return Stratum(int(self._sieve.counts[low:high].sum()) - drawn, self._near(places))

    def _band(self, low: int, high: int, places: Ints) -> Band:
        values = self._near(places)
        items = int(self._sieve.counts[low:high].sum())
        hits = int(np.count_nonzero(values > self._threshold))
        return Band(_score_of(low), items, len(values), hits, float(values.max(initial=-1.0)))

    def _is_refuted(self, cut: int, passed: int) -> bool:
        """Try the tails on the lower half of what passed, of which all is known."""
        low, hits, strata = cut, 0, []
        for share in (0.75, 0.5):
            higher = np.flatnonzero(self._above <= share * passed)
            high = int(higher[0]) if len(higher) else RANGES
            if high > low and (places := self._sieve.drawn(low, high)[:SAMPLE]).size:
                inside = np.flatnonzero((self._ranges >= low) & (self._ranges < high))
                rest = np.setdiff1d(inside, places)
                strata.append(Stratum(len(rest), self._near(places)))
                hits += int(np.count_nonzero(self._near(rest) > self._threshold))
                low = high
        return is_refuted(strata, hits, self._threshold, self._seed)

    def _is_surprising(self, strata: Sequence[Stratum]) -> bool:
        """Try the tails on the samples that they come from."""
        samples = [Stratum(len(stratum.sampled), stratum.sampled) for stratum in strata if len(stratum.sampled)]
        hits = sum(int(np.count_nonzero(stratum.sampled > self._threshold)) for stratum in samples)
        return is_refuted(samples, hits, self._threshold, self._seed)

    def _near(self, places: Ints) -> Floats:
        """The similarities of some items."""
        return self._nearest[self._text[places]]

    def _score(self, places: Ints) -> None:
        """Encode what is not encoded yet."""
        texts = np.unique(self._text[places])
        new = texts[np.isnan(self._nearest[texts])]
        for start in range(0, len(new), _CHUNK):
            part = new[start : start + _CHUNK]
            vectors = self._encoder.encode([self._texts[number] for number in part.tolist()])
            self._nearest[part] = nearest(np.nan_to_num(vectors, nan=0.0, posinf=0.0, neginf=0.0), self._rows)
            self._vectors.update(zip(part.tolist(), vectors, strict=True))


def _from_the_top(counts: Ints) -> Ints:
    """For each range how many are in it or a higher one."""
    return np.cumsum(counts[::-1])[::-1]


def _share(hits: int, missed: int) -> float:
    return hits / (hits + missed) if hits else 0.0


def _score_of(number: int) -> float:
    """The lowest score of a range."""
    return number / (RANGES / 2) - 1
