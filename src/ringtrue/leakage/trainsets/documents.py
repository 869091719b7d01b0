"""Which documents a query is trained on: one relevant, one not, both with text and never the same words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ringtrue.data.notes import Notes
from ringtrue.leakage.trainsets.corpora import Corpus, has_text, plain
from ringtrue.leakage.trainsets.dice import shuffled
from ringtrue.leakage.trainsets.records import Settings

_TRIES = 5  # candidates whose texts are read, of which the first with text is taken


class Asked(NamedTuple):
    """A query that needs documents.

    `positives` come in the order in which to try them, `barred` can be no negatives besides, and `judged` are
    negatives to take instead of the ranker's. No negative has the words `verbatim`. Of a text that is asked for several
    times, `turn` says which time it is and of how many, so that each gets other negatives.
    """

    query_id: str
    text: str
    positives: tuple[str, ...]
    barred: frozenset[str] = frozenset()
    judged: tuple[str, ...] = ()
    turn: tuple[int, int] = (0, 1)
    verbatim: str = ""


class Pair(NamedTuple):
    """A relevant and a non-relevant document of one query."""

    positive: str
    negative: str


def choose_documents(asked: Sequence[Asked], corpus: Corpus, settings: Settings, notes: Notes) -> dict[str, Pair]:
    """A pair for each query that can have one, by query id; the rest is counted."""
    positives = _usable_positives(asked, corpus, settings.least_text, notes)
    open_queries = [one for one in asked if one.query_id in positives]
    ranked = [one for one in open_queries if not one.judged]
    best = corpus.best([(one.query_id, one.text) for one in ranked], settings.ranker, settings.depth) if ranked else {}
    tries = {one.query_id: _tries(one, best.get(one.query_id, ()), settings.seed) for one in open_queries}
    texts = corpus.texts(key for keys in tries.values() for key in keys)
    found = {}
    for one in open_queries:
        own = positives[one.query_id]
        words = plain(corpus.texts([own])[own])
        negative = _first(tries[one.query_id], texts, words, one.verbatim, settings.least_text)
        if negative is None:
            notes.add("training queries without a non-relevant document skipped", one.query_id)
        else:
            found[one.query_id] = Pair(own, negative)
    return found


def _usable_positives(asked: Sequence[Asked], corpus: Corpus, least: int, notes: Notes) -> dict[str, str]:
    """The first relevant document with text of each query."""
    texts = corpus.texts(key for one in asked for key in one.positives)
    found: dict[str, str] = {}
    for one in asked:
        good = [key for key in one.positives if key in texts and has_text(texts[key], least)]
        bad = len(one.positives) - len(good)
        if bad:
            what = f"relevant documents that are missing or have fewer than {least} letters and digits, not trained on"
            notes.add(what, one.query_id, bad)
        if good:
            found[one.query_id] = good[0]
        else:
            notes.add("training queries without a relevant document that has text skipped", one.query_id)
    return found


def _tries(one: Asked, best: Sequence[str], seed: int) -> list[str]:
    """The judged negatives, or some of the ranker's best in random order."""
    if one.judged:
        return list(one.judged)
    barred = one.barred.union(one.positives)
    turn, turns = one.turn
    candidates = shuffled((key for key in best if key not in barred), seed, "negative", one.text)
    return candidates[turn::turns][:_TRIES]


def _first(keys: Sequence[str], texts: Mapping[str, str], words: str, verbatim: str, least: int) -> str | None:
    """The first document that has text, and neither the words of the relevant one nor those that none may have."""
    for key in keys:
        if key in texts and has_text(texts[key], least):
            found = plain(texts[key])
            if found != words and not (verbatim and verbatim in found):
                return key
    return None
