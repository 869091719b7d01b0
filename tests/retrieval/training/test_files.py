from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ringtrue.data.collection import Collection
from ringtrue.data.notes import Notes
from ringtrue.data.records import Document, LogQuery, Query
from ringtrue.errors import FormatError
from ringtrue.retrieval.training.files import read_triples, write_triples
from ringtrue.retrieval.training.triples import Triples

ROWS = [("what is rust", "Rust is iron oxide.", "Bread needs an oven"), ("tab\there", 'a "quoted" text', "ünïcode ✓")]
NAMES = ("query", "relevant", "non_relevant")


@pytest.fixture
def collection() -> Collection:
    return Collection.from_records(
        "small",
        [Document("d1", "iron oxide", "Rust"), Document("d2", "an oven")],
        [Query("1", "what is rust")],
        (),
        [LogQuery("log-1", "rust colour")],
    )


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "triples.jsonl"
    triples = Triples.from_texts(ROWS)
    write_triples(path, triples)
    assert read_triples(path, Notes()).fingerprint() == triples.fingerprint()
    assert json.loads(path.read_text(encoding="utf-8").splitlines()[0]) == dict(zip(NAMES, ROWS[0], strict=True))


def test_bare_lines_as_ms_marco_has_them(tmp_path):
    path = tmp_path / "triples.tsv"
    path.write_text("a query\tits passage\tanother\n\nb\tc\td\n")
    notes = Notes()
    found = read_triples(path, notes)
    assert [found.texts(number) for number in range(2)] == [("a query", "its passage", "another"), ("b", "c", "d")]
    assert [note.what for note in notes] == ["blank lines skipped"]
    path.write_text("a\tb\tc\nd\te\n")
    with pytest.raises(FormatError, match=r"line 2: 2 columns where three are expected"):
        read_triples(path, Notes())


@pytest.mark.parametrize("line", ["q1\twhat is rust\tweb\n", "12\t34\t56\n"])
def test_a_log_and_bare_ids_are_no_triples(tmp_path, line):
    path = tmp_path / "log.tsv"
    path.write_text(3 * line)
    with pytest.raises(FormatError, match=r"log.tsv, line 1: the third column has single words.*query_id, relevant_id"):
        read_triples(path, Notes())


def test_parquet_and_named_columns(tmp_path):
    pq.write_table(pa.table({name: list(column) for name, column in zip(NAMES, zip(*ROWS, strict=True), strict=True)}),
                   tmp_path / "t.parquet")  # fmt: skip
    assert read_triples(tmp_path / "t.parquet", Notes()).fingerprint() == Triples.from_texts(ROWS).fingerprint()
    (tmp_path / "t.tsv").write_text("non_relevant\tquery\trelevant\nz\tx\ty\n")
    assert read_triples(tmp_path / "t.tsv", Notes()).texts(0) == ("x", "y", "z")


def test_ids_are_looked_up(tmp_path, collection):
    path = tmp_path / "ids.jsonl"
    rows = [
        {"query_id": "1", "relevant_id": "d1", "non_relevant_id": "d2"},
        {"query_id": "log-1", "relevant": "own text", "non_relevant_id": "d2"},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = read_triples(path, Notes(), collection)
    assert [found.texts(number) for number in range(2)] == [
        ("what is rust", "Rust iron oxide", "an oven"),
        ("rust colour", "own text", "an oven"),
    ]
    with pytest.raises(FormatError, match="line 1: 'query_id' is '1'; name the collection"):
        read_triples(path, Notes())


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"query": "a", "relevant": "b"}, "neither 'non_relevant' nor 'non_relevant_id'"),
        ({"query": "a", "relevant": " ", "non_relevant": "c"}, "the query 'a' has no relevant document"),
        ({"query": "a", "relevant_id": "d9", "non_relevant": "c"}, "'relevant_id' 'd9' is not in 'small'"),
        ({"query_id": "9", "relevant_id": "d1", "non_relevant": "c"}, "'query_id' '9' is not in 'small'"),
    ],
)
def test_what_is_missing_is_told_with_its_line(tmp_path, collection, row, message):
    path = tmp_path / "wrong.jsonl"
    path.write_text(json.dumps(dict(zip(NAMES, "xyz", strict=True))) + "\n" + json.dumps(row) + "\n")
    with pytest.raises(FormatError, match=f"line 2: .*{message}"):
        read_triples(path, Notes(), collection)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("no triples at all\n")
    with pytest.raises(FormatError, match="triples are JSON Lines, CSV, TSV or Parquet"):
        read_triples(path, Notes())
