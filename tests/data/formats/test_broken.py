"""Whatever is given to whatever reader, the answer is records or one clear error that names the file."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ringtrue.data.formats.detect import read_documents, read_log, read_qrels, read_queries, role_of
from ringtrue.data.formats.variants import read_variants
from ringtrue.data.notes import Notes
from ringtrue.errors import FormatError, InputError

READERS: dict[str, Callable[[Path], object]] = {
    "queries": read_queries,
    "documents": lambda path: list(read_documents(path)),
    "qrels": read_qrels,
    "log": lambda path: list(read_log(path)),
    "variants": lambda path: read_variants(path, Notes()),
}
SAMPLES = (
    b"<top>\n<num> Number: 301\n<title> a\n<desc> Description:\nb\n</top>\n",
    b"<DOC>\n<DOCNO>1</DOCNO>\n<TITLE>a</TITLE><TEXT>b</TEXT>\n</DOC>\n",
    b'{"_id": "1", "text": "a", "variants": ["b"]}\n{"_id": "2", "text": "c", "doc_ids": ["d"]}\n',
    b"query-id\tcorpus-id\tscore\n1\ta\t1\n",
    b'query_id,text\n1,"a\nb"\n',
    b"1 0 a 1\n1 0 b 0\n2 0 a -1\n",
    b"301-1-1;a\n301-1-2;b\n302-1-1;c\n",
    b"PAR1\x15\x04\x15PAR1",
)
EVERYWHERE = {
    "empty": (b"", "the file is empty"),
    "truncated gzip": (gzip.compress(SAMPLES[0] * 50, mtime=0)[:-9], "gzip data is damaged or cut short"),
    "NUL byte": (b"1\ta\n2\tb\0\n", "line 2: a NUL byte"),
    "UTF-16": ("1\ta\n".encode("utf-16"), "UTF-16"),
    "binary": (bytes(range(1, 256)) * 4, "binary data"),
    "zip": (b"PK\x03\x04" + bytes(30), "zip archive"),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize(("data", "message"), EVERYWHERE.values(), ids=EVERYWHERE)
def test_damage_is_named_by_every_reader(tmp_path: Path, read, data, message):
    path = tmp_path / "some file"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_folders_and_missing_files_are_named_by_every_reader(tmp_path: Path, read):
    with pytest.raises(InputError, match="is a folder where a file is expected"):
        read(tmp_path)
    (tmp_path / "queries.tsv").write_text("x")
    with pytest.raises(InputError, match=r"no such file; did you mean queries\.tsv\?"):
        read(tmp_path / "querys.tsv")


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A sound file with some of its bytes replaced, taken away or repeated."""
    data = bytearray(draw(st.sampled_from(SAMPLES)))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        data[start : start + draw(st.integers(0, 5))] = draw(
            st.binary(max_size=4) | st.sampled_from([b"\n", b"\t", b'"'])
        )
    return bytes(data)


@settings(deadline=None, max_examples=200)
@given(data=damaged() | st.binary(max_size=60), name=st.sampled_from(["file", "q.tsv", "docs.csv", "topics.jsonl"]))
@example(data=b"{}", name="file")
@example(data=b"\xef\xbb\xbf", name="file")
@example(data=b"\x1f\x8b", name="file")
@example(data=b"\x28\xb5\x2f\xfd", name="file")
@example(data=b"PAR1", name="file")
@example(data=b"\r", name="docs.csv")
def test_no_bytes_at_all_lead_to_another_error(tmp_path_factory, data, name):
    path = tmp_path_factory.mktemp("damaged") / name
    path.write_bytes(data)
    role_of(path)
    for read in READERS.values():
        try:
            read(path)
        except InputError as error:
            assert str(path) in str(error)
