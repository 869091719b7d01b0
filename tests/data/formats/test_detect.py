import json
from pathlib import Path

import pytest

from ringtrue.data.formats.detect import Role, read_queries, role_of
from ringtrue.data.formats.tables import Shape, shape_of
from ringtrue.errors import FormatError

QRELS = "1 0 a 1\n1 0 b 0\n2 0 a 1\n"
RUN = "1 Q0 a 1 12.5 tag\n1 Q0 b 2 -1e-3 tag\n2 Q0 a 1 3 tag\n"
VARIANTS = "301-1-1;red\n301-2-1;blue\n302-1-1;green\n"
LINES = "red\nblue\n"
PAIRS = "1\tred\n2\tblue\n"


@pytest.mark.parametrize(
    ("name", "text", "shape"),
    [
        ("a", "<top><num>1", Shape.MARKUP),
        ("a", "\n<DOC>\n<DOCNO>1", Shape.MARKUP),
        ("a", "<br> tag meaning\nred\n", Shape.PLAIN),
        ("a", '{"_id": "1"}\n', Shape.JSONL),
        ("a", "{x} meaning in maths\n", Shape.PLAIN),
        ("a", "[solved] red\n", Shape.PLAIN),
        ("a.txt", PAIRS, Shape.TSV),
        ("a.tsv", LINES, Shape.TSV),
        ("a.csv", LINES, Shape.CSV),
        ("a", "query_id,text\n1,red\n", Shape.CSV),
        ("a", "android,phone\n", Shape.PLAIN),
        ("a", LINES, Shape.PLAIN),
    ],
)
def test_shapes(tmp_path: Path, name, text, shape):
    path = tmp_path / name
    path.write_text(text)
    assert shape_of(path) is shape


@pytest.mark.parametrize(
    ("name", "text", "role"),
    [
        ("a", "<top><num>1<title>red", Role.QUERIES),
        ("a", "<DOC><DOCNO>1</DOCNO></DOC>", Role.DOCUMENTS),
        ("a", QRELS, Role.QRELS),
        ("a", QRELS.replace(" ", "\t"), Role.QRELS),
        ("a", "query-id\tcorpus-id\tscore\n1\ta\t1\n", Role.QRELS),
        ("a", RUN, Role.RUN),
        ("a", VARIANTS, Role.VARIANTS),
        ("topics.txt", LINES, Role.QUERIES),
        ("docs.txt", LINES, None),
        ("notes.txt", LINES, None),
        ("topics.txt", PAIRS, Role.QUERIES),
        ("passages.tsv", PAIRS, Role.DOCUMENTS),
        ("query-docs.tsv", PAIRS, None),
        ("a.tsv", PAIRS, None),
        ("qrels.one", "1 0 a 1\n", None),
        ("a", json.dumps({"docid": "a", "contents": "x"}), Role.DOCUMENTS),
        ("a", json.dumps({"qid": "a", "query": "x"}), Role.QUERIES),
        ("corpus.jsonl", json.dumps({"_id": "a", "text": "x"}), Role.DOCUMENTS),
        ("queries.jsonl", json.dumps({"_id": "a", "text": "x"}), Role.QUERIES),
        ("a.jsonl", json.dumps({"_id": "a", "text": "x"}), None),
        ("groups.csv", "run,group\na,b\n", None),
        ("a.json", '{\n  "a": 1\n}\n', None),
        ("a.bin", "\0\1\2", None),
        ("a", "", None),
        ("few.txt", "q1 0 d1 1\nq2 Q0 d2 0\n", Role.QRELS),
        ("few.txt", "top 10 songs 1990\n", None),
    ],
)
def test_roles(tmp_path: Path, name, text, role):
    path = tmp_path / name
    path.write_text(text)
    assert role_of(path) is role


def test_one_query_may_look_like_a_judgment(tmp_path: Path):
    path = tmp_path / "queries"
    path.write_text("top 10 songs 1990\n")
    assert read_queries(path)[0].title == "top 10 songs 1990"


@pytest.mark.parametrize("text", [RUN, VARIANTS, QRELS])
def test_other_files_are_not_taken_for_queries(tmp_path: Path, text):
    path = tmp_path / "queries"
    path.write_text(text)
    with pytest.raises(FormatError, match="not queries"):
        read_queries(path)


def test_real_files(shared: Path):
    roles = {
        "leakage/nyt-common-core-2017-bm25.run.gz": Role.RUN,
        "leakage/robust04-query-variants.txt": Role.VARIANTS,
        "leakage/qrels.core17.txt": Role.QRELS,
        "subsampling/trec-covid-round1/qrels.txt": Role.QRELS,
        "subsampling/trec-covid-round1/topics.xml": Role.QUERIES,
        "subsampling/trec-covid-round1/leaderboard.csv": None,
        "subsampling/trec-covid-round1/expected.json": None,
        "collections/cranfield/cran.all.1400.xml": Role.DOCUMENTS,
        "collections/dl19-judged/passages.dl19.tsv.gz": Role.DOCUMENTS,
        "collections/dl19-judged/topics.filtered.dl19.txt": Role.QUERIES,
    }
    assert {name: role_of(shared / name) for name in roles} == roles
