import pytest

from ringtrue.data.formats import checks
from ringtrue.data.formats.checks import distinct_documents
from ringtrue.data.notes import Notes
from ringtrue.data.records import Document
from ringtrue.errors import FormatError


def rows(documents):
    return enumerate(documents, 1)


def test_repeated_documents_are_given_once():
    notes = Notes()
    documents = [Document("a", "x"), Document("b", "y"), Document("a", "x"), Document("c", "x")]
    found = list(distinct_documents(rows(documents), "file", notes))
    assert [document.doc_id for document in found] == ["a", "b", "c"]
    assert [tuple(note) for note in notes] == [("repeated documents counted once", 1, "file, line 3")]


@pytest.mark.parametrize("second", [Document("a", "z"), Document("a", "x", "title")])
def test_another_text_under_a_known_id_is_an_error(second):
    documents = [Document("a", "x"), Document("b", "y"), second]
    with pytest.raises(FormatError, match="file, line 3: document id 'a' was used before, for another text"):
        list(distinct_documents(rows(documents), "file", Notes()))


def test_no_documents_is_an_error():
    with pytest.raises(FormatError, match="no documents"):
        list(distinct_documents(iter(()), "file", Notes()))


def test_the_first_document_does_not_wait_for_the_last():
    taken = []

    def slow():
        for number in range(100_000):
            taken.append(number)
            yield number, Document(str(number), "x")

    assert next(distinct_documents(slow(), "file", Notes())).doc_id == "0"
    assert len(taken) < 100


def test_repetition_is_found_in_packed_ids(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(checks, "_RECENT", 50)
    documents = [Document(str(number), f"text {number}") for number in range(3000)]
    notes = Notes()
    found = list(distinct_documents(rows(documents + documents[::7]), "file", notes))
    assert found == documents
    assert [note.times for note in notes] == [len(documents[::7])]
    with pytest.raises(FormatError, match="line 3001: document id '17'"):
        list(distinct_documents(rows([*documents, Document("17", "other")]), "file", Notes()))


def test_documents_without_text_are_kept_and_counted():
    notes = Notes()
    documents = [Document("a", ""), Document("b", "", "title"), Document("c", "")]
    assert list(distinct_documents(rows(documents), "file", notes)) == documents
    assert [tuple(note) for note in notes] == [("documents without any text, kept", 2, "file, line 1")]
