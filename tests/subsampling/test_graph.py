from __future__ import annotations

import gzip
import math
from pathlib import Path

import numpy as np
import pytest

from ringtrue.data.collection import Collection
from ringtrue.data.load import load
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Document, Qrel, Query
from ringtrue.data.runs import Run, RunSet
from ringtrue.errors import FormatError, InputError
from ringtrue.retrieval.bm25 import BM25
from ringtrue.subsampling.campaign import Campaign
from ringtrue.subsampling.graph import (
    Completeness,
    Graph,
    build_graph,
    completeness,
    neighbours,
    read_graph,
    write_graph,
)
from ringtrue.subsampling.samplers.neighbours import Neighbours

LISTS = {"a": ["b", "c", "d"], "b": ["a", "e"], "f": []}


def same(one: Graph, other: Graph) -> bool:
    arrays = ((one.source, other.source), (one.neighbours, other.neighbours))
    return one.docs == other.docs and all(np.array_equal(*pair) for pair in arrays)


def test_neighbours_are_what_bm25_finds_for_the_text():
    collection = load("builtin:lighthouse")
    documents = list(collection.documents())
    some = documents[::40]
    graph = build_graph(collection, [document.doc_id for document in some], k=6)
    run = BM25(depth=7).rank(collection, [Query(document.doc_id, document.body) for document in some])
    for document in some:
        expected = [line.doc_id for line in run.ranking(document.doc_id) if line.doc_id != document.doc_id][:6]
        assert list(graph.nearest(document.doc_id)) == expected
    assert graph.k == 6


def test_the_terms_of_the_highest_tf_idf():
    texts = {"1": "tin tin tin copper of of of of", "2": "copper zinc of", "3": "tin of", "4": "copper copper of"}
    collection = Collection.from_records("metals", [Document(*pair) for pair in texts.items()])
    assert math.log(4 / 2) * 3 > math.log(4 / 3)
    assert build_graph(collection, ["1"], k=3, terms=1).nearest("1") == ("3",), "tin alone"
    assert set(build_graph(collection, ["1"], k=3, terms=2).nearest("1")) == {"2", "3", "4"}, "tin and copper"


def test_documents_that_the_corpus_lacks_are_listed():
    collection = Collection.from_records("two", [Document("1", "red fox"), Document("2", "red hen")])
    told = []
    graph = build_graph(collection, ["2", "1", "9", "1"], k=5, progress=lambda *both: told.append(both))
    assert graph.lacking == ("9",)
    assert (graph.nearest("1"), graph.nearest("9")) == (("2",), ())
    assert told == [(1, 3), (2, 3), (3, 3)]
    with pytest.raises(InputError, match="k is 0"):
        build_graph(collection, ["1"], k=0)


@pytest.mark.parametrize("name", ["graph.jsonl", "graph.jsonl.gz"])
def test_a_graph_is_read_as_it_was_written(tmp_path: Path, name):
    graph = Graph.from_lists(LISTS)
    write_graph(tmp_path / name, graph)
    assert same(read_graph(tmp_path / name), graph)
    before = (tmp_path / name).read_bytes()
    write_graph(tmp_path / name, graph)
    assert (tmp_path / name).read_bytes() == before
    if name.endswith("gz"):
        assert gzip.decompress(before).startswith(b'{"doc_id": "a", "neighbours": ["b", "c", "d"]}\n')


@pytest.mark.parametrize("line", ["[]", '{"doc_id": "x"}', "nothing", '{"doc_id": "a", "neighbours": []}'])
def test_broken_graphs(tmp_path: Path, line):
    path = tmp_path / "graph.jsonl"
    path.write_text(f'{{"doc_id": "a", "neighbours": ["b"]}}\n{line}\n')
    with pytest.raises(FormatError, match="line 2"):
        read_graph(path)


def test_neighbours_of_several():
    graph = Graph.from_lists(LISTS)
    assert neighbours(graph, ["a", "b", "f", "nowhere"], 2) == ("a", "b", "c", "e")
    assert neighbours(graph, ["a"], 1) == ("b",)
    assert neighbours(graph, [], 3) == ()
    assert neighbours(graph, ["a"], 0) == ()
    with pytest.raises(InputError, match="holds 3 a document"):
        neighbours(graph, ["a"], 4)


