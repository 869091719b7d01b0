import json
from pathlib import Path

import pytest

from ringtrue.data import load as loading
from ringtrue.data.load import load, load_log
from ringtrue.data.records import LogQuery, Positive, Query
from ringtrue.errors import FormatError, InputError, UnknownNameError

TOPICS = "<top><num>1<title>red</top>\n<top><num>2<title>blue</top>\n"
DOCS = "<DOC><DOCNO>a</DOCNO>one</DOC>\n<DOC><DOCNO>b</DOCNO>two</DOC>\n"
QRELS = "1 0 a 1\n1 0 b 0\n2 0 a 1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "colours"
    place.mkdir()
    (place / "first.txt").write_text(TOPICS)
    (place / "second.txt").write_text(DOCS)
    (place / "third.txt").write_text(QRELS)
    (place / "README.md").write_text("<top> is a tag\n")
    return place


def test_a_loose_folder(folder: Path):
    found = load(folder)
    assert found.name == "colours"
    assert [document.doc_id for document in found.documents()] == ["a", "b"]
    assert [query.title for query in found.queries] == ["red", "blue"]
    assert len(found.qrels) == 3
    assert (found.runs_folder, found.groups_file) == (None, None)
    assert not len(found.notes)


def test_files_that_are_not_used_are_counted(folder: Path):
    (folder / "other.json").write_text("{\n}\n")
    (folder / "groups.csv").write_text("run,group\n")
    (folder / "runs").mkdir()
    found = load(str(folder))
    assert [(note.what, note.times) for note in found.notes] == [("files of the folder that are not used", 1)]
    assert (found.runs_folder, found.groups_file) == (folder / "runs", folder / "groups.csv")


def test_two_candidates_are_an_error_that_an_option_settles(folder: Path):
    (folder / "more.txt").write_text(TOPICS.replace("red", "rouge"))
    with pytest.raises(
        InputError, match=r"several files could be the queries: first\.txt, more\.txt; say which with --queries"
    ):
        load(folder)
    assert load(folder, queries=folder / "more.txt").queries[0].title == "rouge"


