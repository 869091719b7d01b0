from __future__ import annotations

import bz2
import gzip
import json
import lzma
from importlib.resources import files
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ringtrue.data.collection import Collection
from ringtrue.data.formats.detect import read_log
from ringtrue.data.load import load
from ringtrue.data.records import LogQuery
from ringtrue.errors import FormatError, InputError
from ringtrue.leakage.account import account_json, account_tables
from ringtrue.leakage.candidates import Candidate
from ringtrue.leakage.choice import Choice, Counted, leaked_topics
from ringtrue.leakage.clean import clean
from ringtrue.leakage.labels import LabelledPair, verified


def candidate(query_id: str, query: str, similarity: float = 0.95, topic_id: str = "301", **more: object) -> Candidate:
    return Candidate(
        topic_id=topic_id,
        field="title",
        text="some topic",
        query_id=query_id,
        query=query,
        similarity=similarity,
        type=str(more.get("type", "identical")),
        probability=more.get("probability", 0.8),  # type: ignore[arg-type]
        source=str(more.get("source", "web")),
    )


LEAKS = (candidate("q2", "lamp oil"), candidate("q4", "old ships", source="orcas"))

# each file, what is left of it without q2 and q4, how many records it has and how many went
FORMATS = {
    "bare.tsv": (b"q1\tnew lamps\nq2\tlamp oil\nq3\tbig waves\nq4\told ships", b"q1\tnew lamps\nq3\tbig waves\n", 4, 2),
    "source.tsv": (b"q1\tnew lamps\tweb\n\nq2\tlamp oil\tweb\nq3\tx\t\n", b"q1\tnew lamps\tweb\n\nq3\tx\t\n", 3, 1),
    "header.tsv": (b"query_id\ttext\nq2\tlamp oil\nq3\tbig waves\n", b"query_id\ttext\nq3\tbig waves\n", 2, 1),
    "turned.tsv": (b"text\tqid\nlamp oil\tq2\nbig waves\tq3\n", b"text\tqid\nbig waves\tq3\n", 2, 1),
    "windows.tsv": (b"\xef\xbb\xbfq2\tlamp oil\r\nq3\tbig waves\r\n", b"q3\tbig waves\r\n", 2, 1),
    "latin.tsv": (b"q2\tlamp oil\nq5\tcaf\xe9 lights\n", b"q5\tcaf\xe9 lights\n", 2, 1),
    "triples.tsv": (b"q1\td1\td2\nq2\td3\td4\nq2\td3\td5\nq4\td1\td9\n", b"q1\td1\td2\n", 4, 3),
    "qrels.train.tsv": (
        b"query-id\tcorpus-id\tscore\nq2\td1\t1\nq3\td1\t1\n",
        b"query-id\tcorpus-id\tscore\nq3\td1\t1\n",
        2,
        1,
    ),
    "qrels.txt": (b"q1 0 d1 1\nq2 0 d1 0\nq2 0 d2 2\nq3 0 d4 1\n", b"q1 0 d1 1\nq3 0 d4 1\n", 4, 2),
    "log.jsonl": (
        b'{"_id": "q1", "text": "new lamps", "doc_ids": ["a"]}\n\n{"_id":"q4" ,"text":"old  ships","doc_ids":[]}\n',
        b'{"_id": "q1", "text": "new lamps", "doc_ids": ["a"]}\n\n',
        2,
        1,
    ),
    "lines.csv": (
        b'query_id,text\nq2,lamp oil\nq3,"big\nwaves, ""q2"""\nq4,old ships\n',
        b'query_id,text\nq3,"big\nwaves, ""q2"""\n',
        3,
        2,
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_what_stays_is_the_same_bytes(name, tmp_path):
    before, after, records, dropped = FORMATS[name]
    path = tmp_path / name
    path.write_bytes(before)
    account = clean([path], LEAKS, tmp_path / "out")
    assert (tmp_path / "out" / name).read_bytes() == after
    assert path.read_bytes() == before
    assert (account.files[0].records, account.files[0].dropped) == (records, dropped)


@pytest.mark.parametrize(
    ("ending", "pack", "unpack"),
    [
        (".gz", gzip.compress, gzip.decompress),
        (".bz2", bz2.compress, bz2.decompress),
        (".xz", lzma.compress, lzma.decompress),
        (".zst", zstandard.compress, lambda data: zstandard.ZstdDecompressor().stream_reader(data).read()),
    ],
)
def test_compressed_in_compressed_out(ending, pack, unpack, tmp_path):
    before, after, *_ = FORMATS["source.tsv"]
    path = tmp_path / f"log.tsv{ending}"
    path.write_bytes(pack(before))
    clean([path], LEAKS, tmp_path / "out")
    written = (tmp_path / "out" / path.name).read_bytes()
    assert unpack(written) == after
    clean([path], LEAKS, tmp_path / "again")
    assert (tmp_path / "again" / path.name).read_bytes() == written


def test_parquet_keeps_its_schema(tmp_path):
    table = pa.table(
        {"QID": [1, 2, 3], "text": ["new lamps", "lamp oil", "waves"], "clicks": pa.array([1, 2, 3], "int16")}
    )
    pq.write_table(table, tmp_path / "log.parquet")
    clean([tmp_path / "log.parquet"], [candidate("2", "lamp oil")], tmp_path / "out")
    left = pq.read_table(tmp_path / "out" / "log.parquet")
    assert left.schema.equals(table.schema)
    assert left.column("QID").to_pylist() == [1, 3]


SHARED_ID = (
    {"query_id": "q2", "text": "lamp oil", "source": "web"},
    {"query_id": "q2", "text": "train times", "source": "orcas"},
    {"query_id": "q4", "text": "old ships", "source": "elsewhere"},
    {"query_id": "q4", "text": "old ships", "source": ""},
)


def _written(path: Path, rows) -> Path:
    names = list(rows[0])
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(list(rows)), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        mark = "," if path.suffix == ".csv" else "\t"
        head = [] if path.name == "bare.tsv" else [names]
        path.write_text("".join(mark.join(cells) + "\n" for cells in (*head, *(row.values() for row in rows))))
    return path


@pytest.mark.parametrize("name", ["bare.tsv", "named.tsv", "log.csv", "log.jsonl", "log.parquet"])
def test_a_query_of_another_source_keeps_its_id(name, tmp_path):
    path = _written(tmp_path / name, SHARED_ID)
    account = clean([path], LEAKS, tmp_path / "out")
    left = list(load(tmp_path / "out" / name).log())
    assert [(one.query_id, one.text, one.source) for one in left] == [("q2", "train times", "orcas")]
    assert account.files[0].dropped == 3  # a source of no candidate, or none, says nothing
    assert [(one.query_id, one.source, one.records) for one in account.dropped] == [
        ("q2", "web", 1),
        ("q4", "orcas", 2),
    ]
    only_web = clean([path], LEAKS[:1], tmp_path / "web")
    assert only_web.files[0].dropped == 1  # no candidate is of `orcas`, but the text is another
    sourceless = [candidate("q2", "lamp oil", source=""), candidate("q9", "x", source="orcas")]
    assert clean([path], sourceless, tmp_path / "all").files[0].dropped == 2


def test_two_leaks_of_one_id_are_two_in_the_account(tmp_path):
    path = _written(tmp_path / "log.jsonl", SHARED_ID)
    leaks = [candidate("q2", "lamp oil"), candidate("q2", "train times", 0.9, "302", source="orcas")]
    account = clean([path], leaks, tmp_path / "out")
    assert [(one.query, one.source, one.topic_ids, one.records) for one in account.dropped] == [
        ("lamp oil", "web", ("301",), 1),
        ("train times", "orcas", ("302",), 1),
    ]
    assert account.by_source == {"orcas": 1, "web": 1}
    (tmp_path / "pairs.tsv").write_text("q2\td1\nq3\td2\n")
    both = clean([path, tmp_path / "pairs.tsv"], leaks, tmp_path / "both")
    assert [one.records for one in both.dropped] == [2, 2]


def test_numbers_as_sources_and_texts(tmp_path):
    columns = {"query_id": [1, 2, 2], "text": [5, 7, 8], "source": pa.array([0, 1, 2], "int8")}
    pq.write_table(pa.table(columns), tmp_path / "log.parquet")
    (tmp_path / "log.jsonl").write_text('{"id": 2, "text": 7, "source": 1}\n{"id": 2, "text": 8, "source": 2}\n')
    leaks = [candidate("2", "7", source="1"), candidate("1", "5", 0.2, source="2")]
    for name in ("log.parquet", "log.jsonl"):
        clean([tmp_path / name], leaks, tmp_path / "out", Choice(threshold=0.9))
        assert [(one.text, one.source) for one in load(tmp_path / "out" / name).log()][-1] == ("8", "2")


@pytest.mark.parametrize("lines", ["q1 d1\nq2 d2\nq4 d3\n", "q1 d1 d2\nq2 d2 d7\nq4 d3 d8\n"])
def test_pairs_between_blanks_are_told_by_their_ids(lines, tmp_path):
    (tmp_path / "pairs.txt").write_text(lines)
    assert clean([tmp_path / "pairs.txt"], LEAKS, tmp_path / "out").files[0].dropped == 2
    numbered = [candidate("2", "lamp oil"), candidate("12", "old ships")]
    (tmp_path / "queries.txt").write_text("new lamps\nlamp oil\n12 monkeys\n")
    clean([tmp_path / "queries.txt"], numbered, tmp_path / "out")
    assert (tmp_path / "out" / "queries.txt").read_text() == "new lamps\n12 monkeys\n"
    (tmp_path / "queries.txt").write_text("12 monkeys\nlong live the queen\n")
    with pytest.raises(InputError, match="none of the 2 queries to drop"):
        clean([tmp_path / "queries.txt"], [candidate("12", "old ships"), candidate("13", "x")], tmp_path / "out")


def test_plain_lines_go_by_their_number_and_pairs_by_their_id(tmp_path):
    (tmp_path / "queries.txt").write_text("new lamps\nlamp oil\n\nbig waves\n")
    clean([tmp_path / "queries.txt"], [candidate("2", "lamp oil")], tmp_path / "out")
    assert (tmp_path / "out" / "queries.txt").read_text() == "new lamps\n\nbig waves\n"
    (tmp_path / "pairs.txt").write_text("q1 d1 d2\nq2 d2 d3\n")
    clean([tmp_path / "pairs.txt"], LEAKS, tmp_path / "out", kind="pairs")
    assert (tmp_path / "out" / "pairs.txt").read_text() == "q1 d1 d2\n"


def test_beir_folder_loses_queries_and_their_training_judgments(tmp_path):
    folder = tmp_path / "set"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": "x"}\n')
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "new lamps"}\n{"_id": "q2", "text": "lamp oil"}\n')
    (folder / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td1\t1\n")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq2\td1\t1\n")
    account = clean([folder], LEAKS, tmp_path / "out")
    assert [file.written for file in account.files] == ["queries.jsonl", "qrels/train.tsv"]
    assert (tmp_path / "out/queries.jsonl").read_text() == '{"_id": "q1", "text": "new lamps"}\n'
    assert (tmp_path / "out/qrels/train.tsv").read_text() == "query-id\tcorpus-id\tscore\nq1\td1\t1\n"
    assert sorted(path.name for path in (tmp_path / "out").rglob("*")) == ["qrels", "queries.jsonl", "train.tsv"]
    assert [one.records for one in account.dropped] == [2]


def test_ir_datasets_are_written_as_a_log(tmp_path, monkeypatch):
    log = (LogQuery("q1", "new lamps", "irds", ("d1",)), LogQuery("q2", "lamp oil", "irds", ("d2",)))
    monkeypatch.setattr("ringtrue.leakage.clean.load", lambda spec: Collection.from_records(spec, log=log))
    account = clean(["irds:some/train"], LEAKS, tmp_path)
    assert list(read_log(tmp_path / "some-train.jsonl")) == [log[0]]
    assert account.files[0] == ("irds:some/train", "some-train.jsonl", 2, 1, 0)


def test_several_files_share_one_account(tmp_path):
    for name in ("bare.tsv", "triples.tsv"):
        (tmp_path / name).write_bytes(FORMATS[name][0])
    gone = (*LEAKS, candidate("q2", "lamp oil", 0.99, "302"), candidate("q9", "not there"))
    account = clean([tmp_path / "bare.tsv", tmp_path / "triples.tsv"], gone, tmp_path / "out")
    assert [(one.query_id, one.records, one.topic_ids) for one in account.dropped] == [
        ("q2", 3, ("302", "301")),
        ("q4", 2, ("301",)),
    ]
    assert account.dropped[0].reason == (
        "similarity 0.9900 to the title of topic 302, identical, probability 0.80; so for 1 more"
    )
    assert [one.query_id for one in account.not_found] == ["q9"]
    assert account.by_source == {"orcas": 1, "web": 1}
    assert account.by_topic == {"301": 2, "302": 1}
    told = json.loads(account_json(account))
    assert (told["candidates"], told["dropped_queries"], told["not_found_queries"]) == (4, 2, 1)
    assert told["files"][1] == {
        "given": str(tmp_path / "triples.tsv"), "written": "triples.tsv", "records": 4, "dropped": 3, "other_text": 0,
    }  # fmt: skip
    assert [table.name for table in account_tables(account)] == ["files", "sources", "topics", "dropped", "not_found"]


def test_choices_of_what_goes(tmp_path):
    sure = candidate("q1", "new lamps", 0.97, probability=0.9)
    unsure = candidate("q2", "lamp oil", 0.96, probability=0.3)
    far = candidate("q3", "big waves", 0.85, probability=0.7)
    some = (sure, unsure, far)
    labels = verified(
        [
            LabelledPair("301", "q2", "lamp oil", labels=("Title-Identical",)),
            LabelledPair("301", "q1", "new lamps", labels=("Different Topic",)),
        ]
    )

    def gone(choice: Choice) -> list[str]:
        return [leak.query_id for leak in choice.leaks(some)]

    assert gone(Choice()) == ["q1", "q2", "q3"]
    assert gone(Choice(0.91)) == ["q1", "q2"]
    assert gone(Choice(0.96)) == ["q1"]  # strictly greater
    assert gone(Choice(0.91, Counted.LIKELY, 0.5)) == ["q1"]
    assert gone(Choice(0.98, verified={("301", "q3"): True, ("301", "q1"): False})) == ["q3"]
    assert gone(Choice(0.91, Counted.LIKELY, 0.5, labels)) == ["q2"]
    assert gone(Choice(0.91, Counted.VERIFIED, verified=labels)) == ["q2"]
    assert leaked_topics(some) == ("301",)
    with pytest.raises(InputError, match="no pair is labelled"):
        Choice(counted=Counted.VERIFIED).leaks(some)
    with pytest.raises(InputError, match=r"none of the 1 candidates has a probability.*--counted all"):
        Choice(counted=Counted.LIKELY).leaks([candidate("q1", "x", probability=None)])


def test_candidates_without_a_probability_among_others_are_not_likely_and_are_counted(tmp_path):
    far = candidate("q4", "old ships", 0.7, probability=None)
    likely = Choice(counted=Counted.LIKELY)
    assert likely.leaks((LEAKS[0], far)) == (LEAKS[0],)
    assert Choice(0.9, Counted.LIKELY).leaks((far,)) == ()  # the threshold comes first
    assert Choice(counted=Counted.LIKELY, verified={("301", "q4"): True}).leaks((LEAKS[0], far)) == (LEAKS[0], far)
    (tmp_path / "log.tsv").write_bytes(FORMATS["bare.tsv"][0])
    account = clean([tmp_path / "log.tsv"], (LEAKS[0], far), tmp_path / "out", likely)
    assert (len(account.dropped), account.without_probability) == (1, 1)
    assert json.loads(account_json(account))["without_probability"] == 1
    near = Choice(0.6)
    assert clean([tmp_path / "log.tsv"], (LEAKS[0], far), tmp_path / "out", near).without_probability == 0


def test_neighbours_are_no_candidates_unless_a_threshold_makes_them_some():
    far = candidate("q4", "old ships", 0.1, probability=None)
    with pytest.raises(InputError, match=r"1 of the 2 candidates have no probability.*--threshold"):
        Choice().leaks((LEAKS[0], far))
    assert Choice(0.66).leaks((LEAKS[0], far)) == (LEAKS[0],)
    assert Choice().leaks((far,)) == (far,)  # another encoder's, which has no probabilities


def test_an_id_with_another_text_goes_too_and_is_counted(tmp_path):
    (tmp_path / "log.tsv").write_text("q2\tlamp oil\nq2\tsomething else\nq3\tbig waves\n")
    account = clean([tmp_path / "log.tsv"], LEAKS, tmp_path / "out")
    assert (tmp_path / "out" / "log.tsv").read_text() == "q3\tbig waves\n"
    assert (account.files[0].dropped, account.files[0].other_text) == (2, 1)


def test_candidates_of_another_log_are_an_error_and_nothing_is_written(tmp_path):
    (tmp_path / "triples.tsv").write_bytes(FORMATS["triples.tsv"][0])
    (tmp_path / "log.tsv").write_text("q2\tquite another query\nq3\tbig waves\n")
    with pytest.raises(InputError, match="another log"):
        clean([tmp_path / "triples.tsv", tmp_path / "log.tsv"], LEAKS, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_training_data_is_never_overwritten(tmp_path):
    (tmp_path / "log.tsv").write_bytes(FORMATS["bare.tsv"][0])
    with pytest.raises(InputError, match="another folder"):
        clean([tmp_path / "log.tsv"], LEAKS, tmp_path)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "log.tsv").write_bytes(b"q7\tsome more\n")
    with pytest.raises(InputError, match="one by one"):
        clean([tmp_path / "log.tsv", tmp_path / "more" / "log.tsv"], LEAKS, tmp_path / "out")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("topics.txt", "<top>\n<num> 301\n<title> lamp oil\n</top>\n", "markup"),
        ("log.jsonl", '{"_id": "q1", "text": "x"}\n{"_id": "q2"\n', "line 2: not valid JSON"),
        ("log.jsonl", '{"_id": "q1", "text": "x"}\n{"text": "x"}\n', "line 2: an object with _id"),
        ("log.csv", "name,text\nq2,lamp oil\n", "no query id"),
        ("log.csv", 'query_id,text\nq2,"lamp oil\n', "is a quote missing"),
    ],
)
def test_broken_training_files_are_errors_that_say_where(name, content, message, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(FormatError, match=message):
        clean([tmp_path / name], LEAKS, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_nothing_to_drop_gives_the_same_file(tmp_path):
    (tmp_path / "log.tsv").write_bytes(FORMATS["source.tsv"][0])
    account = clean([tmp_path / "log.tsv"], (), tmp_path / "out")
    assert (tmp_path / "out" / "log.tsv").read_bytes() == FORMATS["source.tsv"][0]
    assert (account.files[0].records, account.files[0].dropped, account.dropped) == (3, 0, ())


def test_planted_leaks_of_lighthouse_all_go(tmp_path):
    planted = files("ringtrue.data").joinpath("lighthouse/leaks.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in planted]
    texts = {entry.query_id: entry.text for entry in load("builtin:lighthouse").log()}
    leaks = [
        candidate(row["query_id"], texts[row["query_id"]], topic_id=row["topic_id"], type=row["type"])
        for row in rows
        if row["type"] != "different-topic"
    ]
    account = clean(["builtin:lighthouse"], leaks, tmp_path)
    gone = {leak.query_id for leak in leaks}
    left = [entry.query_id for entry in read_log(tmp_path / "log.jsonl")]
    assert left == [query_id for query_id in texts if query_id not in gone]
    assert (account.files[0].dropped, account.files[0].other_text) == (len(gone), 0)
    assert len(account.by_topic) == 26 and not account.not_found


lines = st.lists(
    st.tuples(st.sampled_from(["q1", "q2", "q3", "q4", "é5"]), st.text("ab é\u2028🙂", max_size=6)), min_size=1
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(lines)
def test_any_log_keeps_its_other_lines_in_order(tmp_path: Path, rows: list[tuple[str, str]]):
    path = tmp_path / "any.tsv"
    path.write_text("q2\tlamp oil\n" + "".join(f"{query_id}\t{text}\n" for query_id, text in rows), "utf-8", newline="")
    clean([path], (*LEAKS, candidate("é5", "x")), tmp_path / "out")
    kept = "".join(f"{query_id}\t{text}\n" for query_id, text in rows if query_id in ("q1", "q3"))
    assert (tmp_path / "out" / "any.tsv").read_text("utf-8") == kept
