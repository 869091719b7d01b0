from collections.abc import Iterator
from typing import NamedTuple

import ir_datasets
import pytest
from ir_datasets.datasets.base import Dataset
from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries, GenericDoc, GenericQuery, TrecQrel, TrecQuery

from ringtrue.data.load import load
from ringtrue.data.notes import Notes
from ringtrue.data.records import Document, LogQuery, Positive, Qrel, Query
from ringtrue.errors import InputError, MissingModelError, UnknownNameError


class TitledDoc(NamedTuple):
    doc_id: str
    title: str
    body: str

    def default_text(self) -> str:
        return f"{self.title} {self.body}"


class FieldsDoc(NamedTuple):
    doc_id: str
    condition: str
    url: str
    summary: str


class KeywordQuery(NamedTuple):
    query_id: str
    text: str
    query: str
    narrative: str

    def default_text(self) -> str:
        return self.text


class Docs(BaseDocs):
    def __init__(self, *records):
        self.records = records

    def docs_iter(self) -> Iterator[object]:
        for record in self.records:
            if isinstance(record, Exception):
                raise record
            yield record

    def docs_cls(self):
        return type(self.records[0])


class Queries(BaseQueries):
    def __init__(self, *records):
        self.records = records

    def queries_iter(self):
        return iter(self.records)

    def queries_cls(self):
        return type(self.records[0])


class Judgments(BaseQrels):
    def __init__(self, *records):
        self.records = records

    def qrels_iter(self):
        return iter(self.records)


@pytest.fixture
def register(request: pytest.FixtureRequest):
    """Register a dataset under the test's own name, and take it away again."""
    name = f"ringtrue-test/{request.node.name}"

    def enter(*parts) -> str:
        ir_datasets.registry.register(name, Dataset(*parts))
        return f"irds:{name}"

    yield enter
    ir_datasets.registry._registered.pop(name, None)


def test_all_parts(register):
    spec = register(
        Docs(GenericDoc("a", "one text"), GenericDoc("b", "more")),
        Queries(GenericQuery("1", "red"), GenericQuery("2", "blue")),
        Judgments(TrecQrel("1", "a", 1, "0"), TrecQrel("1", "b", 0, "0")),
    )
    found = load(spec)
    assert found.name == spec.removeprefix("irds:")
    assert list(found.documents()) == [Document("a", "one text"), Document("b", "more")]
    assert found.queries == (Query("1", "red"), Query("2", "blue"))
    assert list(found.qrels) == [Qrel("1", "a", 1), Qrel("1", "b", 0)]
    assert list(found.log()) == [LogQuery("1", "red", found.name, ("a",)), LogQuery("2", "blue", found.name)]
    assert found.fingerprint == load(spec).fingerprint != found.fingerprint_of("queries")


def test_positives_come_as_a_stream(register, monkeypatch):
    def judgments(self) -> Iterator[TrecQrel]:
        yield TrecQrel("1", "a", 0, "0")
        yield TrecQrel("1", "b", 1, "0")
        raise AssertionError("read before it was asked for")

    monkeypatch.setattr(Judgments, "qrels_iter", judgments)
    found = load(register(Queries(GenericQuery("1", "red")), Judgments()))
    assert next(found.positives()) == Positive("1", "b")


def test_queries_without_judgments_have_no_positives(register):
    assert list(load(register(Queries(GenericQuery("1", "red")))).positives()) == []


def test_tasks_over_one_corpus_have_the_same_documents():
    docs, topics, name = Docs(GenericDoc("a", "one text")), Queries(GenericQuery("1", "red")), "ringtrue-corpus"
    given = {name: (docs,), f"{name}/train": (docs, topics), f"{name}/other": (Docs(GenericDoc("a", "one")), topics)}
    for one, parts in given.items():
        ir_datasets.registry.register(one, Dataset(*parts))
    try:
        corpus, train, other = (load(f"irds:{one}").fingerprint_of("documents") for one in given)
    finally:
        for one in given:
            del ir_datasets.registry._registered[one]
    assert corpus == train != other


def test_parts_that_a_dataset_does_not_have(register):
    found = load(register(Docs(GenericDoc("a", "one"))))
    assert (found.has_documents, found.has_queries, found.has_qrels) == (True, False, False)


@pytest.mark.parametrize(
    ("record", "document"),
    [
        (TitledDoc("a", "A title", "one text"), Document("a", "one text", "A title")),
        (FieldsDoc("a", "red", "http://x", "one text"), Document("a", "red one text")),
    ],
)
def test_documents_from_whatever_fields_there_are(register, record, document):
    assert list(load(register(Docs(record))).documents()) == [document]


@pytest.mark.parametrize(
    ("record", "query"),
    [
        (TrecQuery("1", "red", "what is red", "only\n red"), Query("1", "red", "what is red", "only red")),
        (KeywordQuery("1", "what is red", "red", "only red"), Query("1", "red", "what is red", "only red")),
    ],
)
def test_queries_from_whatever_fields_there_are(register, record, query):
    assert load(register(Queries(record))).queries == (query,)


def test_of_several_judgments_the_highest_counts(register):
    rows = [TrecQrel("1", "a", grade, "0") for grade in (1, 3, 2)]
    found = load(register(Judgments(*rows)))
    assert list(found.qrels) == [Qrel("1", "a", 3)]
    assert [note.times for note in found.notes] == [2]


def test_unknown_ids_name_the_nearest():
    with pytest.raises(UnknownNameError, match="unknown ir_datasets id 'vaswanni'; did you mean vaswani"):
        load("irds:vaswanni")
    with pytest.raises(UnknownNameError, match=r"known: antique, .* and \d+ more"):
        load("irds:zzzzzz")


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (
            ConnectionError("no route to host"),
            MissingModelError,
            "cannot be downloaded .ConnectionError: no route.*IR_DATASETS_HOME",
        ),
        (RuntimeError("All download sources failed", "x" * 500), MissingModelError, "cannot be downloaded .*…"),
        (
            FileNotFoundError("/data/corpus"),
            MissingModelError,
            "must be fetched by hand; see https://ir-datasets.com/.*/data/corpus",
        ),
        (ValueError("bad line"), InputError, "cannot read .*ValueError: bad line"),
    ],
)
def test_what_cannot_be_had_is_a_clear_error(register, error, kind, message):
    found = load(register(Docs(GenericDoc("a", "one"), error)))
    with pytest.raises(kind, match=message):
        list(found.documents())


def test_explicit_files_come_first(register, tmp_path):
    queries = tmp_path / "queries.tsv"
    queries.write_text("7\tgreen\n")
    spec = register(Queries(GenericQuery("1", "red")), Judgments(TrecQrel("7", "a", 1, "0")))
    found = load(spec, queries=queries)
    assert found.queries == (Query("7", "green"),)
    assert list(found.log()) == [LogQuery("7", "green", "", ("a",))]
    assert list(found.positives()) == [Positive("7", "a")]
    assert found.source.queries(Notes()) == found.queries
