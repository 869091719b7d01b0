"""Runs: `Run` for one ranking of each topic, `RunSet` for hundreds of runs as integer-coded arrays."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ringtrue import cache
from ringtrue.data.formats.runs import RunColumns, read_run_columns
from ringtrue.data.formats.streams import check_file, data_files
from ringtrue.data.notes import Notes
from ringtrue.data.records import ScoredDoc
from ringtrue.data.ties import Ties, rank_order
from ringtrue.errors import InputError

_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_RUN_ENDINGS = (".run", ".txt", ".trec", ".res")
_CACHE_VERSION = 1
_THREADS = 4  # decompressing, parsing and looking up leave the interpreter's lock


@dataclass(frozen=True)
class Run:
    """What one system returned: for each topic its documents, best first."""

    name: str
    rankings: Mapping[str, tuple[ScoredDoc, ...]]

    @classmethod
    def from_results(cls, name: str, results: Mapping[str, Iterable[tuple[str, float]]]) -> Run:
        """Order (document, score) pairs per topic: score descending, then document id ascending."""
        return cls(
            name,
            {
                topic: tuple(
                    ScoredDoc(topic, doc, float(score))
                    for doc, score in sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
                )
                for topic, pairs in sorted(results.items())
            },
        )

    @classmethod
    def read(cls, path: str | Path) -> Run:
        """Read one run file."""
        return RunSet.read([Path(path)]).run(0)

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that have a ranking, ascending as text."""
        return tuple(self.rankings)

    def ranking(self, query_id: str) -> tuple[ScoredDoc, ...]:
        """The documents of one topic, best first; empty for a topic that the run does not have."""
        return self.rankings.get(query_id, ())

    def cut(self, depth: int) -> Run:
        """Only the best `depth` documents of each topic."""
        return Run(self.name, {topic: ranking[:depth] for topic, ranking in self.rankings.items()})

    def to_trec(self) -> str:
        """The run as TREC lines; scores keep every digit, so that reading gives the same order."""
        out = io.StringIO()
        for topic, ranking in self.rankings.items():
            for rank, (_, doc, score) in enumerate(ranking, start=1):
                out.write(f"{topic} Q0 {doc} {rank} {score!r} {self.name}\n")
        return out.getvalue()


