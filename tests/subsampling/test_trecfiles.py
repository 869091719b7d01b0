from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ringtrue.data.formats import trec
from ringtrue.data.notes import Notes
from ringtrue.data.records import Document
from ringtrue.errors import FormatError
from ringtrue.subsampling.pieces import Place
from ringtrue.subsampling.trecfiles import TrecFile


def search(path: Path, wanted: set[str], start: Place | None = None) -> list[Document]:
    steps = TrecFile(path).search(frozenset(wanted), start or Place())
    return [document for step in steps for document in step.found]


ODD = {
    "plain": "<DOC>\n<DOCNO>a</DOCNO>\n<TEXT>x</TEXT>\n</DOC>\n<DOC>\n<DOCNO>b</DOCNO>\n<TEXT>y</TEXT>\n</DOC>\n",
    "one line": "<DOC><DOCNO> a </DOCNO>x</DOC><DOC><DOCNO> b </DOCNO>y</DOC>",
    "small letters": "<doc><docno>a</docno><text>x</text></doc><doc id=1><docno>b</docno>y</doc >",
    "entities in ids": "<DOC><DOCNO>A&amp;B</DOCNO>x</DOC><DOC><DOCNO>b</DOCNO>y</DOC>",
    "blanks in ids": "<DOC><DOCNO>a  b</DOCNO>x</DOC><DOC><DOCNO>b</DOCNO>y</DOC>",
    "tags in ids": "<DOC><DOCNO><b>a</b></DOCNO>x</DOC><DOC><DOCNO>b</DOCNO>y</DOC>",
    "titles": "<DOC><DOCNO>a</DOCNO><TITLE>H</TITLE><TEXT>x</TEXT></DOC><DOC><DOCNO>b</DOCNO><TEXT>y</TEXT></DOC>",
    "something around": "<?xml version='1.0'?><root><DOC><DOCNO>a</DOCNO>x</DOC><DOC><DOCNO>b</DOCNO>y</DOC></root>\n",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
@pytest.mark.parametrize("packed", [False, True])
def test_the_same_as_reading_all(tmp_path: Path, text, packed):
    path = tmp_path / "docs.trec"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    every = [document for _, document in trec.read_documents(path, Notes())]
    assert len(every) == 2
    assert search(path, {document.doc_id for document in every}) == every
    for document in every:
        assert search(path, {document.doc_id}) == [document]


def test_a_search_goes_on_from_every_step(tmp_path: Path):
    path = tmp_path / "docs.trec"
    text = "".join(f"<DOC>\n<DOCNO>d{n}</DOCNO>\n<TEXT>{'word ' * (n % 300)}</TEXT>\n</DOC>\n" for n in range(2000))
    path.write_text(text)
    wanted = {f"d{n}" for n in range(0, 2000, 7)}
    steps = list(TrecFile(path).search(frozenset(wanted), Place()))
    assert len(steps) > 4
    assert steps[-1].place.read == 2000
    every = [document for step in steps for document in step.found]
    assert len(every) == len(wanted)
    for done, step in enumerate(steps, start=1):
        before = [document for earlier in steps[:done] for document in earlier.found]
        assert before + search(path, wanted, step.place) == every


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<DOC><DOCNO>a</DOCNO>x</DOC>\n<DOC><DOCNO>b</DOCNO>y", "line 2: what begins here has no </DOC>"),
        ("<DOC><DOCNO>a</DOCNO>x</DOC>\nmore text\n", "line 2: what begins here has no </DOC>"),
        ("<DOC><DOCNO>a</DOCNO>x</DOC>\n<DOC>y</DOC>", "one <DOCNO>, this one has 0"),
        ("<DOC><DOCNO>a</DOCNO>x</DOC>\n<DOC><DOCNO>b</DOCNO><DOCNO>c</DOCNO>y</DOC>", "line 2: .* has 2"),
    ],
)
def test_broken_files(tmp_path: Path, text, message):
    path = tmp_path / "docs.trec"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        search(path, {"a"})
