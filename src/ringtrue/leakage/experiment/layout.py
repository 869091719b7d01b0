"""The files of an experiment that cells and their evaluation share.

    trainsets/               the training sets, their texts and accounts
    data/queries.jsonl       further queries, the test topics: query_id, text
    data/documents.jsonl     further documents, those to be ranked again: doc_id, text
    data/pairs.npy           what each cell scores: numbers of a query and of a document, counted over both files
    data/candidates.npy      for each pair whether it is one of those that are ranked again
    data/qrels.jsonl         judgments of the topics: query_id, doc_id, relevance; ids may have blanks

Imports numpy alone beside the standard library.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import InputError


class Texts(NamedTuple):
    """All queries and documents, ids in the order of their numbers."""

    query_ids: tuple[str, ...]
    queries: tuple[str, ...]
    doc_ids: tuple[str, ...]
    documents: tuple[str, ...]


@lru_cache(maxsize=2)
def read_texts(folder: Path) -> Texts:
    """Queries and documents of the sets, then those of the test that are not among them."""
    queries, documents = (
        dict(_pairs((folder / "trainsets" / f"{name}.jsonl", folder / "data" / f"{name}.jsonl"), key))
        for name, key in (("queries", "query_id"), ("documents", "doc_id"))
    )
    return Texts(tuple(queries), tuple(queries.values()), tuple(documents), tuple(documents.values()))


def read_triples(folder: Path, kind: str, size: int) -> NDArray[np.int64]:
    """The rows of a training set: numbers of query, relevant and non-relevant document."""
    texts = read_texts(folder)
    query_of = {key: number for number, key in enumerate(texts.query_ids)}
    document_of = {key: number for number, key in enumerate(texts.doc_ids)}
    path = folder / "trainsets" / "sets" / f"{kind}-{size}.jsonl"
    if not path.is_file():
        raise InputError(f"the experiment has no training set {kind}-{size}: {path} is missing.")
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    rows = [(query_of[one["query_id"]], document_of[one["positive"]], document_of[one["negative"]]) for one in lines]
    return np.array(rows, np.int64).reshape(-1, 3)


def read_pairs(folder: Path) -> NDArray[np.int64]:
    """What each cell scores."""
    return np.asarray(np.load(folder / "data" / "pairs.npy", allow_pickle=False), np.int64)


def write_data(
    folder: Path,
    queries: Mapping[str, str],
    documents: Mapping[str, str],
    pairs: NDArray[np.int32],
    candidates: NDArray[np.bool_],
) -> None:
    """Write what is beside the training sets; texts that the sets have already may be left out."""
    place = folder / "data"
    place.mkdir(parents=True, exist_ok=True)
    for name, key, texts in (("queries", "query_id", queries), ("documents", "doc_id", documents)):
        with open(place / f"{name}.jsonl", "w", encoding="utf-8", newline="\n") as file:
            for one, text in texts.items():
                file.write(json.dumps({key: one, "text": text}, ensure_ascii=False) + "\n")
    np.save(place / "pairs.npy", pairs, allow_pickle=False)
    np.save(place / "candidates.npy", candidates, allow_pickle=False)


def _pairs(paths: Iterable[Path], key: str) -> Iterator[tuple[str, str]]:
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                yield row[key], row["text"]
