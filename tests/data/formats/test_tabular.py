import csv
import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringtrue.data.formats.detect import read_documents, read_log, read_qrels, read_queries
from ringtrue.data.formats.tabular import write_log
from ringtrue.data.notes import Notes
from ringtrue.data.records import Document, LogQuery, Qrel, Query
from ringtrue.errors import FormatError


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def put_parquet(folder: Path, columns: dict[str, list[object]]) -> Path:
    path = folder / "table.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def jsonl(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("name", "text", "ids"),
    [
        ("q.tsv", "1\tred wine\n2\tblue sky\n", "12"),
        ("q.tsv", "1\tred wine\tweb\n2\tblue sky\tbooks\n", "12"),
        ("q.tsv", "query_id\ttext\tsource\n1\tred wine\tweb\n2\tblue sky\t\n", "12"),
        ("q.tsv", "source\tquery\tqid\nweb\tred wine\t1\nweb\tblue sky\t2\n", "12"),
        ("q.csv", 'query_id,text\n1,red wine\n2,"blue sky"\n', "12"),
        ("q", "qid,query\n1,red wine\n2,blue sky\n", "12"),
        ("q.jsonl", jsonl({"_id": "1", "text": "red wine"}, {"_id": "2", "text": "blue sky"}), "12"),
        ("q", jsonl({"query_id": 1, "query": "red wine"}, {"query_id": 2, "query": "blue sky"}), "12"),
        ("q", jsonl({"id": "1", "title": "red wine"}, {"qid": "2", "text": " blue sky "}), "12"),
        ("q.txt", "red wine\nblue sky\n", "12"),
        ("q.txt", "red wine\n\nblue sky", "13"),
        ("q.txt", "\ufeffred wine\r\nblue sky\r\n", "12"),
    ],
)
def test_queries_in_any_table(tmp_path: Path, name, text, ids):
    assert read_queries(put(tmp_path, name, text)) == (Query(ids[0], "red wine"), Query(ids[1], "blue sky"))


def test_queries_in_parquet(tmp_path: Path):
    path = put_parquet(tmp_path, {"Query_ID": [1, 2], "other": [None, 3], "text": ["red wine", "blue sky"]})
    assert read_queries(path) == (Query("1", "red wine"), Query("2", "blue sky"))


def test_all_fields_of_queries_are_read(tmp_path: Path):
    row = {"_id": "1", "text": "t", "description": "d", "narrative": "n", "variants": ["v", None, "w"], "metadata": {}}
    assert read_queries(put(tmp_path, "q", jsonl(row))) == (Query("1", "t", "d", "n", ("v", "w")),)
    path = put_parquet(tmp_path, {"qid": ["1"], "title": ["t"], "desc": ["d"], "narr": [None], "variants": [["v"]]})
    assert read_queries(path) == (Query("1", "t", "d", "", ("v",)),)


def test_csv_cells_may_hold_commas_quotes_and_line_ends(tmp_path: Path):
    path = put(tmp_path, "q.csv", 'id,text\n1,"a, ""b""\nc"\n2,d\n')
    assert read_queries(path) == (Query("1", 'a, "b"\nc'), Query("2", "d"))


def test_tsv_has_no_quotes_and_keeps_rare_line_ends(tmp_path: Path):
    path = put(tmp_path, "q", '1\t"open quote\x85here\n2\tb\n')
    assert read_queries(path) == (Query("1", '"open quote\x85here'), Query("2", "b"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("d.tsv", "a\tone text\tA title\nb\tmore\n"),
        ("d.tsv", "docid\ttitle\tcontents\na\tA title\tone text\nb\t\tmore\n"),
        ("d.jsonl", jsonl({"_id": "a", "title": "A title", "text": "one text"}, {"_id": "b", "text": "more"})),
        ("d", jsonl({"docno": "a", "title": "A title", "body": "one text"}, {"id": "b", "contents": "more"})),
        (
            "d",
            jsonl(
                {"pid": "a", "docid": "z", "title": "A title", "passage": "one text"}, {"pid": "b", "passage": "more"}
            ),
        ),
        ("d.csv", "doc_id,text,title\na,one text,A title\nb,more,\n"),
    ],
)
def test_documents_in_any_table(tmp_path: Path, name, text):
    found = list(read_documents(put(tmp_path, name, text)))
    assert found == [Document("a", "one text", "A title"), Document("b", "more")]