def test_completeness():
    graph = Graph.from_lists({"r1": ["r2", "x", "r3"], "r2": ["r4"], "r3": [], "r4": []})
    found = completeness(graph, {"r1", "n"}, {"r1", "r2", "r3", "r4"}, (0, 1, 3))
    assert found == (Completeness(0, 2, 0, 1, 4), Completeness(1, 3, 1, 2, 4), Completeness(3, 5, 3, 3, 4))
    assert [one.share for one in found] == [0.25, 0.5, 0.75]
    assert math.isnan(completeness(graph, {"r1"}, set(), (0,))[0].share)


def test_completeness_grows_with_k_on_real_text(shared: Path):
    folder = shared / "collections" / "vaswani"
    collection = load(documents=folder / "doc-text.trec", qrels=folder / "qrels")
    relevant = sorted({doc for doc in collection.qrels.docs})[::12]
    graph = build_graph(collection, relevant, k=15, terms=30)
    found = completeness(graph, set(relevant[::2]), set(relevant))
    assert [one.k for one in found] == [0, 5, 10, 15]
    shares = [one.share for one in found]
    assert shares == sorted(shares)
    assert shares[0] == pytest.approx(0.5, abs=0.01)
    assert shares[-1] > shares[0] + 0.05


def campaign() -> Campaign:
    results = {
        "g1": {"1": ["r1", "n1", "n2"], "2": ["r2", "n1"]},
        "g2": {"1": ["r3", "n3"], "2": ["n4", "n1"]},
        "g3": {"1": ["n5", "r1"], "2": ["n6", "n7", "x"]},
    }
    runs = [
        Run.from_results(
            name, {topic: [(doc, -place) for place, doc in enumerate(docs)] for topic, docs in run.items()}
        )
        for name, run in results.items()
    ]
    grades = {("1", "r1"): 1, ("1", "r3"): 2, ("2", "r2"): 1, ("1", "n1"): 0, ("2", "gone"): 1}
    qrels = Qrels.from_records(Qrel(*pair, grade) for pair, grade in grades.items())
    return Campaign.from_runs(RunSet.from_runs(runs), qrels, list(results))


def names(one: Campaign, chosen: np.ndarray) -> set[str]:
    return {doc for doc, kept in zip(one.runs.docs, chosen.tolist(), strict=True) if kept}


@pytest.fixture
def graph_file(tmp_path: Path) -> Path:
    path = tmp_path / "graph.jsonl"
    write_graph(path, Graph.from_lists({"r1": ["n5", "out1", "n7"], "r2": ["n6"], "r3": ["x", "r1", "out2"]}))
    return path


def test_the_sampler_adds_neighbours_of_relevant_documents(graph_file: Path):
    one = campaign()
    sampler = Neighbours(k=1, graph=graph_file, base="pool:depth=1")
    pool = {"r1", "r2", "r3", "n4", "n5", "n6"}
    assert names(one, sampler.sample(one.without())) == pool | {"n5", "n6", "x"}
    assert names(one, sampler.sample(one.without(1))) == {"r1", "r2", "n5", "n6"}, "r3 is the left-out group's alone"


def test_neighbours_that_no_run_has_are_named(graph_file: Path):
    one = campaign()
    assert Neighbours(k=3, graph=graph_file).outside(one.without()) == ("out1", "out2")
    assert Neighbours(k=3, graph=graph_file).outside(one.without(1)) == ("out1",)
    assert Neighbours(k=1, graph=graph_file).outside(one.without()) == ()


def test_the_base_may_have_options_of_its_own(graph_file: Path):
    one = campaign()
    sampler = Neighbours(k=0, graph=graph_file, base="loft:size=4;seed=7")
    assert len(names(one, sampler.sample(one.without()))) == 4
    with pytest.raises(InputError, match="did you mean pool"):
        Neighbours(graph=graph_file, base="pol").sample(one.without())


def test_without_a_graph():
    with pytest.raises(InputError, match="needs a corpus graph"):
        Neighbours().sample(campaign().without())


def test_a_graph_that_changed_is_read_again(graph_file: Path):
    import os

    one, sampler = campaign(), Neighbours(k=1, graph=graph_file)
    before = names(one, sampler.sample(one.without()))
    write_graph(graph_file, Graph.from_lists({"r1": ["n7"]}))
    os.utime(graph_file, ns=(1, 1))
    assert names(one, sampler.sample(one.without())) - before == {"n7"}


def test_a_graph_of_another_collection(tmp_path: Path):
    write_graph(tmp_path / "other.jsonl", Graph.from_lists({"z1": ["z2"]}))
    one = campaign()
    with pytest.raises(InputError, match=r"none of the 3 relevant documents of the runs \(r1, …\); is it of another"):
        Neighbours(k=1, graph=tmp_path / "other.jsonl").sample(one.without())
