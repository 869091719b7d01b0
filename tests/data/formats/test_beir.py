import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringtrue.data.collection import Collection
from ringtrue.data.formats.beir import find_beir, is_beir, write_beir
from ringtrue.data.load import load
from ringtrue.data.records import Document, LogQuery, Qrel, Query
from ringtrue.errors import InputError

DOCUMENTS = (Document("a", "one text", "A title"), Document("b", "more"))
QUERIES = (Query("1", "red", "what is red", "only red", ("rouge", "crimson")), Query("2", "blue"))
QRELS = (Qrel("1", "a", 2), Qrel("1", "b", 0), Qrel("2", "b", -1))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "set"
    write_beir(Collection.from_records("set", DOCUMENTS, QUERIES, QRELS), place)
    return place


def test_what_was_written_is_read_back(folder: Path):
    found = load(folder)
    assert found.name == "set"
    assert tuple(found.documents()) == DOCUMENTS
    assert found.queries == QUERIES
    assert tuple(found.qrels) == QRELS
    assert not len(found.notes)


def test_the_layout_is_beirs(folder: Path):
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) == [
        "corpus.jsonl",
        "qrels",
        "qrels/test.tsv",
        "queries.jsonl",
    ]
    assert json.loads((folder / "corpus.jsonl").read_text().split("\n")[0]) == {
        "_id": "a",
        "title": "A title",
        "text": "one text",
    }
    assert json.loads((folder / "queries.jsonl").read_text().split("\n")[1]) == {"_id": "2", "text": "blue"}
    assert (folder / "qrels/test.tsv").read_text().startswith("query-id\tcorpus-id\tscore\n1\ta\t2\n")


def test_files_may_be_compressed(folder: Path):
    for name in ("corpus.jsonl", "qrels/test.tsv"):
        plain = folder / name
        plain.with_name(plain.name + ".gz").write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()
    found = load(folder)
    assert tuple(found.documents()) == DOCUMENTS
    assert len(found.qrels) == 3


def test_splits_are_chosen_and_listed(folder: Path):
    (folder / "qrels/train.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta\t1\n")
    assert len(load(folder, split="train").qrels) == 1
    with pytest.raises(InputError, match="no judgments for the split 'dev'; it has test, train"):
        load(folder, split="dev")
    assert load(folder, split="dev", qrels=folder / "qrels/train.tsv").has_qrels


def test_parts_may_be_missing(folder: Path):
    (folder / "corpus.jsonl").unlink()
    (folder / "qrels/test.tsv").unlink()
    found = load(folder)
    assert (found.has_documents, found.has_queries, found.has_qrels) == (False, True, False)
    (folder / "queries.jsonl").unlink()
    assert not is_beir(folder)


def test_two_copies_of_a_file_are_an_error(folder: Path):
    (folder / "corpus.jsonl.gz").write_bytes(b"x")
    with pytest.raises(InputError, match=r"both corpus\.jsonl and corpus\.jsonl\.gz"):
        find_beir(folder, "test")


def test_a_log_beside_the_collection(folder: Path):
    (folder / "log.jsonl").write_text(json.dumps({"_id": "9", "text": "sky", "source": "web", "doc_ids": ["b"]}))
    found = load(folder)
    assert found.has_log
    assert list(found.log()) == [LogQuery("9", "sky", "web", ("b",))]


def test_nothing_is_overwritten(folder: Path):
    with pytest.raises(InputError, match="is not an empty folder"):
        write_beir(Collection.from_records("x", queries=QUERIES), folder)


ids = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=6)
words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20).map(str.strip)


@settings(deadline=None, max_examples=50)
@given(
    documents=st.dictionaries(ids, st.tuples(words, words), min_size=1, max_size=5),
    queries=st.dictionaries(
        ids,
        st.tuples(words.filter(bool), words, words, st.lists(words.filter(bool), max_size=2).map(tuple)),
        min_size=1,
        max_size=5,
    ),
    grades=st.dictionaries(st.tuples(ids, ids), st.integers(-2, 4), min_size=1, max_size=5),
)
def test_any_collection_comes_back(tmp_path_factory, documents, queries, grades):
    given_documents = tuple(Document(doc_id, *texts) for doc_id, texts in documents.items())
    given_queries = tuple(Query(query_id, *texts) for query_id, texts in queries.items())
    written = Collection.from_records(
        "set", given_documents, given_queries, [Qrel(*pair, grade) for pair, grade in grades.items()]
    )
    place = tmp_path_factory.mktemp("beir") / "set"
    write_beir(written, place)
    found = load(place)
    assert tuple(found.documents()) == given_documents
    assert found.queries == given_queries
    assert list(found.qrels) == list(written.qrels)