@dataclass(frozen=True, eq=False)
class RunSet:
    """Many runs over common topics and documents.

    Lines are sorted by topic, run and rank. `topics` and `docs` ascend as text, so that comparing two document
    codes compares the ids. Run r of topic t holds the lines `starts[t * len(names) + r]` up to the next start.
    """

    names: tuple[str, ...]
    topics: tuple[str, ...]
    docs: tuple[str, ...]
    starts: NDArray[np.int64]
    doc: NDArray[np.int32]
    score: NDArray[np.float64]
    ties: Ties = Ties.ASC
    tags: tuple[str, ...] = ()
    notes: Notes = field(default_factory=Notes)

    @classmethod
    def read(cls, paths: Sequence[Path], ties: Ties = Ties.ASC, *, cached: bool = True) -> RunSet:
        """Read run files; a second reading of the same contents comes from the cache."""
        names = run_names(paths)
        if not cached:
            return _assemble(names, *_read_all(paths), ties)
        key = cache.key(_CACHE_VERSION, cache.content_key(paths), names)
        place = cache.entry("runs", key, lambda draft: _save(_assemble(names, *_read_all(paths), Ties.ASC), draft))
        return _load(place).with_ties(ties)

    @classmethod
    def from_runs(cls, runs: Iterable[Run], ties: Ties = Ties.ASC) -> RunSet:
        """Code runs that are in memory."""
        runs = list(runs)
        return _assemble([run.name for run in runs], [_columns(run) for run in runs], Notes(), ties)

    def __len__(self) -> int:
        """The number of runs."""
        return len(self.names)

    @cached_property
    def segment(self) -> NDArray[np.int32]:
        """For each line its (topic, run) pair as `topic * len(self) + run`."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), self.lengths.ravel())

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many documents each topic (row) has in each run (column)."""
        return np.diff(self.starts).reshape(len(self.topics), len(self.names))

    @cached_property
    def rank(self) -> NDArray[np.int32]:
        """For each line its rank, from 1."""
        first = np.repeat(self.starts[:-1], self.lengths.ravel())
        return (np.arange(len(self.doc), dtype=np.int64) - first + 1).astype(np.int32)

    def with_ties(self, ties: Ties) -> RunSet:
        """The same runs ordered by another tie rule."""
        if ties is self.ties:
            return self
        order = rank_order(self.segment, self.doc, self.score, ties)
        doc, score = (self.doc, self.score) if order is None else (self.doc[order], self.score[order])
        return RunSet(self.names, self.topics, self.docs, self.starts, doc, score, ties, self.tags, self.notes)

    def keep(self, lines: NDArray[np.bool_]) -> RunSet:
        """Only the marked lines; names, topics and documents stay known, ranks close up."""
        starts = np.concatenate(([0], np.cumsum(lines)))[self.starts]
        doc, score = self.doc[lines], self.score[lines]
        return RunSet(self.names, self.topics, self.docs, starts, doc, score, self.ties, self.tags, self.notes)

    def cut(self, depth: int) -> RunSet:
        """Only the best `depth` documents of each topic in each run."""
        return self if self.lengths.max(initial=0) <= depth else self.keep(self.rank <= depth)

    def compact(self) -> RunSet:
        """The same lines without the topics and documents that no run has any more."""
        used = np.zeros(len(self.docs), dtype=np.bool_)
        used[self.doc] = True
        kept = self.lengths.sum(axis=1) > 0
        lengths = self.lengths[kept].ravel()
        return RunSet(
            self.names,
            tuple(topic for topic, keep in zip(self.topics, kept.tolist(), strict=True) if keep),
            tuple(doc for doc, keep in zip(self.docs, used.tolist(), strict=True) if keep),
            np.concatenate(([0], np.cumsum(lengths))),
            (np.cumsum(used, dtype=np.int32) - 1)[self.doc],
            self.score,
            self.ties,
            self.tags,
            self.notes,
        )

    def run(self, index: int) -> Run:
        """One run by its place in `names`."""
        rankings = {}
        for place, topic in enumerate(self.topics):
            start, end = self.starts[place * len(self) + index : place * len(self) + index + 2].tolist()
            if end > start:
                pairs = zip(self.doc[start:end].tolist(), self.score[start:end].tolist(), strict=True)
                rankings[topic] = tuple(ScoredDoc(topic, self.docs[doc], score) for doc, score in pairs)
        return Run(self.names[index], rankings)


def run_files(place: str | Path) -> list[Path]:
    """The run files that a path stands for: a folder's files in order of name, or the file itself."""
    path = Path(place)
    if not path.is_dir():
        return [check_file(path)]
    found = data_files(path)
    if not found:
        raise InputError(f"{path}: no run files in this folder.")
    return found


def run_names(paths: Sequence[Path]) -> list[str]:
    """The name of each run; two of one name are an error."""
    named: dict[str, Path] = {}
    for path in paths:
        name = run_name(path.name)
        if name in named:
            raise InputError(f"two run files are named {name!r}: {named[name]} and {path}; rename one.")
        named[name] = path
    if not named:
        raise InputError("no run files were given.")
    return list(named)


def run_name(file: str) -> str:
    """A run is named by its file, without compression and run endings."""
    for endings in (_COMPRESSED, _RUN_ENDINGS):
        ending = next((ending for ending in endings if file.lower().endswith(ending) and file != ending), "")
        file = file[: len(file) - len(ending)]
    return file


