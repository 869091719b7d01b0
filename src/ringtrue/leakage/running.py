"""A search under way through a log: where it goes on after a kill, and what it keeps of the log's vectors.

The state is saved every few seconds while the log is read, what is encoded afterwards piece by piece; all of it stays
until whoever asked for the search has done with the result. Where the vectors of the whole log were kept by an earlier
search, they are read instead of made.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ringtrue import cache
from ringtrue.data.cells import LogBlock
from ringtrue.data.formats.streams import Followed, following
from ringtrue.errors import InputError
from ringtrue.leakage.embeddings import KeptVectors
from ringtrue.leakage.progress import Progress
from ringtrue.leakage.remembering import remembering
from ringtrue.retrieval.cascade import Cascade, Plan
from ringtrue.retrieval.encoders import Encoder, key_of
from ringtrue.retrieval.search import HALF_MARGIN, Block, ExactSearch, Found, Screen, fewest_to_screen

APART = "\x1f"
"""Stands between a query's id and its source in the ids of what is found."""

_SAVE_SECONDS = 20.0
_TWO = 0x2545F4914F6CDD1D  # odd and without a pattern, so that id and source do not stand for each other


@dataclass(frozen=True)
class Wish:
    """What to search for, and how; `plan` is for a cascade, `keep` says to keep the log's vectors."""

    texts: Sequence[str]
    threshold: float
    k: int
    screen: Screen
    keep: bool = False
    plan: Plan | None = None


@dataclass
class Running:
    """A search of one log; `read` gives its blocks from the first, whenever it is called."""

    encoder: Encoder
    wish: Wish
    log_key: str
    read: Callable[[], Iterator[LogBlock]]
    say: Callable[[str], None]
    again: bool = False
    repeated: int = 0
    _saved: float = field(default_factory=time.monotonic)
    _left: list[Path] = field(default_factory=list)

    def run(self) -> Found:
        """What is found; where screening was not certain, the log is searched again without it."""
        kept = None if self.wish.plan else KeptVectors.of(self.log_key, self.encoder)
        found = self._pass(self.wish.screen, kept)
        if found.rescored is not None and not found.rescored.certain:
            self.say("similarities were further off than their margin allows for; searching again in full")
            if kept is not None:
                kept.drop()
            self.again = True
            found = self._pass("fp32", kept)
        return found

    def forget(self) -> None:
        """Drop what was saved to go on from."""
        for path in self._left:
            path.unlink(missing_ok=True)
            shutil.rmtree(_memory(path), ignore_errors=True)

    def _pass(self, screen: Screen, kept: KeptVectors | None) -> Found:
        with following() as followed:
            return self._followed(screen, kept, followed)

    def _followed(self, screen: Screen, kept: KeptVectors | None, followed: Followed) -> Found:
        reading = kept is not None and kept.is_complete
        if reading:
            self.say("reading the log's vectors, which an earlier search kept")
        log = _Counted(self.read())
        search, blocks = self._search("fp32" if self.wish.keep else screen, iter(log), reading=reading)
        kept = kept if reading or self.wish.keep else None
        checkpoint = self._checkpoint(search)
        self._resume(search, checkpoint, None if reading else kept)
        progress = Progress(followed, search.seen)
        left = _blocks(blocks, search.seen)
        for _ in _read(search, left, kept) if kept is not None and reading else _encode(search, left, kept):
            self.say(progress.words(search.seen, log.lines))
            self._save_now_and_then(search, checkpoint)
        if isinstance(search, Cascade):  # all that is costly comes now
            _save(search, checkpoint)
        if kept is not None and not reading:
            kept.complete(search.seen)
        if not search.seen:
            raise InputError("the training log is empty.")
        if isinstance(search, Cascade) or search.margin:
            self.say(f"encoding what of {search.seen:,} training queries is near")
        self.repeated = log.repeated()
        return search.finish(lambda encoder: remembering(encoder, _memory(checkpoint)))

    def _search(
        self, screen: Screen, log: Iterator[LogBlock], *, reading: bool
    ) -> tuple[ExactSearch | Cascade, Iterator[LogBlock]]:
        """The search, and the log from its first line."""
        texts, threshold, k, plan = self.wish.texts, self.wish.threshold, self.wish.k, self.wish.plan
        if plan is not None:
            return Cascade(self.encoder, texts, k=k, threshold=threshold, plan=plan, screen=screen), log
        margin, expected = HALF_MARGIN if reading else None, None
        if screen == "auto" and not reading:
            expected, log = _peeked(log, fewest_to_screen(k, len(texts)))
        search = ExactSearch(
            self.encoder, texts, k=k, threshold=threshold, screen=screen, expected=expected, margin=margin
        )
        return search, log

    def _checkpoint(self, search: ExactSearch | Cascade) -> Path:
        name = cache.key(self.log_key, key_of(self.encoder), search.state()["key"].tobytes())
        path = cache.folder() / "searches" / f"{name}.npz"
        self._left.append(path)
        return path

    def _resume(self, search: ExactSearch | Cascade, checkpoint: Path, kept: KeptVectors | None) -> None:
        """Go on from a state, unless vectors are to be kept and those before it were not."""
        if not checkpoint.is_file():
            return
        with np.load(checkpoint, allow_pickle=False) as state:
            if kept is not None and kept.written < int(state["counts"][0]):
                return
            search.restore(dict(state))
        self.say(f"going on after {search.seen:,} training queries")

    def _save_now_and_then(self, search: ExactSearch | Cascade, checkpoint: Path) -> None:
        if time.monotonic() - self._saved > _SAVE_SECONDS:
            _save(search, checkpoint)
            self._saved = time.monotonic()


