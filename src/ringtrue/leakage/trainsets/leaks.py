"""Queries that are known to leak a topic: by labels, by candidates, planted, or simulated from variations."""

from __future__ import annotations

import json
from collections.abc import Collection as Ids
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ringtrue.data.collection import Collection
from ringtrue.data.formats.streams import read_lines
from ringtrue.data.notes import Notes
from ringtrue.data.qrels import Qrels
from ringtrue.errors import FormatError
from ringtrue.leakage.candidates import Candidate
from ringtrue.leakage.trainsets.corpora import plain
from ringtrue.leakage.trainsets.dice import shuffled
from ringtrue.leakage.trainsets.records import Leak

_NO_LEAK = "different-topic"


class KnownLeaks(NamedTuple):
    """Pairs of a topic and a training query, and in words how they are known."""

    pairs: tuple[tuple[str, str], ...]
    rule: str


class Rewriting(NamedTuple):
    """A topic in other words, to stand for a training query that leaks it."""

    topic_id: str
    text: str
    method: str


def read_planted(path: Path) -> KnownLeaks:
    """The leaks of a file such as the built-in collection's: query_id, topic_id and type a line."""
    found = []
    for number, line in read_lines(path, Notes()):
        try:
            row = json.loads(line)
            if row["type"] != _NO_LEAK:
                found.append((str(row["topic_id"]), str(row["query_id"])))
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(f"a leak has query_id, topic_id and type ({error}).", path, number) from error
    return KnownLeaks(tuple(found), f"planted: {path.name}")


def from_labels(verified: Mapping[tuple[str, str], bool]) -> KnownLeaks:
    """Those that people found to be true."""
    return KnownLeaks(tuple(sorted(pair for pair, true in verified.items() if true)), "verified by people")


def from_candidates(candidates: Iterable[Candidate], rule: str) -> KnownLeaks:
    """Those that a search found; nobody looked at them."""
    pairs = {(one.topic_id, one.query_id): None for one in candidates}
    return KnownLeaks(tuple(pairs), f"found by the detector ({rule}), not verified")


def find_leaks(known: KnownLeaks, train: Collection, topics: Iterable[str], notes: Notes) -> tuple[Leak, ...]:
    """The known leaks with their texts and documents; one that leaks two topics counts for the first."""
    topic_of: dict[str, str] = {}
    tested = frozenset(topics)
    for topic_id, query_id in sorted(known.pairs):
        if topic_id not in tested:
            notes.add("known leaks of topics that are not tested", topic_id)
        elif topic_of.setdefault(query_id, topic_id) != topic_id:
            notes.add("leaks of two topics counted for the first", query_id)
    found = []
    for query in train.log():
        topic_id = topic_of.pop(query.query_id, "")
        if topic_id and query.doc_ids and query.text.strip():
            found.append(Leak(topic_id, f"log/{query.query_id}", query.text, query.source or "log", query.doc_ids))
        elif topic_id:
            notes.add("known leaks without text or relevant document skipped", query.query_id)
    if topic_of:
        notes.add("known leaks that are not in the training log", min(topic_of), len(topic_of))
    return tuple(found)


def words_of_leaks(train: Collection, query_ids: Ids[str], leaks: Iterable[Leak]) -> frozenset[str]:
    """What the leaking queries of a log say, and those that were made up, letters and digits alone."""
    known = (query.text for query in train.log() if query.query_id in query_ids) if query_ids else ()
    return frozenset(filter(None, map(plain, (*known, *(leak.text for leak in leaks)))))


def simulate_leaks(rewritings: Iterable[Rewriting], qrels: Qrels, seed: int, notes: Notes) -> tuple[Leak, ...]:
    """Rewritten topics as leaks, each with the topic's relevant documents; the same text twice counts once."""
    found: dict[tuple[str, str], Leak] = {}
    for topic_id, text, method in rewritings:
        relevant = [doc for doc, grade in qrels.by_topic.get(topic_id, {}).items() if grade > 0]
        words = " ".join(text.split())
        if not relevant or not words:
            notes.add("variations without text or without a relevant document skipped", topic_id)
            continue
        query_id = f"variation/{topic_id}/{method}/{len(found)}"
        docs = tuple(shuffled(relevant, seed, "simulate", topic_id, words))
        found.setdefault((topic_id, words.casefold()), Leak(topic_id, query_id, words, method, docs))
    return tuple(found.values())


def choose_leaks(leaks: Sequence[Leak], most: int, seed: int) -> tuple[Leak, ...]:
    """So many leaks, spread evenly over the topics: one of each in turn."""
    by_topic: dict[str, list[Leak]] = {}
    for leak in leaks:
        by_topic.setdefault(leak.topic_id, []).append(leak)
    queues = [
        sorted(by_topic[topic], key=lambda leak: leak.query_id) for topic in shuffled(sorted(by_topic), seed, "topics")
    ]
    queues = [shuffled(queue, seed, "leaks") for queue in queues]
    chosen: list[Leak] = []
    for turn in range(max(map(len, queues), default=0)):
        chosen += [queue[turn] for queue in queues if turn < len(queue)]
    return tuple(chosen[:most])
