"""PyTerrier pipelines as rankers, with transformers that need no Java."""

from __future__ import annotations

import pytest

pt = pytest.importorskip("pyterrier")
pd = pytest.importorskip("pandas")

from ringtrue.data.collection import Collection  # noqa: E402
from ringtrue.data.records import Document, Query  # noqa: E402
from ringtrue.data.runs import Run  # noqa: E402
from ringtrue.errors import InputError  # noqa: E402
from ringtrue.retrieval.bm25 import BM25  # noqa: E402
from ringtrue.retrieval.pipeline import Pipeline, family, parse_ranker  # noqa: E402
from ringtrue.retrieval.rankers.pyterrier import PyTerrier, Transformed, plain  # noqa: E402

TEXTS = {"d1": "red fox in snow", "d2": "red lamp", "d3": "fox and dog", "d4": "snow on a lamp"}
QUERIES = (Query("q1", "red fox?"), Query("q2", "lamp"))
COLLECTION = Collection.from_records("toy", [Document(*item) for item in TEXTS.items()], QUERIES)


def found(rows):
    """A retriever that returns the same rows whatever it is asked."""
    return pt.apply.generic(lambda frame: pd.DataFrame(rows, columns=["qid", "docno", "score"]), transform_outputs=None)


def overlap(row) -> float:
    return float(len(set(row["query"].split()) & set(row["text"].split())))


every = pt.apply.generic(
    lambda frame: frame.merge(pd.DataFrame(list(TEXTS.items()), columns=["docno", "text"]), how="cross").assign(
        score=0.0, rank=0
    )
)


def test_a_pipeline_with_its_own_operators_gives_the_run_that_pyterrier_gives():
    pipeline = every >> pt.apply.doc_score(overlap) % 2
    run = Transformed(pipeline, "mine").rank(COLLECTION, QUERIES)
    assert run.name == "mine"
    assert [(line.doc_id, line.score) for line in run.ranking("q1")] == [("d1", 2.0), ("d2", 1.0)]
    frame = pipeline(pd.DataFrame([["q1", "red fox"], ["q2", "lamp"]], columns=["qid", "query"]))
    theirs = {(row.qid, row.docno, row.score) for row in frame.itertuples()}
    assert {tuple(line) for ranking in run.rankings.values() for line in ranking} == theirs


def test_candidates_are_handed_on_as_re_rankers_expect_them():
    seen = []

    def look(frame):
        seen.append(frame)
        return frame.assign(score=-frame["score"])

    ranker = BM25() % 2 >> Transformed(pt.apply.generic(look), "turned")
    assert isinstance(ranker, Pipeline) and repr(ranker) == "bm25 % 2 >> turned"
    run = ranker.rank(COLLECTION, QUERIES)
    first = (BM25() % 2).rank(COLLECTION, QUERIES)
    assert list(seen[0].columns) == ["qid", "query", "docno", "text", "score", "rank"]
    rows = seen[0][seen[0]["qid"] == "q1"]
    assert rows["rank"].tolist() == [0, 1]
    assert rows["query"].tolist() == ["red fox"] * 2
    assert rows["text"].tolist() == [TEXTS[doc] for doc in rows["docno"]]
    assert [line.doc_id for line in run.ranking("q1")] == [line.doc_id for line in first.ranking("q1")][::-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what's a 4-inch (red) fox?", "what s a 4 inch red fox"),
        ("caf\u00e9 na\u0308ive", "caf\u00e9 na\u0308ive"),
        ("हिन्दी में", "हिन्दी में"),
        ("\ud800 ?!", ""),
        ("a_b", "a b"),
    ],
)
def test_queries_are_escaped_for_terriers_language(text, expected):
    assert plain(text) == expected


def test_escaping_can_be_left_to_the_pipeline():
    seen = []
    keep = pt.apply.generic(lambda frame: seen.extend(frame["query"]) or frame.assign(docno="d1", score=1.0))
    Transformed(keep, escape=False).rank(COLLECTION, QUERIES[:1])
    assert seen == ["red fox?"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("q1", "d1", float("nan"))], "has the score nan"),
        ([("q1", "d1", 1.0), ("q1", "d1", 2.0)], "returns document 'd1' of query 'q1' 2 times"),
        ([("q7", "d1", 1.0)], "for 'q7', which was no query"),
    ],
)
def test_what_is_no_ranking_is_refused(rows, message):
    with pytest.raises(InputError, match=message):
        Transformed(found(rows), "odd").rank(COLLECTION, QUERIES)


def test_a_pipeline_that_ends_in_queries_is_refused():
    with pytest.raises(InputError, match="ranker rewrite returns no column docno, but qid, query"):
        Transformed(pt.apply.generic(lambda frame: frame), "rewrite").rank(COLLECTION, QUERIES)


def test_documents_that_were_no_candidates_need_a_word():
    candidates = Run.from_results("given", {"q1": [("d1", 1.0)]})
    more = found([("q1", "d3", 1.0)])
    with pytest.raises(InputError, match=r"'d3' for query 'q1', which was no candidate; .* set adds=true"):
        Transformed(more, "more").rank(COLLECTION, QUERIES, candidates)
    assert Transformed(more, "more", adds=True).rank(COLLECTION, QUERIES, candidates).topics == ("q1",)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pipelines.py"
    path.write_text(
        "import pandas as pd\nimport pyterrier as pt\nmade = []\nnumber = 3\n"
        "one = pt.apply.generic(lambda frame: frame.assign(docno='d1', score=1.0, rank=0))\n"
        "def built(collection):\n"
        "    made.append(collection.name)\n"
        "    first = next(collection.documents()).doc_id\n"
        "    return pt.apply.generic(lambda frame: frame.assign(docno=first, score=float(len(made)), rank=0))\n",
        encoding="utf-8",
    )
    return path


def test_by_name_of_a_file(file):
    ranker = parse_ranker(f"pyterrier:{file}:one % 10")
    assert [line.doc_id for line in ranker.rank(COLLECTION, QUERIES).ranking("q2")] == ["d1"]
    assert family(ranker) == "pyterrier"
    assert parse_ranker(repr(ranker)) == ranker
    assert repr(ranker) == f"pyterrier:{file}:one % 10"
    odd = PyTerrier("a=b.py:one", escape=False)
    assert parse_ranker(repr(odd)) == odd


def test_a_function_is_given_the_collection_once(file):
    ranker = PyTerrier(f"{file}:built")
    scores = [ranker.rank(COLLECTION, QUERIES).ranking("q1")[0].score for _ in range(3)]
    assert scores == [1.0, 1.0, 1.0]


def test_by_name_of_a_module(file, monkeypatch):
    monkeypatch.syspath_prepend(file.parent)
    assert PyTerrier("pipelines:one").rank(COLLECTION, QUERIES).topics == ("q1", "q2")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("one", "needs a pipeline, not 'one'"),
        ("", "write pyterrier:MODULE:ATTRIBUTE"),
        ("{folder}/nothing.py:one", "cannot import .*nothing.py: FileNotFoundError"),
        ("no_such_module:one", "cannot import no_such_module: ModuleNotFoundError.*no_such_module.py:ATTRIBUTE"),
        ("{folder}/pipelines.py:two", "has no attribute 'two'"),
        ("{folder}/pipelines.py:number", "is int; it should be a PyTerrier transformer"),
    ],
)
def test_names_that_lead_nowhere(file, name, message):
    with pytest.raises(InputError, match=message):
        PyTerrier(name.format(folder=file.parent)).rank(COLLECTION, QUERIES)