def _encode(search: ExactSearch | Cascade, blocks: Iterator[Block], kept: KeptVectors | None) -> Iterator[None]:
    for vectors in search.run(blocks):
        if kept is not None and vectors is not None:
            rows = vectors if isinstance(vectors, np.ndarray) else vectors.cpu().numpy()
            kept.write(search.seen - len(rows), rows)
        yield


def _read(search: ExactSearch | Cascade, blocks: Iterator[Block], kept: KeptVectors) -> Iterator[None]:
    assert isinstance(search, ExactSearch)
    for block in blocks:
        search.add(block, kept.rows(search.seen, search.seen + len(block.texts)))
        yield


def _peeked(log: Iterator[LogBlock], fewest: int) -> tuple[int | None, Iterator[LogBlock]]:
    """How many lines a log has where it has fewer than so many, and the log from its first line."""
    first: list[LogBlock] = []
    lines = 0
    while lines < fewest:
        block = next(log, None)
        if block is None:
            return lines, iter(first)
        first.append(block)
        lines += len(block)
    return None, chain(first, log)


def _memory(checkpoint: Path) -> Path:
    """The folder for what is encoded after the log was read."""
    return checkpoint.with_suffix("")


@dataclass
class _Counted:
    """A log that counts ids that come again in their source, in eight bytes a line."""

    log: Iterator[LogBlock]
    lines: int = 0
    _seen: list[NDArray[np.int64]] = field(default_factory=list)

    def __iter__(self) -> Iterator[LogBlock]:
        for block in self.log:
            self.lines += len(block)
            self._seen.append(_TWO * block.ids.keys() + block.sources.keys())
            yield block

    def repeated(self) -> int:
        keys = np.concatenate(self._seen)
        return len(keys) - len(np.unique(keys))


@dataclass(frozen=True)
class _Names(Sequence[str]):
    """The id and the source of each line, which travel together."""

    block: LogBlock

    def __len__(self) -> int:
        return len(self.block)

    @overload
    def __getitem__(self, place: int, /) -> str: ...

    @overload
    def __getitem__(self, place: slice, /) -> Sequence[str]: ...

    def __getitem__(self, place: int | slice, /) -> str | Sequence[str]:
        if isinstance(place, slice):
            return _Names(self.block.part(place.start or 0, place.stop))
        return f"{self.block.ids[place]}{APART}{self.block.sources[place]}"

    def take(self, places: NDArray[np.int64]) -> Iterator[str]:
        """The names at some places, sooner than one by one."""
        columns = (column.take(places) for column in (self.block.ids, self.block.sources))
        return map(APART.join, zip(*columns, strict=True))


def _blocks(log: Iterator[LogBlock], seen: int) -> Iterator[Block]:
    """What is left of a log after so many lines."""
    for lines in log:
        skipped = min(seen, len(lines))
        seen -= skipped
        if skipped < len(lines):
            left = lines.part(skipped)
            yield Block(left.texts, _Names(left))


def _save(search: ExactSearch | Cascade, path: Path) -> None:
    """Write the state beside its place and move it there: a kill leaves the last state or this one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    with open(draft, "wb") as file:
        np.savez(file, **search.state())  # type: ignore[arg-type]
    draft.replace(path)
