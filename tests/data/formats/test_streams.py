import bz2
import gzip
import lzma
import os
import random
import threading
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from ringtrue.data.formats.streams import (
    check_file,
    plain_name,
    read_blocks_ahead,
    read_bytes,
    read_head,
    read_lines,
    read_texts,
)
from ringtrue.data.notes import Notes
from ringtrue.errors import FormatError, InputError


def _zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


COMPRESSIONS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": _zstd}
TEXT = b"".join(b"line %d, \xc3\xa4\xc3\xb6\xc3\xbc\n" % number for number in range(5000))


def lines_of(path: Path, notes: Notes | None = None) -> list[tuple[int, str]]:
    return list(read_lines(path, Notes() if notes is None else notes))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file.txt"


def test_plain_bytes_come_as_they_are(file: Path):
    file.write_bytes(TEXT)
    assert read_bytes(file) == TEXT


@pytest.mark.parametrize("compress", COMPRESSIONS.values(), ids=COMPRESSIONS)
def test_compression_is_told_by_content(file: Path, compress):
    file.write_bytes(compress(TEXT))
    assert read_bytes(str(file)) == TEXT
    assert lines_of(file)[-1] == (5000, "line 4999, äöü")


@pytest.mark.parametrize("compress", COMPRESSIONS.values(), ids=COMPRESSIONS)
def test_several_members_or_frames_are_one_file(file: Path, compress):
    file.write_bytes(compress(b"one\ntw") + compress(b"o\nthree\n"))
    assert lines_of(file) == [(1, "one"), (2, "two"), (3, "three")]


def test_zstandard_with_a_skippable_frame_first(file: Path):
    file.write_bytes(b"\x50\x2a\x4d\x18\x04\0\0\0abcd" + _zstd(b"one\n"))
    assert read_bytes(file) == b"one\n"


@pytest.mark.parametrize("compress", COMPRESSIONS.values(), ids=COMPRESSIONS)
@pytest.mark.parametrize("keep", [0.3, 0.9, -3])
def test_truncated_compression_is_an_error_with_the_file(file: Path, compress, keep):
    data = compress(os.urandom(4000) + TEXT)
    file.write_bytes(data[: int(len(data) * keep) if keep > 0 else keep])
    with pytest.raises(FormatError, match=r"file\.txt: the .* data is damaged or cut short .*again"):
        read_bytes(file)


@pytest.mark.parametrize("compress", COMPRESSIONS.values(), ids=COMPRESSIONS)
def test_corrupt_compression_is_an_error(file: Path, compress):
    data = bytearray(compress(os.urandom(4000)))
    middle = len(data) // 2
    data[middle : middle + 40] = bytes(40)
    file.write_bytes(data)
    with pytest.raises(FormatError, match="damaged or cut short"):
        read_bytes(file)


def test_garbage_behind_gzip_is_an_error(file: Path):
    file.write_bytes(gzip.compress(b"one\n") + b"garbage")
    with pytest.raises(FormatError, match="damaged"):
        read_bytes(file)


@pytest.mark.parametrize("data", [b"", gzip.compress(b""), _zstd(b"")], ids=["plain", "gzip", "zstd"])
def test_empty_files_are_errors(file: Path, data):
    file.write_bytes(data)
    with pytest.raises(FormatError, match="the file is empty"):
        lines_of(file)


@pytest.mark.parametrize(
    ("data", "word"), [(b"PK\x03\x04rest", "zip archive"), (b"7z\xbc\xaf\x27\x1c", "7z"), (b"Rar!abc", "rar")]
)
def test_archives_are_named(file: Path, data, word):
    file.write_bytes(data)
    with pytest.raises(FormatError, match=f"{word}.*unpack"):
        read_bytes(file)


def test_missing_file_suggests_its_neighbours(tmp_path: Path):
    (tmp_path / "topics.robust04.txt").write_text("x")
    with pytest.raises(InputError, match=r"no such file; did you mean topics\.robust04\.txt\?"):
        read_bytes(tmp_path / "topics.robust4.txt")
    with pytest.raises(InputError, match="no such file; check the path"):
        read_bytes(tmp_path / "zzz")
    with pytest.raises(InputError, match=r"there is no folder .*nowhere either"):
        read_bytes(tmp_path / "nowhere" / "file")