def _read_all(paths: Sequence[Path]) -> tuple[list[RunColumns], Notes]:
    """Read the files side by side."""
    accounts = [Notes() for _ in paths]
    with ThreadPoolExecutor(max_workers=_THREADS) as pool:
        columns = list(pool.map(read_run_columns, paths, accounts))
    notes = Notes()
    for account in accounts:
        notes.update(account)
    return columns, notes


def _columns(run: Run) -> RunColumns:
    """A run in memory in the form of a run file."""
    docs: dict[str, int] = {}
    rows = [
        (topic, docs.setdefault(line.doc_id, len(docs)), line.score)
        for topic, ranking in enumerate(run.rankings.values())
        for line in ranking
    ]
    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    topic, doc = table[:, 0].astype(np.int32), table[:, 1].astype(np.int32)
    names = pa.array(list(run.rankings), pa.string()), pa.array(list(docs), pa.string())
    return RunColumns(run.name, *names, topic, doc, np.ascontiguousarray(table[:, 2]))


def _assemble(names: Sequence[str], parts: Sequence[RunColumns], notes: Notes, ties: Ties) -> RunSet:
    """Give all runs common codes and bring their lines into order."""
    topics, topic_codes = _common([part.topics for part in parts])
    docs, doc_codes = _common([part.docs for part in parts])
    topic = np.concatenate([codes[part.topic] for codes, part in zip(topic_codes, parts, strict=True)])
    doc = np.concatenate([codes[part.doc] for codes, part in zip(doc_codes, parts, strict=True)])
    run = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part.score) for part in parts])
    score = np.concatenate([part.score for part in parts])
    # a stable sort by topic alone keeps the runs in order within each topic; on 16 bits it is a radix sort
    by_topic = np.argsort(topic.astype(np.uint16) if len(topics) < 1 << 16 else topic, kind="stable")
    segment = (topic * np.int32(len(parts)) + run)[by_topic]
    doc, score = doc[by_topic], score[by_topic]
    order = rank_order(segment, doc, score, ties)
    if order is not None:
        doc, score = doc[order], score[order]
    starts = np.searchsorted(segment, np.arange(len(topics) * len(parts) + 1)).astype(np.int64)
    tags = tuple(part.tag for part in parts)
    return RunSet(tuple(names), topics, docs, starts, doc, score, ties, tags, notes)


def _common(lists: Sequence[pa.Array]) -> tuple[tuple[str, ...], list[NDArray[np.int32]]]:
    """All names, ascending, and for each list the places of its names in them."""
    every = pa.concat_arrays(lists)
    names = pc.unique(every)
    names = names.take(pc.sort_indices(names))
    places = pc.index_in(every, names).to_numpy()
    return tuple(names.to_pylist()), np.split(places, np.cumsum([len(some) for some in lists])[:-1])


def _save(runs: RunSet, place: Path) -> None:
    """Write arrays and lists of names; nothing is pickled."""
    for name in ("starts", "doc", "score"):
        np.save(place / f"{name}.npy", getattr(runs, name), allow_pickle=False)
    for name in ("names", "tags", "topics", "docs"):
        (place / f"{name}.txt").write_text("\n".join(getattr(runs, name)), encoding="utf-8", newline="\n")
    notes = "".join(f"{note.times}\t{note.first}\t{note.what}\n" for note in runs.notes)
    (place / "notes.tsv").write_text(notes, encoding="utf-8", newline="\n")


def _load(place: Path) -> RunSet:
    """Read what `_save` wrote."""
    starts, doc, score = (np.load(place / f"{name}.npy", allow_pickle=False) for name in ("starts", "doc", "score"))
    names, tags, topics, docs = (
        tuple((place / f"{name}.txt").read_text(encoding="utf-8").split("\n"))
        for name in ("names", "tags", "topics", "docs")
    )
    notes = Notes()
    for line in (place / "notes.tsv").read_text(encoding="utf-8").splitlines():
        times, first, what = line.split("\t")
        notes.add(what, first, int(times))
    return RunSet(names, topics, docs, starts, doc, score, Ties.ASC, tags, notes)
