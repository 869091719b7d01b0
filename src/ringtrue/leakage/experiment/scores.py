"""What the cells scored, as arrays: measures by cell and topic, and ranks of documents that were trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from ir_measures import Measure
from numpy.typing import NDArray

from ringtrue.data.formats.detect import read_qrels
from ringtrue.data.notes import Notes
from ringtrue.data.qrels import Qrels
from ringtrue.data.runs import RunSet
from ringtrue.evaluation.measures import evaluate
from ringtrue.jobs import result_of
from ringtrue.leakage.experiment.layout import read_pairs, read_texts
from ringtrue.leakage.experiment.plan import Cell

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """The pairs of an experiment: `topic` and `doc` count in `topics` and `docs`, which ascend as text."""

    folder: Path
    topics: tuple[str, ...]
    docs: tuple[str, ...]
    topic: Ints
    doc: Ints
    is_candidate: NDArray[np.bool_]
    qrels: Qrels

    @classmethod
    def read(cls, folder: Path) -> ScoredPairs:
        """Read what was prepared."""
        texts, pairs = read_texts(folder), read_pairs(folder)
        topic_ids = [texts.query_ids[number].removeprefix("topic/") for number in pairs[:, 0].tolist()]
        doc_ids = [texts.doc_ids[number] for number in pairs[:, 1].tolist()]
        topics, docs = tuple(sorted(set(topic_ids))), tuple(sorted(set(doc_ids)))
        return cls(
            folder,
            topics,
            docs,
            _codes(topic_ids, topics),
            _codes(doc_ids, docs),
            np.load(folder / "data" / "candidates.npy", allow_pickle=False),
            read_judgments(folder),
        )

    def scores(self, cells: Sequence[Cell]) -> Floats:
        """One row a cell; a cell that is not done has nan."""
        found = np.full((len(cells), len(self.topic)), np.nan)
        for row, cell in enumerate(cells):
            path = result_of(self.folder, cell.name) / "scores.npy"
            if path.is_file():
                found[row] = np.load(path, allow_pickle=False)
        return found

    def measure(self, scores: Floats, measures: Sequence[Measure]) -> Floats:
        """Values[measures, cells, topics] of the candidates ranked by these scores; nan where a cell has none."""
        done = np.flatnonzero(~np.isnan(scores).any(axis=1))
        values = np.full((len(measures), len(scores), len(self.qrels.topics)), np.nan)
        if len(done):
            runs = self._runs(scores[done])
            values[:, done] = evaluate(runs, self.qrels, list(measures)).values
        return values

    def ranks(self, scores: Floats, topic_id: str, documents: Sequence[str]) -> Floats:
        """The rank[cells, documents] that each document has, or would have, among a topic's candidates.

        That is one more than how many candidates are better, or as good with a smaller id: for a document that is not
        ranked again, at most one more than there are.
        """
        rows = self._rows_of[topic_id]
        candidates = rows[self.is_candidate[rows]]
        found = np.empty((len(scores), len(documents)))
        for column, document in enumerate(documents):
            own = scores[:, [self.row(topic_id, document)]]
            others = scores[:, candidates]
            ahead = (others > own) | ((others == own) & (self.doc[candidates] < self._doc_code[document]))
            found[:, column] = np.where(np.isnan(own[:, 0]), np.nan, 1 + ahead.sum(axis=1))
        return found

    def row(self, topic_id: str, document: str) -> int:
        """The place of a pair."""
        rows = self._rows_of[topic_id]
        return int(rows[np.flatnonzero(self.doc[rows] == self._doc_code[document])[0]])

    def has(self, topic_id: str) -> bool:
        """Whether a topic is scored."""
        return topic_id in self._rows_of

    @cached_property
    def _rows_of(self) -> dict[str, Ints]:
        return {topic: np.flatnonzero(self.topic == code) for code, topic in enumerate(self.topics)}

    @cached_property
    def _doc_code(self) -> dict[str, int]:
        return {doc: code for code, doc in enumerate(self.docs)}

    def _runs(self, scores: Floats) -> RunSet:
        """The candidates as runs, one a row; ties go by ascending id."""
        kept = np.flatnonzero(self.is_candidate)
        cells = len(scores)
        segment = (self.topic[kept][None] * cells + np.arange(cells)[:, None]).ravel()
        doc = np.broadcast_to(self.doc[kept], (cells, len(kept))).ravel()
        score = scores[:, kept].ravel()
        order = np.lexsort((doc, -score, segment))
        starts = np.searchsorted(segment[order], np.arange(len(self.topics) * cells + 1)).astype(np.int64)
        names = tuple(map(str, range(cells)))
        return RunSet(names, self.topics, self.docs, starts, doc[order].astype(np.int32), score[order])


def read_judgments(folder: Path) -> Qrels:
    """The judgments of the topics that are scored."""
    return read_qrels(folder / "data" / "qrels.jsonl", Notes())


def _codes(names: Sequence[str], known: Sequence[str]) -> Ints:
    places = {name: place for place, name in enumerate(known)}
    return np.array([places[name] for name in names], np.int64)
