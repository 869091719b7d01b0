from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ringtrue.data.formats.detect import read_documents
from ringtrue.data.records import Document
from ringtrue.errors import FormatError
from ringtrue.subsampling.corpora import open_corpus
from ringtrue.subsampling.parquetfiles import ParquetFile
from ringtrue.subsampling.pieces import Place


def search(path: Path, wanted: set[str], start: Place | None = None) -> list[Document]:
    steps = ParquetFile(path).search(frozenset(wanted), start or Place())
    return [document for step in steps for document in step.found]


TEXTS = ["x", None, " z "]
ODD = {
    "plain": pa.table({"doc_id": ["a", "b", "c"], "title": ["T", None, ""], "text": TEXTS}),
    "no title": pa.table({"docno": ["a", "b", "c"], "contents": TEXTS}),
    "capital letters": pa.table({"DocId": ["a", "b", "c"], "Text": TEXTS}),
    "better id": pa.table({"id": ["1", "2", "3"], "_id": ["a", "b", "c"], "text": TEXTS}),
    "numbers": pa.table({"pid": [7, 8, 9], "passage": TEXTS}),
    "blanks around ids": pa.table({"_id": [" a", "b ", "c"], "text": TEXTS}),
    "large strings": pa.table({"_id": pa.array(["a", "b", "é"], pa.large_string()), "text": TEXTS}),
    "dictionary": pa.table({"_id": pa.array(["a", "b", "c"]).dictionary_encode(), "text": TEXTS}),
}


@pytest.mark.parametrize("table", ODD.values(), ids=ODD)
@pytest.mark.parametrize("rows", [1, 2, 100])
def test_the_same_as_reading_all(tmp_path: Path, table, rows):
    path = tmp_path / "corpus.parquet"
    pq.write_table(table, path, row_group_size=rows)
    assert isinstance(open_corpus(path, 1).pieces[0], ParquetFile)
    every = list(read_documents(path))
    assert len(every) == 3
    assert search(path, {document.doc_id for document in every}) == every
    for document in every:
        assert search(path, {document.doc_id}) == [document]


def test_a_search_goes_on_from_every_step(tmp_path: Path):
    path = tmp_path / "corpus.parquet"
    ids = [f"d{number}" for number in range(40_000)]
    pq.write_table(pa.table({"_id": ids, "text": ids}), path, row_group_size=18_000)
    wanted = set(ids[::700])
    steps = list(ParquetFile(path).search(frozenset(wanted), Place()))
    assert [step.place for step in steps] == [Place(1, 18_000), Place(2, 36_000), Place(3, 40_000)]
    every = [document for step in steps for document in step.found]
    assert [document.doc_id for document in every] == ids[::700]
    for done, step in enumerate(steps, start=1):
        before = [document for earlier in steps[:done] for document in earlier.found]
        assert before + search(path, wanted, step.place) == every


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table({"text": ["x"]}), "no document id"),
        (pa.table({"_id": ["x", "a"], "other": ["y", "z"]}), "line 2: no document text"),
        (pa.table({"_id": [1.5], "text": ["x"]}), "line 1: the document id should be text or a whole number"),
    ],
)
def test_broken_tables(tmp_path: Path, table, message):
    path = tmp_path / "corpus.parquet"
    pq.write_table(table, path)
    with pytest.raises(FormatError, match=message):
        search(path, {"a"})


def test_a_damaged_file(tmp_path: Path):
    path = tmp_path / "corpus.parquet"
    pq.write_table(ODD["plain"], path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FormatError, match="damaged Parquet"):
        search(path, {"a"})
