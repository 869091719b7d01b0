"""The corpus graph: for each document its nearest by BM25, with its own text as the query.

After the study's analysis of the relevant documents that a sample lacks; the idea is MacAvaney et al.'s (CIKM 2022).
The study queries with the whole text, or on ClueWeb with the 30 terms of the highest tf·idf; `terms` chooses.
Deviations: terms are those of the index, so stemmed, where the study takes words; document frequencies are exact where
it guesses rare ones; a document is not its own neighbour and does not count among the k. On disk a graph is JSON Lines
of `doc_id` and `neighbours`, nearest first.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtrue.data.collection import Collection
from ringtrue.data.formats.streams import read_lines
from ringtrue.data.notes import Notes
from ringtrue.errors import FormatError, InputError, brief
from ringtrue.retrieval.bm25 import BM25
from ringtrue.retrieval.index import Index, TermWeights, open_index

_SHORTEST = 3  # letters of a term that may stand for a document


@dataclass(frozen=True, eq=False)
class Graph:
    """Documents and their neighbours, nearest first.

    `docs` ascend and are all that occur; row i of `neighbours` has the codes of the neighbours of `docs[source[i]]`, -1
    beyond the last. `lacking` are documents that a graph was asked for and the corpus does not have.
    """

    docs: tuple[str, ...]
    source: NDArray[np.int32]
    neighbours: NDArray[np.int32]
    lacking: tuple[str, ...] = ()

    @classmethod
    def from_lists(cls, lists: Mapping[str, Sequence[str]], lacking: Iterable[str] = ()) -> Graph:
        """Code lists of neighbours by document."""
        docs = tuple(sorted({*lists, *(one for near in lists.values() for one in near)}))
        code = {doc_id: place for place, doc_id in enumerate(docs)}
        source = sorted(lists)
        neighbours = np.full((len(source), max(map(len, lists.values()), default=0)), -1, dtype=np.int32)
        for row, doc_id in enumerate(source):
            near = lists[doc_id]
            neighbours[row, : len(near)] = [code[one] for one in near]
        return cls(docs, np.array([code[one] for one in source], dtype=np.int32), neighbours, tuple(lacking))

    @property
    def k(self) -> int:
        """How many neighbours a document has at most."""
        return int(self.neighbours.shape[1])

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The row of each document that has one."""
        return {self.docs[code]: row for row, code in enumerate(self.source.tolist())}

    def nearest(self, doc_id: str, k: int | None = None) -> tuple[str, ...]:
        """The neighbours of one document, nearest first; none where the graph does not have it."""
        row = self.rows.get(doc_id)
        codes = () if row is None else self.neighbours[row, :k].tolist()
        return tuple(self.docs[code] for code in codes if code >= 0)

    def recoded(self, docs: Sequence[str], k: int) -> NDArray[np.int32]:
        """The k nearest of each of some documents as places among these documents; -1 for any other and for none."""
        self.check(k)
        places = {doc_id: place for place, doc_id in enumerate(docs)}
        place = np.array([places.get(doc_id, -1) for doc_id in (*self.docs, "")], dtype=np.int32)
        place[-1] = -1
        found = np.full((len(docs), k), -1, dtype=np.int32)
        known = np.flatnonzero(place[self.source] >= 0)
        found[place[self.source[known]]] = place[self.neighbours[known, :k]]
        return found

    def check(self, k: int) -> None:
        """Raise where more neighbours are asked for than were looked up."""
        if not 0 <= k <= self.k:
            raise InputError(
                f"{k} neighbours are asked for and the graph holds {self.k} a document; build it with more."
            )


class Completeness(NamedTuple):
    """A sample after the k neighbours of its relevant documents were added."""

    k: int
    documents: int
    additional: int
    covered: int
    relevant: int

    @property
    def share(self) -> float:
        """How much of all relevant documents it covers."""
        return self.covered / self.relevant if self.relevant else float("nan")