def test_documents_in_parquet(tmp_path: Path):
    path = put_parquet(tmp_path, {"docid": ["a", "b"], "text": ["one", None]})
    assert list(read_documents(path)) == [Document("a", "one"), Document("b", "")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("test.tsv", "query-id\tcorpus-id\tscore\n1\ta\t2\n1\tb\t0\n"),
        ("q.csv", "query_id,doc_id,relevance\n1,a,2\n1,b,0\n"),
        ("q.tsv", "qid\titeration\tdocno\trel\n1\t0\ta\t2\n1\t0\tb\t0\n"),
        (
            "q.jsonl",
            jsonl({"query-id": 1, "corpus-id": "a", "score": 2}, {"query-id": "1", "corpus-id": "b", "score": 0.0}),
        ),
        ("q", "1 0 a 2\n1 0 b 0\n"),
        ("q.tsv", "1\t0\ta\t2\n1\t0\tb\t0\n"),
    ],
)
def test_qrels_in_any_table(tmp_path: Path, name, text):
    assert list(read_qrels(put(tmp_path, name, text))) == [Qrel("1", "a", 2), Qrel("1", "b", 0)]


def test_qrels_in_parquet(tmp_path: Path):
    path = put_parquet(tmp_path, {"query-id": [1, 1], "corpus-id": ["a", "b"], "score": [2, -1]})
    assert list(read_qrels(path)) == [Qrel("1", "a", 2), Qrel("1", "b", -1)]


def test_a_log_is_read_line_by_line(tmp_path: Path):
    path = put(tmp_path, "log.tsv", "1\tred wine\tweb\n\n2\tblue sky\n1\tagain\tweb\n3\t\tweb\n4\t \tweb\n")
    notes = Notes()
    assert list(read_log(path, notes)) == [
        LogQuery("1", "red wine", "web"),
        LogQuery("2", "blue sky"),
        LogQuery("1", "again", "web"),
    ]
    (note,) = notes
    assert (note.what, note.times) == ("lines without text skipped", 3)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("log.jsonl", jsonl({"_id": "1", "text": "red", "source": "web", "doc_ids": ["a", "b"]})),
        ("log.csv", "query_id,text,source,doc_ids\n1,red,web,a b\n"),
        ("log.tsv", "query_id\ttext\tsource\tpositives\n1\tred\tweb\ta b\n"),
    ],
)
def test_logs_may_name_their_documents(tmp_path: Path, name, text):
    assert list(read_log(put(tmp_path, name, text))) == [LogQuery("1", "red", "web", ("a", "b"))]


def test_plain_lines_and_topics_are_logs_too(tmp_path: Path):
    assert list(read_log(put(tmp_path, "log", "red\nblue\n"))) == [LogQuery("1", "red"), LogQuery("2", "blue")]
    topics = put(tmp_path, "topics", "<top><num>7<title>red</top>")
    assert list(read_log(topics)) == [LogQuery("7", "red")]
    assert list(read_log(put_parquet(tmp_path, {"id": [1], "query": ["red"]}))) == [LogQuery("1", "red")]


def test_long_lines_of_a_log_are_counted_and_kept(tmp_path: Path):
    text = "x" * 100_001
    for name, content in (
        ("tsv", f"1\t{text}\tweb\n"),
        ("txt", f"{text}\n"),
        ("jsonl", jsonl({"_id": "1", "text": text})),
    ):
        notes = Notes()
        (entry,) = read_log(put(tmp_path, name, content), notes)
        assert entry.text == text
        assert [note.what for note in notes] == ["lines over 100,000 characters"]


def test_real_log(shared: Path):
    notes = Notes()
    log = list(read_log(shared / "leakage/query-log.tsv", notes))
    assert (len(log), len(notes)) == (74_411, 0)
    assert len({entry.source for entry in log}) == 15
    assert all(entry.text and not entry.doc_ids for entry in log)


def test_real_passages_with_repeated_lines(shared: Path):
    notes = Notes()
    found = list(read_documents(shared / "collections/dl19-judged/passages.dl19.tsv.gz", notes))
    assert len(found) == len({document.doc_id for document in found}) == 9_139
    assert [(note.what, note.times) for note in notes] == [("repeated documents counted once", 121)]


def test_blank_lines_in_json_lines_are_counted(tmp_path: Path):
    notes = Notes()
    path = put(tmp_path, "q", '{"_id": "1", "text": "a"}\n\n \n{"_id": "2", "text": "b"}\n\n')
    assert len(read_queries(path, notes)) == 2
    assert [note.times for note in notes] == [3]


def test_halves_of_characters_are_replaced(tmp_path: Path):
    notes = Notes()
    path = put(tmp_path, "q", '{"_id": "1", "text": "a \\ud83d b \\ud83d\\ude00", "variants": ["\\uDE00"]}\n')
    assert read_queries(path, notes) == (Query("1", "a \ufffd b 😀", variants=("\ufffd",)),)
    assert [note.times for note in notes] == [1]


