"""Searching Parquet for wanted documents: only ids are read of row groups that have none of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ringtrue.data.formats.tables import Row
from ringtrue.data.formats.tabular import DOC_COLUMNS, DOC_ID, named_documents
from ringtrue.errors import FormatError
from ringtrue.subsampling.pieces import FilePiece, Place, Step, Wanted

_ROWS = 1 << 14


@dataclass(frozen=True)
class ParquetFile(FilePiece):
    """A file of Parquet; a search starts with any row group."""

    def search(self, wanted: Wanted, start: Place) -> Iterator[Step]:
        """Look at one row group after the other."""
        ids, read = pa.array(sorted(wanted), pa.string()), start.read
        try:
            with pq.ParquetFile(self.path) as file:
                names = {name.lower(): name for name in file.schema_arrow.names}
                table = _Table(file, {known: name for known, name in names.items() if known in DOC_COLUMNS} or names)
                for group in range(start.at, file.num_row_groups):
                    rows = table.find(group, ids, read)
                    found = tuple(document for _, document in named_documents(rows, self.path))
                    read += file.metadata.row_group(group).num_rows
                    yield Step(Place(group + 1, read), found)
        except (pa.ArrowException, OSError) as error:
            raise FormatError(f"damaged Parquet, or compressed once more ({error}).", self.path) from error


@dataclass(frozen=True, eq=False)
class _Table:
    """An open file, and the columns to be read by what they are known as."""

    file: pq.ParquetFile
    columns: dict[str, str]

    def find(self, group: int, ids: pa.Array, before: int) -> Iterator[Row]:
        """The wanted rows of a row group, numbered from those `before` it; all where the ids cannot be compared."""
        doc_id = next((self.columns[name] for name in DOC_ID.names if name in self.columns), None)
        if doc_id is not None and not any(
            pc.any(_among(batch.column(0), ids)).as_py() for batch in self._batches(group, [doc_id])
        ):
            return
        for batch in self._batches(group, list(self.columns.values())):
            rows = np.arange(len(batch))
            if doc_id is not None:
                rows = np.flatnonzero(_among(batch.column(doc_id), ids).to_numpy(zero_copy_only=False))
            kept = batch.take(pa.array(rows))
            for row, cells in zip(rows.tolist(), kept.to_pylist(), strict=True):
                yield before + row + 1, {known: cells[name] for known, name in self.columns.items()}
            before += len(batch)

    def _batches(self, group: int, columns: list[str]) -> Iterator[pa.RecordBatch]:
        return iter(self.file.iter_batches(_ROWS, row_groups=[group], columns=columns))


def _among(found: pa.Array, ids: pa.Array) -> pa.Array:
    """Which ids are wanted; every one where they are neither texts nor whole numbers, for the reader to complain of."""
    if pa.types.is_dictionary(found.type):
        found = found.dictionary_decode()
    if pa.types.is_integer(found.type):
        return pc.is_in(found.cast(pa.string()), value_set=ids)
    if pa.types.is_string(found.type) or pa.types.is_large_string(found.type):
        return pc.is_in(pc.utf8_trim_whitespace(found), value_set=ids.cast(found.type))
    return pa.array(np.ones(len(found), dtype=np.bool_))
