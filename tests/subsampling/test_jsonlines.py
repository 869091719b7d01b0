from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ringtrue.data.formats.detect import read_documents
from ringtrue.data.notes import Notes
from ringtrue.data.records import Document
from ringtrue.errors import FormatError
from ringtrue.subsampling.jsonlines import JsonLinesFile
from ringtrue.subsampling.pieces import Place


def search(path: Path, wanted: set[str], start: Place | None = None) -> list[Document]:
    steps = JsonLinesFile(path).search(frozenset(wanted), start or Place())
    return [document for step in steps for document in step.found]


def lines(*rows: object) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


ODD = {
    "plain": lines({"_id": "a", "title": "T", "text": "x"}, {"_id": "b", "text": " y "}),
    "compact": b'{"_id":"a","text":"x"}\n{"_id":"b","text":"y"}\n',
    "other names": lines({"docno": "a", "contents": "x", "title": "T"}, {"docno": "b", "contents": "y"}),
    "id not first": lines({"text": "x", "_id": "a"}, {"text": "y", "_id": "b"}),
    "id and better id": lines({"id": "1", "_id": "a", "text": "x"}, {"id": "2", "_id": "b", "text": "y"}),
    "mixed order": lines({"_id": "a", "text": "x"}, {"text": "y", "_id": "b"}, {"_id": "c", "text": "z"}),
    "numbers": lines({"_id": 1, "text": "x"}, {"_id": 2, "text": "y"}),
    "blanks around ids": lines({"_id": " a ", "text": "x"}, {"_id": "b", "text": "y"}),
    "escaped ids": b'{"_id": "a", "text": "x"}\n{"_id": "q\\"\\u0062\\\\", "text": "y"}\n',
    "ids beyond ASCII": '{"_id": "é", "text": "x"}\n{"_id": "日本", "text": "y"}\n'.encode(),
    "escaped beyond ASCII": lines({"_id": "é", "text": "x"}, {"_id": "日本", "text": "y"}),
    "CRLF": b'{"_id": "a", "text": "x"}\r\n{"_id": "b", "text": "y"}\r\n',
    "mark at the start": b'\xef\xbb\xbf{"_id": "a", "text": "x"}\n{"_id": "b", "text": "y"}\n',
    "blank lines": b'{"_id": "a", "text": "x"}\n\n{"_id": "b", "text": "y"}\n\n',
    "no end": b'{"_id": "a", "text": "x"}\n{"_id": "b", "text": "y"}',
    "Windows-1252": '{"_id": "a", "text": "café"}\n{"_id": "é", "text": "naïve"}\n'.encode("cp1252"),
    "half a character": b'{"_id": "a", "text": "x \\ud83d y"}\n{"_id": "b", "text": "z"}\n',
    "no text": lines({"_id": "a", "text": None}, {"_id": "b", "text": 3}),
    "id in a text": lines({"_id": "a", "text": 'x "_id": "b"'}, {"_id": "b", "text": "y"}),
}


@pytest.mark.parametrize("content", ODD.values(), ids=ODD)
@pytest.mark.parametrize("packed", [False, True])
def test_the_same_as_reading_all(tmp_path: Path, content, packed):
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(gzip.compress(content) if packed else content)
    every = list(read_documents(path))
    assert search(path, {document.doc_id for document in every}) == every
    for document in every:
        assert search(path, {document.doc_id}) == [document]


@settings(max_examples=60, deadline=None)
@example([("0", "\x00")], False, random.Random(1))
@example([("a\x00b", "\ud800")], True, random.Random(1))
@given(
    st.lists(st.tuples(st.text(min_size=1), st.text()), min_size=1, max_size=8, unique_by=lambda row: row[0].strip()),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_any_ids_and_texts(tmp_path_factory, rows, ascii_only, rng):
    path = tmp_path_factory.mktemp("any") / "corpus.jsonl"
    rows = [(doc_id, text) for doc_id, text in rows if doc_id.strip()] or [("a", "x")]
    text = "".join(json.dumps({"_id": doc_id, "text": text}, ensure_ascii=ascii_only) + "\n" for doc_id, text in rows)
    path.write_bytes(text.encode("utf-8", "replace"))
    every = list(read_documents(path))
    wanted = {document.doc_id for document in every if rng.random() < 0.5}
    assert search(path, wanted) == [document for document in every if document.doc_id in wanted]


@pytest.mark.parametrize("packed", [False, True])
def test_a_search_goes_on_from_every_step(tmp_path: Path, packed):
    path = tmp_path / "corpus.jsonl"
    rng = random.Random(1)
    content = lines(*({"_id": f"d{n}", "text": rng.randbytes(n % 1600).hex()} for n in range(2000)))
    path.write_bytes(gzip.compress(content) if packed else content)
    wanted = {f"d{n}" for n in range(0, 2000, 7)}
    steps = list(JsonLinesFile(path).search(frozenset(wanted), Place()))
    assert len(steps) > 3
    assert steps[-1].place == Place(len(content), 2000)
    every = [document for step in steps for document in step.found]
    for done, step in enumerate(steps, start=1):
        before = [document for earlier in steps[:done] for document in earlier.found]
        assert before + search(path, wanted, step.place) == every


def test_notes_go_on_as_well(tmp_path: Path):
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(b"".join(b'{"_id": "%d", "text": "%s"}\n\n' % (n, b"x" * 100) for n in range(5000)))
    steps = list(JsonLinesFile(path).search(frozenset(), Place()))
    again = list(JsonLinesFile(path).search(frozenset(), steps[0].place))
    assert again[-1].place == steps[-1].place
    assert [note.times for note in steps[-1].place.notes] == [5000]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"_id": "a", "text": "x"}\n{"_id": "b", "te', "line 2: not valid JSON"),
        (b'{"_id": "a", "text": "x"}\n{"_id": "b" "text": "y"}\n', "line 2: not valid JSON"),
        (b'{"_id": "a", "text": "x"}\n["b"]\n', "line 2: a JSON object is expected"),
        (b'{"_id": "a", "text": "x"}\n{"text": "y"}\n', "line 2: no document id"),
        (b'{"_id": "a", "text": "x"}\n{"_id": "b"}\n', "line 2: no document text"),
    ],
)
def test_broken_lines(tmp_path: Path, content, message):
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        search(path, {"b"})


def test_a_file_cut_short_is_noticed_whatever_is_wanted(tmp_path: Path):
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(lines(*({"_id": str(n), "text": "x"} for n in range(50)))[:-9])
    with pytest.raises(FormatError, match="line 50"):
        search(path, {"1"})
    path.write_bytes(gzip.compress(lines(*({"_id": str(n), "text": "x"} for n in range(50))))[:-9])
    with pytest.raises(FormatError, match="damaged or cut short"):
        search(path, {"1"})


def test_notes_are_those_of_the_reader(tmp_path: Path):
    path, notes = tmp_path / "corpus.jsonl", Notes()
    path.write_bytes(ODD["Windows-1252"] + b"\n")
    every = list(read_documents(path, notes))
    steps = list(JsonLinesFile(path).search(frozenset(document.doc_id for document in every), Place()))
    assert set(steps[-1].place.notes) == set(notes)