def test_nul_is_replaced_where_only_json_can_hold_it(tmp_path: Path):
    notes = Notes()
    path = put(tmp_path, "q", '{"_id": "1", "text": "a \\u0000\\u0000 b", "variants": ["c\\\\u0000"]}\n')
    assert read_queries(path, notes) == (Query("1", "a \ufffd\ufffd b", variants=("c\\u0000",)),)
    assert [note.times for note in notes] == [1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"_id": "1", "text": "a"}\n{"_id": "2", "text": "b"}\n{"_id": "3"', "line 3: not valid JSON"),
        ('{"_id": "1", "text": ["a"]}\n', r"line 1: the query text should be text, not \"\['a'\]\""),
        ('{"_id": "1", "text": [{}\n{"b": 1}]}\n', "line 1: not valid JSON"),
        ('{"_id": "1", "text": "a"} {"_id": "2", "text": "b"}\n', "line 1: not valid JSON: Extra data"),
        ('{"_id": "1", "text": "a"}\n["b"]\n', r"line 2: a JSON object is expected on each line, not '\[\"b\"\]'"),
        ('{"_id": "1", "text": "a"}\n{"text": "b"}\n', "line 2: no query id: found text; expected _id or query_id"),
        (
            '{"_id": "1", "question": "b"}\n',
            "line 1: no query text: found _id, question; expected text or query or title",
        ),
        ('{"_id": "1", "text": ""}\n', "line 1: query '1' has no text"),
        ('{"_id": null, "text": "b"}\n', "line 1: the query id should be text or a whole number, not None"),
        ('{"_id": " ", "text": "b"}\n', "line 1: the query id should be text or a whole number, not ' '"),
        ('{"_id": true, "text": "b"}\n', "not True"),
        ('{"_id": "1", "text": "b", "variants": "v"}\n', "line 1: a list is expected, not 'v'"),
        ('{"_id": "1", "text": "a"}\n{"_id": "1", "text": "b"}\n', "line 2: query id '1' was used before, in line 1"),
        ('{"_id": 1' + "0" * 5000 + "}\n", "line 1: not usable JSON"),
        ('{"a": ' + "[" * 100_000 + "\n", "line 1: not usable JSON"),
        ('[{"_id": "1", "text": "a"}]', "JSON array: jq"),
    ],
)
def test_broken_json_lines(tmp_path: Path, text, message):
    with pytest.raises(FormatError, match=message):
        read_queries(put(tmp_path, "q.jsonl", text))


@pytest.mark.parametrize("names", ["qid\tquestion", "Query_ID\tquery_string\tsource"])
def test_a_header_without_a_known_name_for_the_text_is_no_query(tmp_path: Path, names):
    path = put(tmp_path, "q.tsv", f"{names}\n1\tred wine\n")
    for read in (read_queries, lambda path: list(read_log(path))):
        with pytest.raises(
            FormatError, match=r"line 1: no query text: found (qid|query_id), .*; expected text or query"
        ):
            read(path)


@pytest.mark.parametrize("name", ["q.tsv", "q.csv"])
def test_blank_lines_before_a_header(tmp_path: Path, name):
    text = "\n\nquery_id,text\n1,red wine\n"
    path = put(tmp_path, name, text.replace(",", "\t") if name == "q.tsv" else text)
    assert read_queries(path) == (Query("1", "red wine"),)
    assert [entry.text for entry in read_log(path)] == ["red wine"]


