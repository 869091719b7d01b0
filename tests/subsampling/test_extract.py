from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ringtrue.data.collection import Collection
from ringtrue.data.formats import streams
from ringtrue.data.formats.beir import write_beir
from ringtrue.data.formats.detect import read_documents, read_qrels, read_queries
from ringtrue.data.load import load
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Document, Qrel, Query
from ringtrue.errors import FormatError, InputError
from ringtrue.jobs import try_lock
from ringtrue.subsampling import crew, pieces
from ringtrue.subsampling import extract as module
from ringtrue.subsampling.corpora import open_corpus
from ringtrue.subsampling.extract import Progress, extract, read_extraction
from ringtrue.subsampling.parts import alone, read_part, search_piece

DOCUMENTS = [Document(f"d{n:03d}", f"text of number {n}", f"Title {n}" if n % 3 else "") for n in range(200)]
QUERIES = [Query("1", "first", "what is first?", "", ("one", "prime")), Query("2", "second"), Query("3", "third")]
QRELS = Qrels.from_records(
    [Qrel("1", "d000", 2), Qrel("1", "d001", 0), Qrel("2", "d002", 1), Qrel("3", "d199", 1), Qrel("1", "d150", 1)]
)
SAMPLE = ["d000", "d002", "d150", "d007"]


def jsonl(path: Path, documents: list[Document]) -> Path:
    rows = ({"_id": one.doc_id, "title": one.title, "text": one.text} for one in documents)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def trec(path: Path, documents: list[Document]) -> Path:
    path.write_text(
        "".join(
            f"<DOC>\n<DOCNO>{one.doc_id}</DOCNO>\n<TITLE>{one.title}</TITLE>\n<TEXT>{one.text}</TEXT>\n</DOC>\n"
            for one in documents
        ),
        encoding="utf-8",
    )
    return path


def warc(path: Path, documents: list[Document]) -> Path:
    pytest.importorskip("fastwarc", reason="web archives need the extra 'warc'")
    pytest.importorskip("resiliparse", reason="web archives need the extra 'warc'")
    with open(path, "wb") as file:
        for one in documents:
            html = f"<html><head><title>{one.title}</title></head><body><p>{one.text}</p></body></html>"
            content = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + html.encode()
            head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{one.doc_id}>\r\n"
            head += f"WARC-TREC-ID: {one.doc_id}\r\nContent-Type: application/http; msgtype=response\r\n"
            head += f"Content-Length: {len(content)}\r\n\r\n"
            file.write(gzip.compress(head.encode() + content + b"\r\n\r\n", mtime=0))
    return path


def packed(path: Path, documents: list[Document]) -> Path:
    path.write_bytes(gzip.compress(jsonl(path, documents).read_bytes()))
    return path


def tsv(path: Path, documents: list[Document]) -> Path:
    path.write_text("".join(f"{one.doc_id}\t{one.text}\t{one.title}\n" for one in documents), encoding="utf-8")
    return path


def parquet(path: Path, documents: list[Document]) -> Path:
    columns = {name: [getattr(one, name) for one in documents] for name in ("doc_id", "text", "title")}
    pq.write_table(pa.table(columns), path)
    return path


def beir(folder: Path, documents: list[Document]) -> Path:
    write_beir(Collection.from_records("b", documents, QUERIES, QRELS), folder)
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(files)}


def documents_in(folder: Path) -> list[Document]:
    return list(read_documents(folder / "corpus.jsonl"))


