from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from ringtrue.data.runs import Run, RunSet, run_files, run_names
from ringtrue.data.ties import Ties
from ringtrue.errors import FormatError, InputError

CLEAN = "2 Q0 b 1 0.5 tag\n2 Q0 a 2 0.25 tag\n1 Q0 c 1 3 tag\n"


def write(folder: Path, text: str | bytes, name: str = "some.run") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def rankings(run: Run) -> dict[str, list[tuple[str, float]]]:
    return {topic: [(line.doc_id, line.score) for line in ranking] for topic, ranking in run.rankings.items()}


@pytest.mark.parametrize(
    "text",
    [
        CLEAN,
        CLEAN.replace(" ", "\t"),
        CLEAN.replace(" ", " \t  "),
        CLEAN.replace("\n", "\r\n"),
        CLEAN.rstrip("\n"),
        "\n" + CLEAN.replace("\n", "\n\n"),
        "".join(f"  {line}  \n" for line in CLEAN.splitlines()),
        CLEAN.replace("2 Q0 a", "2\tQ0\ta"),
        "\ufeff" + CLEAN,
        CLEAN.replace(" 3 ", " +3 "),
        CLEAN.replace(" 3 ", " 3.0e0 "),
        "".join(reversed(CLEAN.splitlines(keepends=True))),
    ],
    ids=[
        "blanks",
        "tabs",
        "mixed",
        "crlf",
        "no-newline",
        "empty-lines",
        "margins",
        "a-tab",
        "bom",
        "plus",
        "exp",
        "order",
    ],
)
def test_all_dialects_read_the_same(tmp_path, text):
    run = Run.read(write(tmp_path, text))
    assert rankings(run) == {"1": [("c", 3.0)], "2": [("b", 0.5), ("a", 0.25)]}


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress,
        bz2.compress,
        lzma.compress,
        zstandard.ZstdCompressor().compress,
        lambda raw: gzip.compress(raw[:20]) + gzip.compress(raw[20:]),
    ],
    ids=["gz", "bz2", "xz", "zst", "two gzip members"],
)
def test_compression_is_seen_in_the_content(tmp_path, packed):
    assert Run.read(write(tmp_path, packed(CLEAN.encode()))).topics == ("1", "2")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 Q0 a 1 2\n", "line 1: 5 columns, a run has six"),
        (CLEAN + "1 Q0 a 1 2 my tag\n", "line 4: 7 columns"),
        ("1 Q0 a 1 nan t\n", "line 1: the score 'nan' is not finite"),
        (CLEAN + "1 Q0 x 1 inf t\n", "line 4: the score 'inf' is not finite"),
        ("1 Q0 a 1 high t\n", "line 1: the score 'high' is not a number"),
        (CLEAN + "2 Q0 b 9 0.1 tag\n", r"line 4: document 'b' twice for topic '2' \(first in line 1\)"),
        ("1 Q0 a\0b 1 1 t\n", "line 1: a NUL byte"),
        ("\n \n", "no lines"),
        ("", "empty"),
        (gzip.compress(CLEAN.encode() * 50, mtime=0)[:-30], "gzip"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path, text, message):
    path = write(tmp_path, text)
    with pytest.raises(FormatError, match=message) as caught:
        Run.read(path)
    assert str(path) in str(caught.value)


def test_ties_go_by_document_id(tmp_path):
    text = "".join(f"1 Q0 {doc} 1 1.0 t\n" for doc in ("d10", "d9", "é", "D1"))
    path = write(tmp_path, text)
    ascending = RunSet.read([path]).run(0)
    descending = RunSet.read([path], Ties.DESC).run(0)
    assert [line.doc_id for line in ascending.ranking("1")] == ["D1", "d10", "d9", "é"]
    assert [line.doc_id for line in descending.ranking("1")] == ["é", "d9", "d10", "D1"]