def test_queries_without_a_title_keep_their_other_texts_and_are_counted(tmp_path: Path):
    rows = ({"_id": "1", "description": "d"}, {"_id": "2", "text": " ", "variants": ["v"]}, {"_id": "3", "text": ""})
    notes = Notes()
    found = read_queries(put(tmp_path, "q.jsonl", jsonl(*rows)), notes)
    assert found == (Query("1", "", "d"), Query("2", "", variants=("v",)), Query("3", ""))
    assert [(note.what, note.times) for note in notes] == [
        ("queries without a title, with other texts", 2),
        ("queries without any text", 1),
    ]
    table = put(tmp_path, "q.csv", "id,title,description\n1,,what is it\n")
    assert read_queries(table) == (Query("1", "", "what is it"),)
    assert read_queries(put(tmp_path, "q.tsv", "1\ta\n2\t \n")) == (Query("1", "a"), Query("2", ""))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.tsv", "1\ta\n2\n", "line 2: 1 column where id, text"),
        ("q.tsv", "1\ta\tb\tc\n", "line 1: 4 columns"),
        ("q.tsv", "no tab at all\n", "line 1: 1 column where"),
        ("q.tsv", "1\ta\n\tb\n", "line 2: an empty id"),
        ("q.tsv", "1\t \n2\t \n", "line 1: query '1' has no text, and no other one of this file has"),
        ("q.tsv", "1\ta\n1\tb\n", "line 2: query id '1' was used before, in line 1"),
        ("q.tsv", "query_id\ttext\n1\ta\tb\n", "line 2: 3 columns where the header has 2"),
        ("q.csv", "name,words\n1,a\n", "line 2: no query id: found name, words; expected _id or"),
        ("q.csv", 'id,text\n1,"open\n2,b\n', "line 2: not valid CSV: .*quote"),
        ("q.csv", "id,text\n", "no queries in this file"),
        ("q.txt", "\n\n", "no queries in this file"),
        ("q.txt", "301-1-1;a\n301-1-2;b\n302-1-1;c\n", "these lines are query variants, not queries"),
        ("q.txt", "1 0 a 2\n1 0 b 0\n2 0 a 1\n", "these lines are judgments, not queries"),
        ("q.xml", "<?xml version='1.0'?><queries><q>a</q></queries>", "neither TREC topics nor"),
    ],
)
def test_broken_tables_of_queries(tmp_path: Path, name, text, message):
    with pytest.raises(FormatError, match=message):
        read_queries(put(tmp_path, name, text))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("d.txt", "just\nlines\n", "documents need ids"),
        ("d.tsv", "a\tb\tc\td\n", "line 1: 4 columns where id, text"),
        (
            "d.jsonl",
            '{"_id": "a", "abstract": "b"}\n',
            "no document text: found _id, abstract; expected text or contents",
        ),
        ("d.tsv", "a\tb\na\tc\n", "line 2: document id 'a' was used before, for another text"),
        ("d.tsv", "\n", "no documents in this file"),
    ],
)
def test_broken_tables_of_documents(tmp_path: Path, name, text, message):
    with pytest.raises(FormatError, match=message):
        list(read_documents(put(tmp_path, name, text)))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.tsv", "query-id\tcorpus-id\tscore\n1\ta\tx\n", "line 2: the grade should be a whole number, not 'x'"),
        ("q.tsv", "query-id\tcorpus-id\tscore\n1\ta\t1\n1\ta\t2\n", "line 3: .* judged 2 here and 1 in line 2"),
        ("q.tsv", "query-id\tcorpus-id\tscore\n", "no judgments"),
        ("q.csv", "query,document,score\n1,a,1\n", "line 2: no query id: found query, document, score"),
        ("q.jsonl", '{"query_id": "1", "doc_id": "a", "score": 0.5}\n', "not '0.5'"),
        ("q.tsv", "1\ta\t1\n", "line 1: 3 columns where judgments have 4"),
        ("q.xml", "<top><num>1<title>a</top>", "TREC markup; judgments have four columns"),
    ],
)
def test_broken_tables_of_qrels(tmp_path: Path, name, text, message):
    with pytest.raises(FormatError, match=message):
        read_qrels(put(tmp_path, name, text))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("l.tsv", "1\ta\n2\tb\tc\td\n", "line 2: 4 columns where id, text"),
        ("l.tsv", "1\ta\n\tb\n", "line 2: an empty id"),
        ("l.tsv", "1\ta\nb\n", "line 2: 1 column where"),
        ("l.tsv", "1\t\n", "no queries in this log"),
        ("l.tsv", "red tea\tq1\ntea\tq2\ngreen tea\tq3\n", "line 1: the first column has texts"),
        ("l.jsonl", '{"_id": "1"}\n', "no query text"),
        ("l.jsonl", '{"_id": "1", "text": "a", "doc_ids": 3}\n', "a list is expected, not '3'"),
    ],
)
def test_broken_logs(tmp_path: Path, name, text, message):
    with pytest.raises(FormatError, match=message):
        list(read_log(put(tmp_path, name, text)))


def test_parquet_without_the_columns_or_damaged(tmp_path: Path):
    path = put_parquet(tmp_path, {"a": [1], "b": ["x"]})
    with pytest.raises(FormatError, match="line 1: no query id: found a, b; expected _id or query_id"):
        read_queries(path)
    with pytest.raises(FormatError, match="no document id: found a, b"):
        list(read_documents(path))
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(FormatError, match="damaged Parquet"):
        read_queries(path)
    path.write_bytes(gzip.compress(data))
    with pytest.raises(FormatError, match="compressed once more"):
        read_queries(path)


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20).map(str.strip).filter(bool)
entries = st.builds(LogQuery, texts, texts, st.just("") | texts, st.lists(texts, max_size=3).map(tuple))


@settings(deadline=None)
@given(log=st.lists(entries, min_size=1, max_size=10))
def test_a_log_that_was_written_is_read_back(tmp_path_factory, log):
    path = tmp_path_factory.mktemp("log") / "log.jsonl"
    write_log(path, log)
    assert list(read_log(path)) == log


@settings(deadline=None)
@given(rows=st.dictionaries(texts, texts, min_size=1, max_size=10))
def test_csv_queries_are_read_as_the_csv_module_wrote_them(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "queries.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("query_id", "text"), *rows.items()])
    assert read_queries(path) == tuple(Query(*row) for row in rows.items())