def test_a_worked_example(tmp_path: Path):
    source = jsonl(tmp_path / "corpus.jsonl", DOCUMENTS)
    found = extract(source, [*SAMPLE, "nowhere"], tmp_path / "out", queries=QUERIES, qrels=QRELS)
    assert (found.asked, found.documents, found.missing, found.read) == (5, 4, ("nowhere",), 200)
    assert (found.duplicates, found.conflicting) == (0, 0)
    assert (found.topics, found.topics_left_out) == (2, 1)
    assert (found.judgments, found.judgments_left_out) == (3, 2)
    assert documents_in(tmp_path / "out") == [DOCUMENTS[n] for n in (0, 2, 7, 150)]
    assert read_queries(tmp_path / "out" / "queries.jsonl") == tuple(QUERIES[:2])
    assert set(read_qrels(tmp_path / "out" / "qrels" / "test.tsv")) == {
        Qrel("1", "d000", 2), Qrel("2", "d002", 1), Qrel("1", "d150", 1)
    }  # fmt: skip
    assert (tmp_path / "out" / "missing.txt").read_text() == "nowhere\n"
    assert found.bytes == (tmp_path / "out" / "corpus.jsonl").stat().st_size
    assert found.compressed_bytes == (tmp_path / "out" / "corpus.parquet").stat().st_size
    assert not (tmp_path / "out" / ".extraction").exists()
    assert read_extraction(tmp_path / "out") == found


def test_parquet_says_the_same(tmp_path: Path):
    source = jsonl(tmp_path / "corpus.jsonl", DOCUMENTS)
    extract(source, SAMPLE, tmp_path / "out", queries=QUERIES, qrels=QRELS)
    out = tmp_path / "out"
    assert list(read_documents(out / "corpus.parquet")) == documents_in(out)
    assert read_queries(out / "queries.parquet") == read_queries(out / "queries.jsonl")
    assert list(read_qrels(out / "qrels.parquet")) == list(read_qrels(out / "qrels" / "test.tsv"))


def test_the_folder_is_a_collection(tmp_path: Path):
    extract(beir(tmp_path / "in", DOCUMENTS), SAMPLE, tmp_path / "out")
    whole, sample = load(tmp_path / "in"), load(tmp_path / "out")
    assert list(sample.documents()) == list(whole.subset(SAMPLE).documents())
    assert list(sample.qrels) == list(whole.subset(SAMPLE).qrels)


