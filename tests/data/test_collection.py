from pathlib import Path

import pytest

from ringtrue.data.collection import Collection
from ringtrue.data.load import load
from ringtrue.data.notes import Notes
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Document, LogQuery, Positive, Qrel, Query
from ringtrue.errors import InputError

DOCUMENTS = (Document("a", "one", "A"), Document("b", "two"), Document("c", "three"))
QUERIES = (Query("1", "red"), Query("2", "blue"))
QRELS = (Qrel("1", "a", 2), Qrel("1", "b", 0), Qrel("2", "c", 1))


@pytest.fixture
def colours() -> Collection:
    return Collection.from_records("colours", DOCUMENTS, QUERIES, QRELS)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    texts = {
        "documents": "a\tone\tA\nb\ttwo\nc\tthree\nb\ttwo\n",
        "queries": "1\tred\n2\tblue\n",
        "qrels": "1 0 a 2\n1 0 b 0\n2 0 c 1\n",
    }
    paths = {part: tmp_path / part for part in texts}
    for part, path in paths.items():
        path.write_text(texts[part])
    return paths


def test_records_in_memory(colours: Collection):
    assert tuple(colours.documents()) == tuple(colours.documents()) == DOCUMENTS
    assert colours.queries == QUERIES
    assert tuple(colours.qrels) == QRELS
    assert (colours.has_documents, colours.has_queries, colours.has_qrels, colours.has_log) == (True, True, True, False)
    assert not len(colours.notes)


def test_parts_that_are_not_there():
    empty = Collection.from_records("nothing")
    assert len(empty.qrels) == 0
    assert (empty.has_documents, empty.has_queries, empty.has_qrels) == (False, False, False)
    with pytest.raises(InputError, match=r"'nothing' has no documents; give a file of them \(--documents\)"):
        empty.documents()
    with pytest.raises(InputError, match="has no queries"):
        _ = empty.queries
    with pytest.raises(InputError, match="has no queries"):
        empty.log()


@pytest.mark.parametrize(
    "records", [{"documents": [*DOCUMENTS, Document("a", "x")]}, {"queries": [*QUERIES, Query("1", "x")]}]
)
def test_ids_in_memory_are_distinct(records):
    with pytest.raises(InputError, match=r"two records have the (document id 'a'|query id '1')"):
        Collection.from_records("twice", **records)


def test_the_log_of_topics_has_their_relevant_documents(colours: Collection):
    assert list(colours.log()) == [LogQuery("1", "red", "", ("a",)), LogQuery("2", "blue", "", ("c",))]
    assert list(colours.positives()) == [Positive("1", "a"), Positive("2", "c")]
    assert list(colours.subset(["b"]).positives()) == list(colours.positives())
    log = [LogQuery("9", "sky", "web", ("b",))]
    logged = Collection.from_records("logged", queries=QUERIES, log=log).with_queries([])
    assert (list(logged.log()), list(logged.positives())) == (log, [Positive("9", "b", "web")])


def test_a_subset_keeps_topics_and_drops_judgments(colours: Collection):
    small = colours.subset(["b", "c", "zzz"])
    assert [document.doc_id for document in small.documents()] == ["b", "c"]
    assert list(small.qrels) == [Qrel("1", "b", 0), Qrel("2", "c", 1)]
    assert small.qrels.topics == ("1", "2")
    assert small.queries == QUERIES
    assert [tuple(note) for note in small.notes] == [
        ("documents of a subset that are not in the collection", 1, "document zzz")
    ]
    assert tuple(colours.documents()) == DOCUMENTS
    assert not len(colours.notes)


def test_other_queries_over_the_same_documents(colours: Collection):
    other = colours.with_queries([Query("1", "rouge")])
    assert other.queries == (Query("1", "rouge"),)
    assert tuple(other.documents()) == DOCUMENTS
    assert list(other.log()) == [LogQuery("1", "rouge", "", ("a",))]
    with pytest.raises(InputError, match="query id '1'"):
        colours.with_queries([Query("1", "a"), Query("1", "b")])


def test_files_give_what_memory_gives(files: dict[str, Path], colours: Collection):
    found = load(**files)
    assert tuple(found.documents()) == DOCUMENTS
    assert found.queries == QUERIES
    assert list(found.qrels) == list(colours.qrels)
    assert list(found.log()) == list(colours.log())
    assert list(found.positives()) == list(colours.positives())


def test_a_second_pass_is_not_counted_again(files: dict[str, Path]):
    found = load(**files)
    next(found.documents())
    assert not len(found.notes)
    for _ in range(2):
        assert len(list(found.documents())) == 3
    assert [note.times for note in found.notes] == [1]


def test_topics_and_judgments_that_do_not_meet_are_counted(tmp_path: Path):
    qrels = [Qrel("1", "a", 1), Qrel("7", "a", 1), Qrel("8", "a", 1)]
    for first, second in (("queries", "qrels"), ("qrels", "queries")):
        found = Collection.from_records("two numberings", None, QUERIES, qrels)
        getattr(found, first)
        assert not len(found.notes)
        getattr(found, second)
        assert [(note.what, note.times) for note in found.notes] == [
            ("judged topics without a query", 2),
            ("queries without judgments", 1),
        ]


def test_topics_alone_lack_no_judgments():
    found = Collection.from_records("topics", None, QUERIES)
    assert not len(found.qrels) and found.queries and not len(found.notes)


def test_fingerprints_follow_content_and_nothing_else(files: dict[str, Path], colours: Collection):
    found = load(**files)
    assert found.fingerprint == load(**files).fingerprint
    assert found.fingerprint != load(documents=files["documents"]).fingerprint
    assert found.fingerprint_of("documents") == load(documents=files["documents"]).fingerprint_of("documents")
    files["queries"].write_text("1\tred\n2\tgreen\n")
    changed = load(**files)
    assert changed.fingerprint != found.fingerprint
    assert changed.fingerprint_of("documents") == found.fingerprint_of("documents")
    again = Collection.from_records("other name", DOCUMENTS, QUERIES, Qrels.from_records(QRELS))
    assert again.fingerprint == colours.fingerprint


def test_fingerprints_of_derived_collections(colours: Collection):
    small = colours.subset(["a", "b"])
    assert small.fingerprint_of("documents") != colours.fingerprint_of("documents")
    assert small.fingerprint_of("queries") == colours.fingerprint_of("queries")
    assert small.fingerprint == colours.subset(["b", "a"]).fingerprint != colours.subset(["a"]).fingerprint
    other = colours.with_queries([Query("1", "rouge")])
    assert other.fingerprint_of("documents") == colours.fingerprint_of("documents")
    assert other.fingerprint != colours.fingerprint


def test_reading_is_lazy(tmp_path: Path):
    broken = tmp_path / "queries.tsv"
    broken.write_text("1\ta\n1\tb\n")
    found = load(broken)
    assert found.has_queries
    with pytest.raises(InputError, match="used before"):
        _ = found.queries
    assert isinstance(found.notes, Notes)
