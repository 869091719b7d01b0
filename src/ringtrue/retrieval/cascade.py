"""Search in two steps: a cheap stand-in screens the whole stream, the encoder scores what is left.

Every item gets the stand-in's score once. From the highest downwards items are encoded in full, and with them a sample
of what lies below, stratified by score and denser near the cut. The sample tells how many items above the threshold are
still missed; the cut is lowered until few enough are, or as much as allowed is encoded. What the encoder has scored is
compared as by an exact search. `recall` says what the estimate assumes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ringtrue import cache
from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import Encoder, Screening
from ringtrue.retrieval.neighbours import Floats, Ints, Neighbours, Pairs, Wanted
from ringtrue.retrieval.recall import Missed, Stratum, count_missed, is_refuted
from ringtrue.retrieval.search import Block, ExactSearch, Found, Hits, Screen, top_k
from ringtrue.retrieval.sieve import RANGES, Sieve, range_of

LEAST = 10_000
"""So many items may be encoded in any case: fewer would save no time that anybody notices."""

_ROOM = 200_000
_SAMPLE = 600
_KEPT_SAMPLE = 512
_FIRST_SHARE = 0.25
_WORKERS = 2
_CHUNK = 8192


class Screener(Protocol):
    """Scores texts cheaply."""

    def nearest(self, texts: Sequence[str]) -> Floats:
        """About how near each is to the nearest of the texts that are searched for, from -1 to 1."""


@dataclass(frozen=True)
class Plan:
    """What to reach, and how much of the stream may be encoded for it."""

    recall: float = 0.999
    effort: float = 0.02
    seed: int = 42

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if not 0 < self.recall <= 1 or not 0 < self.effort <= 1:
            raise InputError(f"recall is {self.recall:g} and effort {self.effort:g}; both are shares, above 0 up to 1.")


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
    """

    cut: float
    scored: int
    hits: int
    missed: Missed
    worst: Missed
    refuted: bool
    bands: tuple[Band, ...]

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


