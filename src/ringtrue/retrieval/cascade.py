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
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ringtrue import cache
from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import Encoder, Screening
from ringtrue.retrieval.neighbours import Floats, Ints, Neighbours, Pairs, Wanted
from ringtrue.retrieval.scoring import Scoring, Screened
from ringtrue.retrieval.search import Block, ExactSearch, Found, Hits, Remember, Screen, as_it_is, top_k
from ringtrue.retrieval.sieve import Sieve

LEAST = 10_000
"""So many items may be encoded in any case: fewer would save no time that anybody notices."""

_ROOM = 200_000
_LONG = 12_000_000  # of a log with so many lines as much is kept as the effort allows to encode
_KEPT_SAMPLE = 512
_FIRST_SHARE = 0.25
_WORKERS = 2


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
        screen: Screen = "auto",
        screener: Screener | None = None,
    ) -> None:
        """Encode the texts to search for and fit the stand-in to them, unless one is given.

        With `screen` fp32 nothing is encoded in bf16 first, even where the machine is fast in it.
        """
        self._encoder, self._plan, self._threshold = encoder, plan or Plan(), threshold
        self._quick = encoder if screen == "fp32" else _quick(encoder)
        screen = "fp32" if self._quick is encoder else "bf16"
        wanted = k if self._quick is encoder else 0
        self._exact = ExactSearch(encoder, texts, k=wanted, threshold=threshold, screen=screen)
        self._k = k
        self._screener = screener or _student(encoder, texts, self._exact.rows)
        self._key = cache.key("cascade", repr(encoder), list(texts), k, threshold, self._plan)
        room = max(_ROOM, int(self._plan.effort * _LONG))
        self._sieve = Sieve(self._plan.seed, room, _KEPT_SAMPLE)

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
        self._sieve.add(block.texts, block.ids, found.astype(np.float32))

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Where the search stands, as arrays; call it between blocks."""
        return {"key": np.frombuffer(self._key.encode(), np.uint8), **self._sieve.state()}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        """Go on from a state; `seen` says how many items of the stream to skip."""
        if state["key"].tobytes().decode() != self._key:
            raise InputError("this state is of another search: texts, encoder, k, threshold, recall or seed differ.")
        self._sieve.restore(state)

    def finish(self, remember: Remember = as_it_is) -> Found:
        """Encode from the highest score downwards until the recall is reached or the effort spent."""
        self._sieve.trim()
        scoring = Scoring(remember(self._quick), self._exact.rows, self._sieve, self._threshold, self._plan.seed)
        screened = self._lowered(scoring)
        for block, vectors in scoring.blocks():
            self._exact.add(block, vectors)
        found = self._exact.finish(remember)
        above = found.hits.items[found.hits.similarities.astype(np.float64) > self._threshold]
        screened = replace(screened, hits=len(np.unique(above)))  # what was encoded quickly may be off by a little
        if self._quick is not self._encoder:
            found = self._with_nearest(found, scoring)
        return replace(_renumbered(found, scoring.numbers()), seen=self.seen, screened=screened)

    def _lowered(self, scoring: Scoring) -> Screened:
        """Lower the cut as far as need be; what the last range is too large for goes into its sample."""
        allowed = min(max(LEAST, int(self._plan.effort * self.seen)), self.seen)
        screened = scoring.screen(max(1, int(_FIRST_SHARE * allowed)))
        while screened.interval[0] < self._plan.recall and scoring.spent < allowed:
            lower = scoring.screen(min(scoring.next_cost, allowed - scoring.spent + scoring.passed))
            if lower.cut >= screened.cut:
                left = allowed - scoring.spent
                return replace(scoring.screen(scoring.passed, more=left), exhausted=scoring.is_at_the_end)
            screened = lower
        return screened

    def _with_nearest(self, found: Found, scoring: Scoring) -> Found:
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