def build_graph(
    collection: Collection,
    doc_ids: Iterable[str],
    *,
    k: int = 30,
    ranker: BM25 | None = None,
    terms: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Graph:
    """Search for each document with all its terms, or with its best `terms` by tf·idf."""
    if k < 1:
        raise InputError(f"k is {k}; a graph needs 1 neighbour a document or more.")
    model = replace(ranker or BM25(), depth=k + 1)
    index = open_index(collection, model.analyser)
    wanted = sorted(set(doc_ids))
    lists, lacking = {}, []
    for done, doc_id in enumerate(wanted, start=1):
        number = index.docs.find(doc_id)
        if number is None:
            lacking.append(doc_id)
        else:
            ranking = model.rank_terms(index, {doc_id: _terms(index, number, terms)}).ranking(doc_id)
            lists[doc_id] = [line.doc_id for line in ranking if line.doc_id != doc_id][:k]
        if progress:
            progress(done, len(wanted))
    if not lists:
        raise InputError(
            f"none of the {len(wanted):,} documents ({brief(wanted)}) is in the collection {collection.name!r}; "
            "do its documents and judgments belong together?"
        )
    return Graph.from_lists(lists, lacking)


def neighbours(graph: Graph, doc_ids: Iterable[str], k: int) -> tuple[str, ...]:
    """The k nearest of all the documents, each once, ascending."""
    graph.check(k)
    rows = [row for doc_id in set(doc_ids) if (row := graph.rows.get(doc_id)) is not None]
    codes = np.unique(graph.neighbours[np.array(rows, dtype=np.intp), :k])
    return tuple(graph.docs[code] for code in codes.tolist() if code >= 0)


def completeness(
    graph: Graph, sample: AbstractSet[str], relevant: AbstractSet[str], ks: Sequence[int] = (0, 5, 10, 15)
) -> tuple[Completeness, ...]:
    """How many of all relevant documents a sample covers when the neighbours of those that it has are added."""
    known = sample & relevant
    found = []
    for k in ks:
        whole = sample | set(neighbours(graph, known, k))
        found.append(Completeness(k, len(whole), len(whole) - len(sample), len(whole & relevant), len(relevant)))
    return tuple(found)


def write_graph(path: str | Path, graph: Graph) -> None:
    """Write JSON Lines, compressed where the name ends with .gz; the same graph gives the same bytes."""
    rows = ({"doc_id": doc_id, "neighbours": graph.nearest(doc_id)} for doc_id in graph.rows)
    lines = (json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
    with open(path, "wb") as file:
        if Path(path).name.endswith(".gz"):
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                packed.writelines(lines)
        else:
            file.writelines(lines)


def read_graph(path: str | Path) -> Graph:
    """Read what `write_graph` wrote."""
    lists: dict[str, list[str]] = {}
    for number, line in read_lines(path, Notes()):
        try:
            row = json.loads(line)
            doc_id, near = row["doc_id"], row["neighbours"]
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError("a line of a corpus graph has doc_id and neighbours.", path, number) from error
        if doc_id in lists:
            raise FormatError(f"document {doc_id!r} has neighbours twice.", path, number)
        lists[doc_id] = near
    return Graph.from_lists(lists)


def _terms(index: Index, doc: int, most: int | None) -> TermWeights:
    """The terms of a document with their counts: all, or those of the highest tf·idf, ties by text."""
    terms, counts = index.terms_of(doc)
    if most is not None:
        long = np.array([len(term) >= _SHORTEST for term in index.terms.texts(terms)], dtype=np.bool_)
        terms, counts = terms[long], counts[long]
        weights = counts * np.log(index.documents / index.document_frequencies(terms))
        best = np.lexsort((terms, -weights))[:most]
        terms, counts = terms[best], counts[best]
    return dict(zip(terms.tolist(), counts.astype(np.float64).tolist(), strict=True))
