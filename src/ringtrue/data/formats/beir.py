"""BEIR's folder: corpus.jsonl, queries.jsonl, qrels/<split>.tsv; any of the files may be compressed.

Keys beyond BEIR's are read where they are: description, narrative and variants of queries; and beside them a
training log (log.jsonl), a folder of runs and the groups that made them, as the built-in collection has them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ringtrue.data.formats.streams import plain_name
from ringtrue.data.records import Document, Query
from ringtrue.errors import InputError

if TYPE_CHECKING:
    from ringtrue.data.collection import Collection


class BeirFolder(NamedTuple):
    """Where the parts of a collection lie; None where the folder has no such part."""

    documents: Path | None
    queries: Path | None
    qrels: Path | None
    log: Path | None


def is_beir(folder: Path) -> bool:
    """Whether a folder has a corpus or queries under BEIR's names."""
    return any(plain_name(path) in ("corpus.jsonl", "queries.jsonl") for path in folder.iterdir())


def find_beir(folder: Path, split: str | None) -> BeirFolder:
    """The files of a folder, without judgments where `split` is None; one that it does not have is an error."""
    documents, queries, log = (_find(folder, f"{name}.jsonl") for name in ("corpus", "queries", "log"))
    return BeirFolder(documents, queries, _split(folder / "qrels", split) if split else None, log)


def has_split(folder: Path, split: str) -> bool:
    """Whether a folder has the judgments of a split."""
    return (folder / "qrels").is_dir() and _find(folder / "qrels", f"{split}.tsv") is not None


def write_beir(collection: Collection, folder: str | Path, split: str = "test") -> None:
    """Write the parts that a collection has into a new or empty folder."""
    place = Path(folder)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise InputError(f"{place} is not an empty folder; give a new one, or empty it first.")
    place.mkdir(parents=True, exist_ok=True)
    if collection.has_documents:
        _write(place / "corpus.jsonl", map(_document_row, collection.documents()))
    if collection.has_queries:
        _write(place / "queries.jsonl", map(_query_row, collection.queries))
    if collection.has_qrels:
        (place / "qrels").mkdir()
        with open(place / "qrels" / f"{split}.tsv", "w", encoding="utf-8", newline="\n") as file:
            file.write("query-id\tcorpus-id\tscore\n")
            file.writelines(f"{query_id}\t{doc_id}\t{grade}\n" for query_id, doc_id, grade in collection.qrels)


def _find(folder: Path, name: str) -> Path | None:
    """The one file of that name, compressed or not."""
    found = sorted(path for path in folder.iterdir() if plain_name(path) == name)
    if len(found) > 1:
        raise InputError(f"{folder} holds both {found[0].name} and {found[1].name}; keep one of them.")
    return found[0] if found else None


def _split(folder: Path, split: str) -> Path | None:
    """The judgments of a split; None where there are none at all."""
    if not folder.is_dir():
        return None
    splits = sorted(plain_name(path).removesuffix(".tsv") for path in folder.iterdir() if ".tsv" in path.name)
    found = _find(folder, f"{split}.tsv")
    if splits and found is None:
        raise InputError(f"{folder} has no judgments for the split {split!r}; it has {', '.join(splits)}.")
    return found


def _write(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """Write one JSON object a line."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _document_row(document: Document) -> Mapping[str, object]:
    """A document under BEIR's keys."""
    return {"_id": document.doc_id, "title": document.title, "text": document.text}


def _query_row(query: Query) -> Mapping[str, object]:
    """A query under BEIR's keys, with ours where they hold something."""
    more = {"description": query.description, "narrative": query.narrative, "variants": list(query.variants)}
    return {"_id": query.query_id, "text": query.title, **{key: value for key, value in more.items() if value}}
