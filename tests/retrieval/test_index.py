from __future__ import annotations

import numpy as np
import pytest

from ringtrue.data.collection import Collection
from ringtrue.data.records import Document, Query
from ringtrue.errors import InputError
from ringtrue.retrieval import index as index_module
from ringtrue.retrieval.analysis import Analyser
from ringtrue.retrieval.index import open_index

PLAIN = Analyser("none")


def contents(index):
    arrays = (index.lengths, index.frequencies, *index.by_term, *index.by_doc)
    return [list(map(index.docs.__getitem__, range(index.documents))), *(array.tolist() for array in arrays)]


def test_worked_example(fruit):
    index = open_index(fruit, PLAIN)
    assert (index.documents, index.tokens, index.average_length) == (4, 10, 2.5)
    assert [index.terms[term] for term in range(len(index.terms))] == ["apple", "banana", "cherry", "date", "egg"]
    apple = index.postings(0)
    assert (apple.docs.tolist(), apple.tf.tolist(), apple.lengths.tolist()) == ([0, 2], [2.0, 1.0], [3.0, 4.0])
    assert (apple.document_frequency, apple.collection_frequency) == (2, 3)
    terms, counts = index.terms_of(2)
    assert (terms.tolist(), counts.tolist()) == ([0, 2, 3], [1, 2, 1])
    assert index.document_frequencies(np.array([0, 4])).tolist() == [2, 1]
    assert index.count(["cherry", "cherry", "fig", "egg"]) == {2: 2.0, 4: 1.0}


@pytest.mark.parametrize("among", [[], [0], [1, 3], [0, 1, 2, 3], [2, 3]])
def test_postings_among_documents(fruit, among):
    index = open_index(fruit, PLAIN)
    for term in range(len(index.terms)):
        whole, some = index.postings(term), index.postings(term, np.array(among, dtype=np.int64))
        kept = np.isin(whole.docs, among)
        assert some.docs.tolist() == whole.docs[kept].tolist()
        assert some.tf.tolist() == whole.tf[kept].tolist()
        assert some.document_frequency == whole.document_frequency


def test_the_order_of_the_documents_does_not_matter(collect, fruit, monkeypatch, tmp_path):
    expected = contents(open_index(fruit, PLAIN))
    monkeypatch.setenv("RINGTRUE_CACHE", str(tmp_path))
    turned = collect({document.doc_id: document.text for document in reversed(list(fruit.documents()))})
    assert contents(open_index(turned, PLAIN)) == expected


def test_batches_do_not_matter(fruit, monkeypatch, tmp_path):
    expected = contents(open_index(fruit, PLAIN))
    monkeypatch.setenv("RINGTRUE_CACHE", str(tmp_path))
    monkeypatch.setattr(index_module, "_BATCH", 3)
    assert contents(open_index(fruit, PLAIN)) == expected


def test_built_once_for_each_analyser_and_mapped(fruit, own_cache):
    first = open_index(fruit, PLAIN)
    again = open_index(fruit.with_queries([Query("other", "topics")]), PLAIN)
    assert again.folder == first.folder
    assert isinstance(again.by_term.items.base, np.memmap)
    assert open_index(fruit, Analyser("porter")).folder != first.folder
    assert open_index(fruit.subset(["d1", "d2"]), PLAIN).documents == 2
    assert len(list((own_cache / "lexical").iterdir())) == 3


def test_nothing_is_pickled(fruit):
    for path in open_index(fruit, PLAIN).folder.iterdir():
        assert np.load(path, allow_pickle=False).dtype.kind in "iu"


def test_empty_collections_and_documents(collect):
    empty = open_index(collect({}), PLAIN)
    assert (empty.documents, empty.tokens, len(empty.terms)) == (0, 0, 0)
    index = open_index(collect({"a": "", "b": "word", "c": "?!"}), PLAIN)
    assert (index.documents, index.lengths.tolist()) == (3, [0, 1, 0])


def test_titles_are_indexed_with_the_text():
    index = open_index(Collection.from_records("one", [Document("d", "text", "Title")]), PLAIN)
    assert [index.terms[term] for term in range(len(index.terms))] == ["text", "title"]


def test_an_id_twice_is_an_error(fruit, monkeypatch):
    twice = [*fruit.documents(), *fruit.documents()]
    monkeypatch.setattr(Collection, "documents", lambda self: iter(twice))
    with pytest.raises(InputError, match="'texts' has document id 'd1' twice"):
        open_index(fruit, PLAIN)


def test_an_unknown_candidate_is_an_error(fruit):
    with pytest.raises(InputError, match="candidate document 'd9' is not in collection 'texts'"):
        open_index(fruit, PLAIN).numbers(["d1", "d9"])