class Cascade:
    """A search under way, used as an `ExactSearch` is; what `finish` gives has `screened` beside what was found."""

    def __init__(
        self,
        encoder: Encoder,
        texts: Sequence[str],
        *,
        k: int = 100,
        threshold: float,
        plan: Plan | None = None,
        screener: Screener | None = None,
    ) -> None:
        """Encode the texts to search for and fit the stand-in to them, unless one is given."""
        self._encoder, self._plan, self._threshold = encoder, plan or Plan(), threshold
        self._quick = _quick(encoder)
        screen: Screen = "fp32" if self._quick is encoder else "bf16"
        wanted = k if self._quick is encoder else 0
        self._exact = ExactSearch(encoder, texts, k=wanted, threshold=threshold, screen=screen)
        self._k = k
        self._screener = screener or _student(encoder, texts, self._exact.rows)
        self._key = cache.key("cascade", repr(encoder), list(texts), k, threshold, self._plan)
        self._sieve = Sieve(self._plan.seed, _ROOM, _KEPT_SAMPLE)

    @property
    def seen(self) -> int:
        """How many items of the stream are screened."""
        return self._sieve.seen

    def run(self, blocks: Iterable[Block]) -> Iterator[None]:
        """Screen; blocks are read while others are scored."""
        waiting: deque[tuple[Block, Future[Floats]]] = deque()
        with ThreadPoolExecutor(_WORKERS, thread_name_prefix="screen") as workers:
            for block in blocks:
                waiting.append((block, workers.submit(self._screener.nearest, block.texts)))
                if len(waiting) > _WORKERS:
                    self._merge(*waiting.popleft())
                    yield
            while waiting:
                self._merge(*waiting.popleft())
                yield

    def _merge(self, block: Block, scores: Future[Floats]) -> None:
        found = np.nan_to_num(scores.result(), nan=1.0)  # what cannot be screened is better scored in full
        self._sieve.add(list(block.texts), list(block.ids), found.astype(np.float32))

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Where the search stands, as arrays; call it between blocks."""
        return {"key": np.frombuffer(self._key.encode(), np.uint8), **self._sieve.state()}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        """Go on from a state; `seen` says how many items of the stream to skip."""
        if state["key"].tobytes().decode() != self._key:
            raise InputError("this state is of another search: texts, encoder, k, threshold, recall or seed differ.")
        self._sieve.restore(state)

    def finish(self) -> Found:
        """Encode from the highest score downwards until the recall is reached or the effort spent."""
        self._sieve.trim()
        scoring = _Scoring(self._quick, self._exact.rows, self._sieve, self._threshold)
        allowed = min(max(LEAST, int(self._plan.effort * self.seen)), self.seen)
        screened = scoring.screen(max(1, int(_FIRST_SHARE * allowed)), self._plan)
        while screened.interval[0] < self._plan.recall and scoring.scored < allowed:
            lower = scoring.screen(min(2 * max(scoring.passed, 1), allowed - scoring.sampled), self._plan)
            if lower.cut >= screened.cut:
                break
            screened = lower
        for block, vectors in scoring.blocks():
            self._exact.add(block, vectors)
        found = self._exact.finish()
        if self._quick is not self._encoder:
            found = self._with_nearest(found, scoring)
        return replace(_renumbered(found, scoring.numbers()), seen=self.seen, screened=screened)

    def _with_nearest(self, found: Found, scoring: _Scoring) -> Found:
        """Beside all exact pairs above the threshold the k nearest below it, by vectors in the lower precision."""
        blocks = list(scoring.blocks())
        near = top_k(self._exact.rows, (vectors for _, vectors in blocks), self._k)
        rest = near.similarities <= self._threshold
        pairs = Neighbours(len(self._exact.rows), Wanted(self._k, self._threshold))
        for hits, chosen in ((found.hits, slice(None)), (near, rest)):
            pairs.add(Pairs(hits.rows[chosen], hits.items[chosen], hits.similarities[chosen]))
        best = pairs.best()
        texts = [text for block, _ in blocks for text in block.texts]
        ids = [name for block, _ in blocks for name in block.ids]
        items = np.unique(best.items).tolist()
        return replace(
            found,
            hits=Hits(*best),
            texts={item: texts[item] for item in items},
            ids={item: ids[item] for item in items} if ids else {},
        )


class _Scoring:
    """The items that are encoded, and what is known of them."""

    def __init__(self, encoder: Encoder, rows: Floats, sieve: Sieve, threshold: float) -> None:
        self._encoder, self._rows, self._sieve, self._threshold = encoder, rows, sieve, threshold
        self._nearest = np.full(len(sieve.numbers), np.nan, np.float32)
        self._vectors: dict[int, Floats] = {}
        self._ranges = range_of(sieve.scores)
        self._above = np.cumsum(sieve.counts[::-1])[::-1]  # items in a range or a higher one
        self.passed = 0

    @property
    def scored(self) -> int:
        return int(np.count_nonzero(~np.isnan(self._nearest)))

    @property
    def sampled(self) -> int:
        return self.scored - self.passed

    def screen(self, wanted: int, plan: Plan) -> Screened:
        """Score all items above the lowest cut that lets at most `wanted` pass, and a sample of those below."""
        kept = np.bincount(self._ranges, minlength=RANGES)
        whole = np.cumsum((kept < self._sieve.counts)[::-1])[::-1] == 0  # nothing of it or above it was dropped
        possible = np.flatnonzero((self._above <= wanted) & whole)
        cut = int(possible[0]) if len(possible) else RANGES
        passing = np.flatnonzero(self._ranges >= cut)
        self.passed = len(passing)
        below = [(low, high, self._sieve.drawn(low, high, _SAMPLE)) for low, high in self._strata(cut)]
        self._score(np.unique(np.concatenate([passing, *(places for _, _, places in below)])))
        strata = [self._stratum(low, high, places) for low, high, places in below]
        refuted = self._is_refuted(cut, plan.seed) or self._is_surprising(strata, plan.seed)
        worst = count_missed(strata, self._threshold, plan.seed, tails=False)
        return Screened(
            cut=_score_of(cut),
            scored=self.scored,
            hits=int(np.count_nonzero(self._nearest > self._threshold)),
            missed=worst if refuted else count_missed(strata, self._threshold, plan.seed),
            worst=worst,
            refuted=refuted,
            bands=tuple(self._band(low, high, places) for low, high, places in below),
        )

    def _strata(self, cut: int) -> Iterator[tuple[int, int]]:
        """Ranges below the cut, each stratum with about twice as many items as the one above it."""
        size, high = max(self.passed // 2, _SAMPLE), cut
        while high > 0 and self._above[0] > (self._above[high] if high < RANGES else 0):
            reached = (self._above[high] if high < RANGES else 0) + size
            low = int(np.max(np.flatnonzero(self._above[:high] >= min(reached, self._above[0]))))
            yield low, high
            size, high = 2 * size, low

    def _stratum(self, low: int, high: int, places: Ints) -> Stratum:
        inside = (self._ranges >= low) & (self._ranges < high) & ~np.isnan(self._nearest)
        items = int(self._sieve.counts[low:high].sum())
        return Stratum(items - int(np.count_nonzero(inside)), self._nearest[places])

    def _band(self, low: int, high: int, places: Ints) -> Band:
        values = self._nearest[places]
        items = int(self._sieve.counts[low:high].sum())
        hits = int(np.count_nonzero(values > self._threshold))
        return Band(_score_of(low), items, len(values), hits, float(values.max(initial=-1.0)))

    def _is_refuted(self, cut: int, seed: int) -> bool:
        """Try the tails on the lower half of what passed, of which all is known."""
        low, hits, strata = cut, 0, []
        for share in (0.75, 0.5):
            higher = np.flatnonzero(self._above <= share * self.passed)
            high = int(higher[0]) if len(higher) else RANGES
            if high > low and (places := self._sieve.drawn(low, high, _SAMPLE)).size:
                inside = np.flatnonzero((self._ranges >= low) & (self._ranges < high))
                rest = np.setdiff1d(inside, places)
                strata.append(Stratum(len(rest), self._nearest[places]))
                hits += int(np.count_nonzero(self._nearest[rest] > self._threshold))
                low = high
        return is_refuted(strata, hits, self._threshold, seed)

    def _is_surprising(self, strata: Sequence[Stratum], seed: int) -> bool:
        """Try the tails on the samples that they come from."""
        samples = [Stratum(len(stratum.sampled), stratum.sampled) for stratum in strata if len(stratum.sampled)]
        hits = sum(int(np.count_nonzero(stratum.sampled > self._threshold)) for stratum in samples)
        return is_refuted(samples, hits, self._threshold, seed)

    def _score(self, places: Ints) -> None:
        """Encode what is not encoded yet, each distinct text once."""
        new = places[np.isnan(self._nearest[places])]
        texts = [self._sieve.texts.texts[number] for number in self._sieve.numbers[new].tolist()]
        for start in range(0, len(new), _CHUNK):
            part = new[start : start + _CHUNK]
            vectors = self._encoder.encode(texts[start : start + _CHUNK])
            near = (np.nan_to_num(vectors, nan=0.0, posinf=0.0, neginf=0.0) @ self._rows.T).max(axis=1)
            self._nearest[part] = near
            self._vectors.update(zip(part.tolist(), vectors, strict=True))

    def numbers(self) -> Ints:
        """The numbers of the scored items in the stream, in its order."""
        return np.sort(self._sieve.numbers[sorted(self._vectors)])

    def blocks(self) -> Iterator[tuple[Block, Floats]]:
        """All scored items with their vectors, in the order of the stream."""
        places = np.array(sorted(self._vectors, key=self._sieve.numbers.__getitem__), np.int64)
        store = self._sieve.texts
        for start in range(0, len(places), _CHUNK):
            part = places[start : start + _CHUNK]
            numbers = self._sieve.numbers[part].tolist()
            ids = [store.ids[number] for number in numbers] if store.ids else []
            block = Block([store.texts[number] for number in numbers], ids)
            yield block, np.stack([self._vectors[place] for place in part.tolist()])


def _quick(encoder: Encoder) -> Encoder:
    """What to encode with before it is known what is near: bf16 where the machine is fast in it."""
    if isinstance(encoder, Screening) and encoder.precision == "fp32" and encoder.bf16_is_fast():
        return encoder.at("bf16")
    return encoder


def _student(encoder: Encoder, texts: Sequence[str], rows: Floats) -> Screener:
    from ringtrue.retrieval.student import Student  # needs packages that an exact search does without

    return Student.of(encoder, texts, rows)


def _renumbered(found: Found, numbers: Ints) -> Found:
    """With the numbers that items have in the whole stream."""
    return replace(
        found,
        hits=replace(found.hits, items=numbers[found.hits.items]),
        texts={int(numbers[item]): text for item, text in found.texts.items()},
        ids={int(numbers[item]): name for item, name in found.ids.items()},
    )


def _share(hits: int, missed: int) -> float:
    return hits / (hits + missed) if hits else 0.0


def _score_of(number: int) -> float:
    """The lowest score of a range."""
    return number / (RANGES / 2) - 1