SOURCES = {
    "corpus.jsonl": jsonl, "corpus.jsonl.gz": packed, "docs.trec": trec, "docs.tsv": tsv, "docs.parquet": parquet,
    "docs.warc.gz": warc, "beir": beir,
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_the_same_documents(tmp_path: Path, name):
    source = SOURCES[name](tmp_path / name, DOCUMENTS)
    found = extract(source, SAMPLE, tmp_path / "out")
    assert documents_in(tmp_path / "out") == [DOCUMENTS[n] for n in (0, 2, 7, 150)]
    assert (found.documents, found.read, found.missing) == (4, 200, ())


@pytest.mark.parametrize("name", ["corpus.jsonl", "docs.trec", "docs.parquet", "docs.warc.gz"])
def test_a_folder_and_a_list_of_files(tmp_path: Path, name):
    make, folder = SOURCES[name], tmp_path / "in"
    folder.mkdir()
    files = [make(folder / f"{n}-{name}", DOCUMENTS[50 * n : 50 * n + 50]) for n in range(4)]
    (folder / "README.md").write_text("about")
    as_folder = extract(folder, SAMPLE, tmp_path / "a")
    as_list = extract(files[::-1], SAMPLE, tmp_path / "b")
    assert documents_in(tmp_path / "a") == [DOCUMENTS[n] for n in (0, 2, 7, 150)]
    assert documents_in(tmp_path / "b") == [DOCUMENTS[n] for n in (150, 0, 2, 7)]
    assert as_folder.read == as_list.read == 200
    assert [note.times for note in as_folder.notes] == [1]


def test_the_built_in_collection(tmp_path: Path):
    whole = load("builtin:lighthouse")
    ids = [document.doc_id for document in whole.documents()][::5]
    found = extract("builtin:lighthouse", ids, tmp_path / "out")
    assert found.documents == len(ids)
    assert list(load(tmp_path / "out").qrels) == list(whole.subset(ids).qrels)


def test_a_real_collection(shared: Path, tmp_path: Path):
    folder = shared / "collections" / "vaswani"
    queries, qrels = read_queries(folder / "query-text.trec"), read_qrels(folder / "qrels")
    judged = set(qrels.docs)
    found = extract(folder / "doc-text.trec", judged, tmp_path / "out", queries=queries, qrels=qrels)
    assert (found.documents, found.read, found.missing) == (len(judged), 11429, ())
    assert (found.judgments, found.topics) == (len(qrels), 93)


def test_topics_without_judgments_stay_where_asked(tmp_path: Path):
    source = jsonl(tmp_path / "corpus.jsonl", DOCUMENTS)
    found = extract(source, ["d000"], tmp_path / "out", queries=QUERIES, qrels=QRELS, all_topics=True)
    assert (found.topics, found.topics_left_out, found.judgments) == (3, 0, 1)


def test_no_topics_at_all(tmp_path: Path):
    source = jsonl(tmp_path / "corpus.jsonl", DOCUMENTS)
    found = extract(source, ["d000"], tmp_path / "out")
    assert (found.topics, found.judgments) == (0, 0)
    assert sorted(tree(tmp_path / "out")) == ["corpus.jsonl", "corpus.parquet", "missing.txt", "result.json"]


def test_copies_are_counted_and_the_first_is_kept(tmp_path: Path):
    first = jsonl(tmp_path / "1.jsonl", [*DOCUMENTS[:3], DOCUMENTS[0]])
    second = jsonl(tmp_path / "2.jsonl", [DOCUMENTS[1], Document("d002", "another text")])
    found = extract([first, second], ["d000", "d001", "d002"], tmp_path / "out")
    assert documents_in(tmp_path / "out") == DOCUMENTS[:3]
    assert (found.documents, found.duplicates, found.conflicting) == (3, 3, 1)


def test_progress(tmp_path: Path):
    files = [jsonl(tmp_path / f"{n}.jsonl", DOCUMENTS[100 * n : 100 * n + 100]) for n in range(2)]
    told: list[Progress] = []
    extract(files, SAMPLE, tmp_path / "out", progress=told.append)
    assert [(one.number, one.pieces, one.read, one.found, one.asked) for one in told] == [
        (1, 2, 100, 3, 4), (2, 2, 100, 1, 4)
    ]  # fmt: skip


def test_what_cannot_be_extracted(tmp_path: Path):
    source = jsonl(tmp_path / "corpus.jsonl", DOCUMENTS)
    with pytest.raises(InputError, match="no documents"):
        extract(source, [], tmp_path / "out")
    with pytest.raises(InputError, match=r"none of the 2 documents, as 'x', is among the 200 of"):
        extract(source, ["x", "y"], tmp_path / "out")
    extract(source, SAMPLE, tmp_path / "out")
    with pytest.raises(InputError, match="no such file"):
        extract(tmp_path / "other.jsonl", SAMPLE, tmp_path / "new")
    with pytest.raises(InputError, match="no file in it is plainly documents"):
        (tmp_path / "empty").mkdir()
        extract(tmp_path / "empty", SAMPLE, tmp_path / "new")
    with pytest.raises(InputError, match="no files"):
        extract([], SAMPLE, tmp_path / "new")


def test_a_name_is_looked_at_before_anything_is_read(tmp_path: Path):
    source = jsonl(tmp_path / "corpus.jsonl", DOCUMENTS)
    with pytest.raises(InputError, match="'a b' cannot name a sample"):
        extract(source, SAMPLE, tmp_path / "out", name="a b")
    assert not (tmp_path / "out").exists()


def test_two_extractions_into_one_folder(tmp_path: Path):
    source = jsonl(tmp_path / "corpus.jsonl", DOCUMENTS)
    refused: list[str] = []

    def again(told: Progress) -> None:
        with pytest.raises(InputError, match=r"another process is at work on .*out") as caught:
            extract(source, SAMPLE, tmp_path / "out")
        refused.append(str(caught.value))

    extract(source, SAMPLE, tmp_path / "out", progress=again)
    assert len(refused) == 1


def test_two_searches_of_one_piece(tmp_path: Path):
    """As when the process that began a search was killed, and one of those that it started still searches."""
    (piece,) = open_corpus(jsonl(tmp_path / "corpus.jsonl", DOCUMENTS), 1).pieces
    part = tmp_path / "part.jsonl"
    with alone(part.with_suffix(".lock"), piece.name), pytest.raises(InputError, match="another process is at work"):
        search_piece(piece, frozenset(SAMPLE), part, every=5, tell=lambda *_: None)
    assert not part.exists()
    search_piece(piece, frozenset(SAMPLE), part, every=5, tell=lambda *_: None)
    assert len(list(read_part(part))) == len(SAMPLE)


def test_a_search_that_outlives_a_killed_call_is_waited_for(tmp_path: Path, monkeypatch):
    source = jsonl(tmp_path / "corpus.jsonl", DOCUMENTS)

    def interrupt(told: Progress) -> None:
        raise KeyboardInterrupt

    for held in ("000000.lock", "crew/claims/000000"):
        out = tmp_path / f"out-{len(held)}"
        with pytest.raises(KeyboardInterrupt):
            extract(source, SAMPLE, out, progress=interrupt)
        place = out / ".extraction" / held
        place.parent.mkdir(parents=True, exist_ok=True)
        with open(place, "a") as file:
            assert try_lock(file)
            began = time.monotonic()
            threading.Timer(0.3, file.close).start()
            assert extract(source, SAMPLE, out).documents == len(SAMPLE)
            assert time.monotonic() - began >= 0.3
    monkeypatch.setattr(module, "_OUTLIVED_S", 0.0)
    with pytest.raises(KeyboardInterrupt):
        extract(source, SAMPLE, tmp_path / "stuck", progress=interrupt)
    with alone(tmp_path / "stuck" / ".extraction" / "000000.lock", "it"), pytest.raises(InputError, match="at work on"):
        extract(source, SAMPLE, tmp_path / "stuck")


def test_a_folder_is_never_written_over(tmp_path: Path):
    source = jsonl(tmp_path / "corpus.jsonl", DOCUMENTS)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="not an empty folder"):
        extract(source, SAMPLE, tmp_path / "full")
    with pytest.raises(InputError, match="is a file"):
        extract(source, SAMPLE, source)
    extract(source, SAMPLE, tmp_path / "out")
    with pytest.raises(InputError, match="another extraction"):
        extract(source, SAMPLE[:2], tmp_path / "out")