def test_a_folder_is_no_file(tmp_path: Path):
    with pytest.raises(InputError, match="is a folder where a file is expected"):
        read_bytes(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(file: Path):
    file.write_text("x")
    file.chmod(0)
    with pytest.raises(InputError, match="cannot be read: Permission denied"):
        read_bytes(file)


def test_check_file_gives_the_path_or_an_error(file: Path):
    file.write_text("x")
    assert check_file(str(file)) == file
    with pytest.raises(InputError, match=r"no such file.* Give another\.$"):
        check_file(file.with_name("other"), "Give another.")


def test_a_pipe_can_be_read_only_once(tmp_path: Path):
    with pytest.raises(InputError, match="only once"):
        check_file("/dev/null")


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"one\ntwo\n", ["one", "two"]),
        (b"one\ntwo", ["one", "two"]),
        (b"one\r\ntwo\r\n", ["one", "two"]),
        (b"one\r\ntwo\r", ["one", "two"]),
        (b"\xef\xbb\xbfone\n\n two \n", ["one", "", " two "]),
        (b"\n", [""]),
        ("a\x85b\u2028c\x0bd\n".encode(), ["a\x85b\u2028c\x0bd"]),
    ],
)
def test_lines_end_with_lf_or_crlf_only(file: Path, data, lines):
    file.write_bytes(data)
    notes = Notes()
    assert lines_of(file, notes) == list(enumerate(lines, 1))
    assert not len(notes)


def test_other_encodings_are_read_and_counted(file: Path):
    file.write_bytes(b"caf\xc3\xa9\ncaf\xe9 \x93quoted\x94\n\x81\xe9\n")
    notes = Notes()
    assert [text for _, text in lines_of(file, notes)] == ["café", "café “quoted”", "\x81é"]
    (note,) = notes
    assert (note.what, note.times) == ("lines that are not UTF-8, read as Windows-1252", 2)
    assert note.first.endswith("file.txt, line 2")


def test_a_nul_byte_is_an_error_with_its_line(file: Path):
    file.write_bytes(b"a line of text\n" * 70_000 + b"one\0two\n")
    with pytest.raises(FormatError, match="line 70001: a NUL byte") as caught:
        lines_of(file)
    assert caught.value.line == 70_001


def test_utf16_and_binary_data_are_errors(file: Path):
    file.write_text("one\ntwo\n", encoding="utf-16")
    with pytest.raises(FormatError, match=r"UTF-16.*iconv"):
        lines_of(file)
    file.write_bytes(bytes(range(1, 32)) * 20)
    with pytest.raises(FormatError, match="binary data"):
        lines_of(file)


def test_lines_longer_than_a_block(file: Path):
    long = "x" * 1_000_000
    file.write_text(f"one\n{long}\ntwo\n{long}")
    assert lines_of(file) == [(1, "one"), (2, long), (3, "two"), (4, long)]


def test_texts_end_where_lines_end(file: Path):
    file.write_bytes(TEXT * 20)
    pieces = list(read_texts(file, Notes()))
    assert "".join(text for _, text in pieces).encode() == TEXT * 20
    assert len(pieces) > 3
    assert all(text.endswith("\n") for _, text in pieces)
    assert [first for first, _ in pieces][1] == pieces[0][1].count("\n") + 1


def test_head_holds_whole_lines(file: Path):
    file.write_bytes(TEXT * 20)
    head = read_head(file)
    assert head.endswith("\n")
    assert 60_000 < len(head) <= 65_536
    file.write_text("one line")
    assert read_head(file) == "one line"


def test_plain_name():
    assert plain_name("a/Topics.TSV.gz") == "topics.tsv"
    assert plain_name("corpus.jsonl") == "corpus.jsonl"


text = st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs", "Cc"]), max_size=30)


@settings(deadline=None)
@given(lines=st.lists(text, min_size=1), last=st.booleans(), crlf=st.booleans())
def test_any_lines_come_back(tmp_path_factory, lines, last, crlf):
    end = "\r\n" if crlf else "\n"
    data = (end.join(lines) + (end if last else "")).encode()
    file = tmp_path_factory.mktemp("lines") / "file"
    file.write_bytes(gzip.compress(data))
    if not data:
        return
    found = [line for _, line in read_lines(file, Notes())]
    expected = lines if last or lines[-1] else lines[:-1]
    assert found == [expected[0].removeprefix("\ufeff"), *expected[1:]]


def test_reading_ahead_ends_where_nobody_reads_on(file: Path):
    file.write_bytes(gzip.compress(random.Random(1).randbytes(5_000_000)))
    blocks = read_blocks_ahead(file)
    assert next(blocks)
    blocks.close()
    assert all(thread.name != "ahead" for thread in threading.enumerate())
    assert b"".join(read_blocks_ahead(file)) == read_bytes(file)
