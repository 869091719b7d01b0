"""BM25 (Robertson and Zaragoza, 2009) with the log as documents and the topics' texts as queries.

A score is divided by what the text scores for itself, so that 1 means all its words and hardly more. The log is read
twice, once to count and once to score; only the best k lines of each text are kept. The default share is the lowest
tenth with a precision of at least .9 on the labelled pairs of Fröbe et al. (SPIRE 2022): 553 of 610 above it are true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ringtrue.data.records import LogQuery, Query
from ringtrue.errors import InputError
from ringtrue.leakage.detectors.detector import Hit, Log, TopicText, topic_texts
from ringtrue.retrieval.analysis import Analyser, words

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BLOCK = 1 << 13
_FORMS = 1 << 17
_UNKNOWN = -1  # a word that no topic has: it counts for the length of a line alone


@dataclass(frozen=True)
class BM25:
    """The best k lines of each text with at least `share` of the text's own score; English stop words do not count."""

    k: int = 100
    share: float = 0.8
    k1: float = 0.9
    b: float = 0.4

    def find(self, topics: Sequence[Query], log: Log) -> Iterator[Hit]:
        """Count, then score; hits come by topic in the given order, best first, equal ones by query id."""
        if self.k < 1 or self.share < 0:
            raise InputError(f"{self!r}: k must be at least 1, and share not negative.")
        texts = topic_texts(topics)
        coder = _Coder(texts)
        wanted = coder.table([text.text for text in texts])
        statistics = _count(coder, log)
        own = np.asarray(self._weights(wanted, statistics).multiply(wanted.counts).sum(axis=1)).ravel()
        best = _Best(self.k, self.share, len(texts))
        for block in _blocks(log()):
            table = coder.table([entry.text for entry in block])
            scores = (self._weights(table, statistics) @ wanted.counts.T).tocoo()
            best.add(block, scores.row, scores.col, scores.data / own[scores.col])
        yield from _hits(best, texts)

    def _weights(self, table: _Table, statistics: _Statistics) -> csr_array:
        """What each term is worth in each text."""
        counts = table.counts.tocoo()
        length = self.k1 * (1 - self.b + self.b * table.lengths[counts.row] / statistics.mean_length)
        data = statistics.idf[counts.col] * counts.data / (counts.data + length)
        return csr_array((data, (counts.row, counts.col)), shape=counts.shape)


class _Table(NamedTuple):
    """Some texts: how often each has each of the topics' terms, and how long it is."""

    counts: csr_array
    lengths: Floats


class _Statistics(NamedTuple):
    """What the whole log says of terms and lengths."""

    idf: Floats
    mean_length: float


class _Coder:
    """Texts to counts of the topics' terms; the forms that it remembers are bounded."""

    def __init__(self, texts: Iterable[TopicText]) -> None:
        """Number the terms of the topics."""
        analyser = Analyser(stopwords="english")
        self._stopped, stem = analyser.stop_list(), analyser.stem()
        terms = dict.fromkeys(term for text in texts for term in analyser.tokens(text.text))
        numbers = {term: number for number, term in enumerate(terms)}
        self.size = len(numbers)
        self._code = lru_cache(maxsize=_FORMS)(lambda word: numbers.get(stem(word), _UNKNOWN))

    def table(self, texts: Sequence[str]) -> _Table:
        """Count the terms of some texts."""
        rows, columns, data = [], [], []
        lengths = np.zeros(len(texts))
        for row, text in enumerate(texts):
            codes = [self._code(word) for word in words(text) if word not in self._stopped]
            lengths[row] = len(codes)
            for code, times in Counter(codes).items():
                if code != _UNKNOWN:
                    rows.append(row)
                    columns.append(code)
                    data.append(float(times))
        return _Table(csr_array((data, (rows, columns)), shape=(len(texts), self.size)), lengths)


class _Best:
    """The best k lines of each text among all that were added; memory is bounded by k and the texts."""

    def __init__(self, k: int, share: float, texts: int) -> None:
        """Start with none."""
        self._k = k
        self._most = 2 * k * texts + _BLOCK
        self._floor = np.full(texts, share)
        self._text, self._score = np.empty(0, dtype=np.int64), np.empty(0)
        self._entries: list[LogQuery] = []

    def add(self, block: Sequence[LogQuery], rows: Ints, texts: Ints, scores: Floats) -> None:
        """Take scores of a block's lines that may be among the best."""
        good = scores >= self._floor[texts]
        self._text = np.concatenate((self._text, texts[good]))
        self._score = np.concatenate((self._score, scores[good]))
        self._entries += [block[row] for row in rows[good].tolist()]
        if len(self._entries) > self._most:
            self._cut()

    def __iter__(self) -> Iterator[tuple[int, float, LogQuery]]:
        """Text, score and line, by text, best first, equal scores by query id."""
        self._cut()
        return zip(self._text.tolist(), self._score.tolist(), self._entries, strict=True)

    def _cut(self) -> None:
        """Drop what is not among the best k; the k-th score is what later lines have to reach."""
        ids = np.array([entry.query_id for entry in self._entries], dtype=np.str_)
        order = np.lexsort((ids, -self._score, self._text))
        text = self._text[order]
        rank = np.arange(len(order)) - np.searchsorted(text, text)
        last = order[rank == self._k - 1]
        self._floor[self._text[last]] = self._score[last]
        kept = order[rank < self._k]
        self._text, self._score = self._text[kept], self._score[kept]
        self._entries = [self._entries[place] for place in kept.tolist()]


def _count(coder: _Coder, log: Log) -> _Statistics:
    """How rare the topics' terms are in the log, by Lucene's formula, and how long its lines are."""
    lines, length, frequency = 0, 0.0, np.zeros(coder.size)
    for block in _blocks(log()):
        table = coder.table([entry.text for entry in block])
        lines += len(block)
        length += float(table.lengths.sum())
        frequency += np.bincount(table.counts.indices, minlength=coder.size)
    return _Statistics(np.log(1 + (lines - frequency + 0.5) / (frequency + 0.5)), max(length / max(lines, 1), 1e-9))


def _hits(best: _Best, texts: Sequence[TopicText]) -> list[Hit]:
    """The best text of each topic and line, in the order of the topics."""
    found: dict[tuple[str, str, str], Hit] = {}
    for place, score, entry in best:
        key = (texts[place].topic_id, entry.query_id, entry.text)
        if key not in found or score > found[key].score:
            found[key] = texts[place].hit(entry, score)
    order = {topic_id: place for place, topic_id in enumerate(dict.fromkeys(text.topic_id for text in texts))}
    return sorted(found.values(), key=lambda hit: (order[hit.topic_id], -hit.score, hit.query_id))


def _blocks(log: Iterable[LogQuery]) -> Iterator[list[LogQuery]]:
    """Some thousand lines at a time."""
    lines = iter(log)
    while block := list(islice(lines, _BLOCK)):
        yield block