def test_a_folder_without_anything_known(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("some words\n")
    with pytest.raises(InputError, match="no file in it is plainly documents, queries or judgments; name one"):
        load(tmp_path)
    assert load(tmp_path, queries=tmp_path / "notes.txt").queries == (Query("1", "some words"),)


def test_single_files(folder: Path):
    assert load(folder / "first.txt").source.parts == {"queries"}
    assert load(folder / "second.txt").source.parts == {"documents"}
    assert load(folder / "third.txt").source.parts == {"qrels"}
    assert load(folder / "first.txt").name == "first"


def test_a_file_of_queries_is_one_whatever_its_name_suggests(tmp_path: Path, folder: Path):
    for name, text in (
        ("passage-train.tsv", "1\tred\n2\tblue\n"),
        ("corpus.jsonl", '{"_id": "1", "text": "red"}\n{"_id": "2", "text": "blue"}\n'),
    ):
        (tmp_path / name).write_text(text)
        assert load(tmp_path / name).source.parts == {"documents"}
        assert [entry.text for entry in load(tmp_path / name, of_queries=True).log()] == ["red", "blue"]
    for name, what in (("second.txt", "documents"), ("third.txt", "judgments")):
        with pytest.raises(InputError, match=f"{name} holds {what} where queries are expected"):
            load(folder / name, of_queries=True)
    assert load(folder, of_queries=True).source.parts == {"documents", "queries", "qrels"}


def test_training_queries_of_a_beir_folder_have_the_judgments_of_the_training(tmp_path: Path):
    (tmp_path / "queries.jsonl").write_text('{"_id": "1", "text": "red"}\n')
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta\t1\n")
    assert list(load(tmp_path).positives()) == [Positive("1", "a")]
    assert list(load_log(tmp_path).positives()) == []
    (tmp_path / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\n1\tb\t1\n")
    assert list(load_log(tmp_path).positives()) == [Positive("1", "b")]
    assert next(load_log("builtin:lighthouse").positives())


def test_a_log_file_streams(tmp_path: Path):
    path = tmp_path / "train.tsv"
    path.write_text("1\tred\tweb\n1\tred again\tweb\n")
    assert list(load(path).log()) == [LogQuery("1", "red", "web"), LogQuery("1", "red again", "web")]


def test_runs_and_variants_are_no_collections(tmp_path: Path):
    path = tmp_path / "file"
    path.write_text("1 Q0 a 1 1.5 tag\n1 Q0 b 2 1.4 tag\n1 Q0 c 3 1.3 tag\n")
    with pytest.raises(InputError, match="holds a run, which is no collection; give it with --runs"):
        load(path)
    with pytest.raises(InputError, match="holds a run where queries are expected"):
        load(path, of_queries=True)
    path.write_text("1-1-1;a\n1-2-1;b\n1-3-1;c\n")
    with pytest.raises(InputError, match="--variants"):
        load(path)


def test_variants_join_the_queries(folder: Path):
    variants = folder.parent / "variants.tsv"
    variants.write_text("1\trouge\n9\tnoir\n")
    found = load(folder, variants=variants)
    assert found.queries[0].variants == ("rouge",)
    assert [note.times for note in found.notes] == [1]
    assert found.fingerprint_of("queries") != load(folder).fingerprint_of("queries")
    assert found.fingerprint_of("documents") == load(folder).fingerprint_of("documents")


def test_wrong_names(tmp_path: Path):
    (tmp_path / "topics.txt").write_text(TOPICS)
    with pytest.raises(InputError, match=r"no such file; did you mean topics\.txt\? A collection is .*irds:ID"):
        load(tmp_path / "topic.txt")
    with pytest.raises(UnknownNameError, match="unknown built-in collection 'lighthose'; did you mean lighthouse"):
        load("builtin:lighthose")
    with pytest.raises(InputError, match="no collection: name one"):
        load()
    with pytest.raises(InputError, match="no such file"):
        load(tmp_path, qrels=tmp_path / "nothing")
    with pytest.raises(InputError, match="is a folder where a file is expected"):
        load(tmp_path, queries=tmp_path)


def test_an_empty_file_is_an_error(tmp_path: Path):
    path = tmp_path / "queries.tsv"
    path.write_text("")
    with pytest.raises(FormatError, match="the file is empty"):
        _ = load(path).queries


def test_a_built_in_collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    place = tmp_path / "lighthouse"
    (place / "qrels").mkdir(parents=True)
    (place / "runs").mkdir()
    (place / "corpus.jsonl").write_text(json.dumps({"_id": "d1", "title": "Lamps", "text": "oil"}) + "\n")
    query = {"_id": "1", "text": "lamp oil", "description": "which oil", "narrative": "any", "variants": ["oil lamps"]}
    (place / "queries.jsonl").write_text(json.dumps(query) + "\n")
    (place / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\n1\td1\t2\n")
    (place / "log.jsonl").write_text(json.dumps({"_id": "q", "text": "oil", "source": "web", "doc_ids": ["d1"]}) + "\n")
    (place / "leaks.jsonl").write_text("{}\n")
    (place / "groups.csv").write_text("run,group\na,b\n")
    monkeypatch.setattr(loading, "files", lambda package: tmp_path)
    found = load("builtin:lighthouse")
    assert found.name == "lighthouse"
    assert found.queries == (Query("1", "lamp oil", "which oil", "any", ("oil lamps",)),)
    assert list(found.log()) == [LogQuery("q", "oil", "web", ("d1",))]
    assert (found.runs_folder, found.groups_file) == (place / "runs", place / "groups.csv")
    assert [document.body for document in found.documents()] == ["Lamps oil"]
    assert len(found.qrels) == 1


def test_real_folders(shared: Path):
    collections = shared / "collections"
    with pytest.raises(InputError, match=r"query-text\.trec, query_light\.trec; say which with --queries"):
        load(collections / "vaswani")
    vaswani = load(collections / "vaswani", queries=collections / "vaswani/query-text.trec")
    judged = load(collections / "dl19-judged")
    covid = load(shared / "subsampling/trec-covid-round1")
    for found, queries, qrels in ((vaswani, 93, 2_083), (judged, 43, 9_260), (covid, 30, 8_691)):
        assert (len(found.queries), len(found.qrels)) == (queries, qrels)
        assert set(found.qrels.topics) == {query.query_id for query in found.queries}
    assert sum(1 for _ in vaswani.documents()) == 11_429
    assert sum(1 for _ in judged.documents()) == 9_139
    assert not covid.has_documents
    assert covid.runs_folder == shared / "subsampling/trec-covid-round1/runs"


def test_cranfields_two_numberings_are_noted(shared: Path):
    cranfield = load(shared / "collections/cranfield")
    assert (len(cranfield.queries), len(cranfield.qrels)) == (225, 1_837)
    assert {note.what: note.times for note in cranfield.notes} == {
        "judged topics without a query": 73,
        "queries without judgments": 73,
    }
