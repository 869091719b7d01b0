"""A sample on disk: in BEIR's layout, and the same as Parquet."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ringtrue.data.collection import Collection
from ringtrue.data.formats.beir import write_beir
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Document, Query

_ROWS = 4096
_TEXT = pa.string()
_DOCUMENTS = pa.schema([("doc_id", _TEXT), ("title", _TEXT), ("text", _TEXT)])
_QUERIES = pa.schema(
    [("query_id", _TEXT), ("text", _TEXT), ("description", _TEXT), ("narrative", _TEXT), ("variants", pa.list_(_TEXT))]
)
_QRELS = pa.schema([("query_id", _TEXT), ("doc_id", _TEXT), ("relevance", pa.int32())])


class Once:
    """Each document once, streaming; of several with one id the first is kept and the others are counted.

    A copy is `conflicting` where its texts are not those of the first.
    """

    def __init__(self, found: Iterable[tuple[bytes, Document]]) -> None:
        """Take documents, each with its line of JSON."""
        self._found = found
        self._texts: dict[str, int] = {}
        self.duplicates = 0
        self.conflicting = 0

    @property
    def doc_ids(self) -> frozenset[str]:
        """The ids that came so far."""
        return frozenset(self._texts)

    def __iter__(self) -> Iterator[tuple[bytes, Document]]:
        """Pass on what is new."""
        for line, document in self._found:
            before = self._texts.get(document.doc_id)
            if before is None:
                self._texts[document.doc_id] = hash(document)
                yield line, document
            else:
                self.duplicates += 1
                self.conflicting += before != hash(document)


def write_documents(found: Iterable[tuple[bytes, Document]], folder: Path) -> None:
    """Write lines to corpus.jsonl and documents to corpus.parquet, some thousand at a time."""
    source = iter(found)
    with (
        open(folder / "corpus.jsonl", "wb") as lines,
        pq.ParquetWriter(folder / "corpus.parquet", _DOCUMENTS, compression="zstd") as table,
    ):
        while batch := list(islice(source, _ROWS)):
            lines.writelines(line for line, _ in batch)
            rows = [document for _, document in batch]
            columns = [[one.doc_id for one in rows], [one.title for one in rows], [one.text for one in rows]]
            table.write_table(pa.table(columns, schema=_DOCUMENTS))


def write_topics(queries: Sequence[Query], qrels: Qrels | None, folder: Path) -> None:
    """Write topics and judgments, as far as there are any, to a new folder."""
    judged = qrels if qrels is not None and len(qrels) else None
    write_beir(Collection.from_records("sample", None, queries or None, judged), folder)
    if queries:
        columns = [list(column) for column in zip(*queries, strict=True)]
        pq.write_table(pa.table(columns, schema=_QUERIES), folder / "queries.parquet", compression="zstd")
    if judged is not None:
        rows = [list(column) for column in zip(*judged, strict=True)]
        pq.write_table(pa.table(rows, schema=_QRELS), folder / "qrels.parquet", compression="zstd")


def move_into(folder: Path, drafts: Iterable[Path]) -> None:
    """Put files and folders in their place, over what an interrupted move has left there."""
    for draft in drafts:
        target = folder / draft.name
        if target.is_dir():
            shutil.rmtree(target)
        draft.replace(target)