def test_what_is_tolerated_is_counted(tmp_path):
    runs = RunSet.read([write(tmp_path, CLEAN.replace("\n", "\n\n").encode() + b"1 Q0 caf\xe9 2 1 t\n")])
    assert {note.what: note.times for note in runs.notes} == {
        "run files that are not UTF-8, read as Windows-1252": 1,
        "blank lines in run files skipped": 3,
    }
    assert runs.run(0).ranking("1")[1].doc_id == "café"


def test_second_reading_comes_from_the_cache(tmp_path, own_cache, monkeypatch):
    path = write(tmp_path, CLEAN + "\n")
    first = RunSet.read([path])
    monkeypatch.setattr("ringtrue.data.runs.read_run_columns", None)
    second = RunSet.read([path])
    assert rankings(first.run(0)) == rankings(second.run(0))
    assert (second.names, second.tags, list(second.notes)) == (("some",), ("tag",), list(first.notes))
    assert len(list((own_cache / "runs").iterdir())) == 1


def test_changed_content_is_read_again(tmp_path):
    path = write(tmp_path, CLEAN)
    before = RunSet.read([path])
    write(tmp_path, CLEAN.replace("0.25", "0.75"))
    after = RunSet.read([path])
    assert [line.doc_id for line in before.run(0).ranking("2")] == ["b", "a"]
    assert [line.doc_id for line in after.run(0).ranking("2")] == ["a", "b"]


def test_names_come_from_files(tmp_path):
    paths = [Path("x/bm25.run.gz"), Path("x/sab20.1.meta.docs.gz"), Path("y/input.uog"), Path("y/plain.txt")]
    assert run_names(paths) == ["bm25", "sab20.1.meta.docs", "input.uog", "plain"]
    with pytest.raises(InputError, match="two run files are named 'bm25'"):
        run_names([Path("a/bm25.gz"), Path("b/bm25.run")])
    with pytest.raises(InputError, match="no run files"):
        run_files(tmp_path)


def test_what_tells_about_a_folder_is_no_run(tmp_path):
    for name in (
        "README.md",
        "readme",
        "LICENSE.txt",
        ".DS_Store",
        "notes.md",
        "copying-bm25.txt",
        "b.run",
        "a.run.gz",
    ):
        write(tmp_path, CLEAN, name)
    assert [path.name for path in run_files(tmp_path)] == ["a.run.gz", "b.run", "copying-bm25.txt"]


scored = st.dictionaries(st.text("abcde", min_size=1, max_size=3), st.sampled_from([-1.0, 0.1, 1 / 3, 2.0]), min_size=1)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from("123"), scored, min_size=1), min_size=1, max_size=4))
def test_runset_is_the_runs_it_was_made_from(results):
    runs = [
        Run.from_results(f"r{n}", {t: list(docs.items()) for t, docs in one.items()}) for n, one in enumerate(results)
    ]
    coded = RunSet.from_runs(runs)
    assert [rankings(coded.run(place)) for place in range(len(runs))] == [rankings(run) for run in runs]
    cut = coded.cut(1)
    assert [rankings(cut.run(place)) for place in range(len(runs))] == [rankings(run.cut(1)) for run in runs]
    assert coded.rank.max() == max(len(ranking) for run in runs for ranking in run.rankings.values())


def test_writing_and_reading_keeps_every_digit(tmp_path):
    rng = np.random.default_rng(3)
    made = Run.from_results("r", {"1": [(f"d{n}", float(score)) for n, score in enumerate(rng.normal(size=50))]})
    assert Run.read(write(tmp_path, made.to_trec(), "r.run")) == made


def test_equals_ir_measures_on_a_real_run(shared):
    path = shared / "leakage" / "nyt-common-core-2017-bm25.run.gz"
    theirs: dict[str, dict[str, float]] = {}
    for line in ir_measures.read_trec_run(str(path)):
        theirs.setdefault(line.query_id, {})[line.doc_id] = line.score
    ours = Run.read(path)
    assert {topic: {line.doc_id: line.score for line in ours.ranking(topic)} for topic in ours.topics} == theirs