def test_what_is_finished_is_not_done_again(tmp_path: Path, monkeypatch):
    source = jsonl(tmp_path / "corpus.jsonl", DOCUMENTS)
    first = extract(source, SAMPLE, tmp_path / "out", queries=QUERIES, qrels=QRELS)
    monkeypatch.setattr(module, "search_piece", None)
    assert extract(source, SAMPLE, tmp_path / "out", queries=QUERIES, qrels=QRELS) == first
    jsonl(source, DOCUMENTS[:-1])
    with pytest.raises(InputError, match="has changed since"):
        extract(source, SAMPLE, tmp_path / "out", queries=QUERIES, qrels=QRELS)


@pytest.mark.parametrize("step", ["write_documents", "write_topics", "move_into", "_write_extraction"])
def test_an_interruption_while_writing(tmp_path: Path, monkeypatch, step):
    source = jsonl(tmp_path / "corpus.jsonl", DOCUMENTS)
    extract(source, SAMPLE, tmp_path / "whole", queries=QUERIES, qrels=QRELS)
    real = getattr(module, step)

    def interrupted(*arguments: object) -> None:
        real(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        extract(source, SAMPLE, tmp_path / "out", queries=QUERIES, qrels=QRELS)
    with pytest.raises(InputError, match="another extraction, interrupted"):
        extract(source, SAMPLE[:2], tmp_path / "out", queries=QUERIES, qrels=QRELS)
    monkeypatch.undo()
    extract(source, SAMPLE, tmp_path / "out", queries=QUERIES, qrels=QRELS)
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")


def test_only_a_damaged_file_is_searched_again(tmp_path: Path):
    files = [warc(tmp_path / f"{n}.warc.gz", DOCUMENTS[50 * n : 50 * n + 50]) for n in range(4)]
    whole = files[2].read_bytes()
    files[2].write_bytes(whole[:-30])
    with pytest.raises(FormatError, match="is damaged"):
        extract(files, SAMPLE, tmp_path / "out")
    files[2].write_bytes(whole)
    told: list[Progress] = []
    found = extract(files, SAMPLE, tmp_path / "out", progress=told.append)
    assert {one.number for one in told} == {3, 4}
    assert (found.read, found.documents) == (200, 4)


KILLED = """
import json, sys, time
from pathlib import Path
from ringtrue.subsampling import pieces
from ringtrue.subsampling.extract import extract
from ringtrue.data.load import load

pieces._STEP = 100
source, out, pause = Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])
given = load(queries=source / "queries.jsonl", qrels=source / "qrels.tsv")
told = []

def slowly(progress):
    if not told:
        print("searching", flush=True)
    told.append(progress)
    time.sleep(pause)

files = sorted((source / "corpus").iterdir())
ids = (source / "ids.txt").read_text().split()
settings = json.loads(sys.argv[4])
extract(files, ids, out, queries=given.queries, qrels=given.qrels, progress=slowly, checkpoint_s=0, **settings)
print(len(told))
"""
KINDS = {
    "text": (("1.jsonl", jsonl), ("2.jsonl.gz", packed), ("3.trec", trec)),
    "binary": (("1.warc.gz", warc), ("2.parquet", parquet), ("3.warc.gz", warc)),
}


def corpus_to_be_killed(folder: Path, kinds: Sequence[tuple[str, Callable[[Path, list[Document]], Path]]]) -> Path:
    rng = random.Random(5)
    documents = [Document(f"d{n}", rng.randbytes(150).hex(), f"Title {n}") for n in range(6000)]
    (folder / "corpus").mkdir(parents=True)
    for (name, make), (start, end) in zip(kinds, ((0, 3000), (2990, 4500), (4500, 6000)), strict=True):
        make(folder / "corpus" / name, documents[start:end])
    (folder / "ids.txt").write_text("\n".join(f"d{n}" for n in range(0, 6100, 3)))
    (folder / "queries.jsonl").write_text('{"_id": "1", "text": "first"}\n')
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\td3\t1\n")
    return folder


@pytest.mark.parametrize("kinds", KINDS.values(), ids=KINDS)
def test_killed_at_any_moment_it_goes_on_and_gives_the_same_bytes(tmp_path: Path, kinds):
    source, rng = corpus_to_be_killed(tmp_path / "in", kinds), random.Random(11)
    whole = [sys.executable, "-c", KILLED, str(source), str(tmp_path / "whole"), "0", "{}"]
    steps = int(subprocess.run(whole, check=True, capture_output=True, text=True).stdout.split()[-1])
    command = [sys.executable, "-c", KILLED, str(source), str(tmp_path / "out"), "0.02", "{}"]
    for _ in range(3):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(rng.random() * 0.2)
            os.kill(process.pid, signal.SIGKILL)
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")
    assert int(done.stdout.split()[-1]) < steps, "the last run began from the beginning"
    found = read_extraction(tmp_path / "out")
    assert (found.documents, len(found.missing), found.duplicates, found.read) == (2000, 34, 3, 6010)


def test_killed_in_several_processes_it_goes_on_with_another_number_of_them(tmp_path: Path):
    source, folder = tmp_path / "in", tmp_path / "in" / "corpus"
    folder.mkdir(parents=True)
    rng = random.Random(7)
    for file in range(30):
        some = [Document(f"d{n}", rng.randbytes(100).hex()) for n in range(400 * file, 400 * file + 400)]
        trec(folder / f"{file:02}.trec", some)
    (source / "ids.txt").write_text("\n".join(f"d{n}" for n in range(0, 12_000, 7)))
    (source / "queries.jsonl").write_text('{"_id": "1", "text": "first"}\n')
    (source / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\td7\t1\n")
    command = [sys.executable, "-c", KILLED, str(source)]
    subprocess.run([*command, str(tmp_path / "whole"), "0", "{}"], check=True, capture_output=True)
    for workers in (1, 3):
        out = tmp_path / f"out-{workers}"
        done = out / ".extraction" / "crew" / "results"
        with subprocess.Popen([*command, str(out), "0", '{"workers": 2}'], stdout=subprocess.DEVNULL) as process:
            while process.poll() is None and not (done.is_dir() and any(done.iterdir())):
                time.sleep(0.001)
            os.kill(process.pid, signal.SIGKILL)
        assert not (out / "result.json").exists(), "killed too late to try anything"
        settings = f'{{"workers": {workers}}}'
        again = subprocess.run([*command, str(out), "0", settings], capture_output=True, text=True)
        assert not again.returncode, again.stderr
        assert tree(out) == tree(tmp_path / "whole")


@pytest.mark.parametrize("make", [jsonl, trec, warc])
def test_memory_does_not_grow_with_the_corpus(tmp_path: Path, monkeypatch, make):
    monkeypatch.setattr(pieces, "_STEP", 100)
    monkeypatch.setattr(streams, "_BLOCK", 1 << 14)
    peaks = []
    for size in (2_000, 6_000):
        ending = "warc.gz" if make is warc else make.__name__
        documents = [Document(f"d{n}", "some words of a text that is neither long nor short") for n in range(size)]
        source = make(tmp_path / f"{size}.{ending}", documents)
        del documents
        tracemalloc.start()
        extract(source, [f"d{n}" for n in range(0, 2000, 40)], tmp_path / f"out-{size}")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]


@pytest.mark.parametrize("make", [jsonl, warc])
def test_several_processes_give_the_same_bytes(tmp_path: Path, make):
    ending = "warc.gz" if make is warc else "jsonl"
    files = [make(tmp_path / f"{n}.{ending}", DOCUMENTS[50 * n : 50 * n + 50]) for n in range(4)]
    extract(files, SAMPLE, tmp_path / "one", queries=QUERIES, qrels=QRELS)
    told: list[Progress] = []
    extract(files, SAMPLE, tmp_path / "two", queries=QUERIES, qrels=QRELS, workers=2, progress=told.append)
    assert tree(tmp_path / "two") == tree(tmp_path / "one")
    assert (told[-1].number, told[-1].pieces, told[-1].read, told[-1].found) == (4, 4, 200, 4)


def test_processes_are_started_where_they_are_worth_it(tmp_path: Path, monkeypatch):
    files = [jsonl(tmp_path / f"{n}.jsonl", DOCUMENTS[:50]) for n in range(3)]
    found = open_corpus(files, 1).pieces
    monkeypatch.setattr(crew, "cores", lambda: 8)
    assert crew.worthwhile_workers(found) == 1
    monkeypatch.setattr(crew, "_WORTH", files[0].stat().st_size)
    assert crew.worthwhile_workers(found) == 3
    monkeypatch.setattr(crew, "cores", lambda: 2)
    assert crew.worthwhile_workers(found) == 2


def test_a_damaged_file_is_named_by_the_process_that_finds_it(tmp_path: Path):
    files = [warc(tmp_path / f"{n}.warc.gz", DOCUMENTS[50 * n : 50 * n + 50]) for n in range(4)]
    whole = files[2].read_bytes()
    files[2].write_bytes(whole[:-30])
    with pytest.raises(InputError, match=r"2\.warc\.gz: .*is damaged"):
        extract(files, SAMPLE, tmp_path / "out", workers=2)
    files[2].write_bytes(whole)
    assert extract(files, SAMPLE, tmp_path / "out", workers=2).documents == 4
