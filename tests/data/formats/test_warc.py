from __future__ import annotations

import bz2
import gzip
import random
from pathlib import Path

import pytest

from ringtrue.data.formats import streams, warc
from ringtrue.data.formats.warc import is_warc, read_documents, read_pages
from ringtrue.data.notes import Notes
from ringtrue.data.records import Document
from ringtrue.errors import FormatError, MissingExtraError

pytest.importorskip("fastwarc", reason="web archives need the extra 'warc'")
pytest.importorskip("resiliparse", reason="web archives need the extra 'warc'")

HTML = b"<html><head><title> Page\n %d </title></head><body><p>text of %d</p></body></html>"
HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"


def record(
    content: bytes,
    number: int = 0,
    *,
    kind: bytes = b"response",
    mime: bytes = b"application/http; msgtype=response",
    trec: bool = True,
    end: bytes = b"\r\n",
) -> bytes:
    lines = [
        b"WARC/1.0",
        b"WARC-Type: " + kind,
        b"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-%012d>" % number,
        *([b"WARC-TREC-ID: clueweb09-en0000-00-%05d" % number] if trec else []),
        b"WARC-Target-URI: http://example.org/%d" % number,
        b"Content-Type: " + mime,
        b"Content-Length: %d" % len(content),
    ]
    return end.join(lines) + end * 2 + content + end * 2


def page(number: int, **options: object) -> bytes:
    return record(HTTP + HTML % (number, number), number, **options)  # type: ignore[arg-type]


def info() -> bytes:
    return record(b"software: made by hand\r\n", kind=b"warcinfo", mime=b"application/warc-fields", trec=False)


def one_by_one(records: list[bytes]) -> bytes:
    return b"".join(gzip.compress(one, mtime=0) for one in records)


FORMS = {"x.warc": b"".join, "x.warc.gz": one_by_one, "one.warc.gz": lambda records: gzip.compress(b"".join(records))}
RECORDS = [info(), *(page(number) for number in range(4))]
PAGES = [Document(f"clueweb09-en0000-00-{n:05d}", f"text of {n}", f"Page {n}") for n in range(4)]


def read(path: Path, data: bytes, **options: bool) -> list[Document]:
    path.write_bytes(data)
    return [document for _, document in read_documents(path, Notes(), **options)]


@pytest.mark.parametrize("name", FORMS)
def test_pages_of_any_form(tmp_path: Path, name):
    path = tmp_path / name
    assert is_warc(path)
    assert read(path, FORMS[name](RECORDS)) == PAGES
    assert [number for number, _ in read_documents(path, Notes())] == [1, 2, 3, 4]
    assert [found.doc_id for found in read_pages(path)] == [document.doc_id for document in PAGES]


def test_pages_can_be_passed_over(tmp_path: Path):
    path = tmp_path / "x.warc.gz"
    path.write_bytes(one_by_one(RECORDS))
    texts = [found.document(Notes()).text for place, found in enumerate(read_pages(path)) if place % 2]
    assert texts == ["text of 1", "text of 3"]


def test_line_ends_of_clueweb09(tmp_path: Path):
    assert read(tmp_path / "x.warc", b"".join(page(number, end=b"\n") for number in range(4))) == PAGES


def test_without_trec_id_the_uuid_is_taken(tmp_path: Path):
    found = read(tmp_path / "x.warc", page(7, trec=False))
    assert [document.doc_id for document in found] == ["00000000-0000-0000-0000-000000000007"]


def test_only_pages_are_documents(tmp_path: Path):
    others = [record(b"GET / HTTP/1.1\r\n\r\n", 8, kind=b"request"), record(b"x: y\r\n", 9, kind=b"metadata")]
    assert read(tmp_path / "x.warc", b"".join([*others, page(1), *others])) == [PAGES[1]]


def test_extracted_text_of_wet_files(tmp_path: Path):
    content = record("naïve  text\nof a page".encode(), 1, kind=b"conversion", mime=b"text/plain", trec=False)
    assert read(tmp_path / "x.warc", content)[0].text == "naïve text of a page"


def test_main_content_leaves_out_the_menu(tmp_path: Path):
    body = b"<body><nav><ul><li><a href='/'>Home</a></li></ul></nav><main><p>%s</p></main></body>" % (b"story " * 60)
    data = record(HTTP + body, 1)
    assert "Home" in read(tmp_path / "x.warc", data)[0].text
    assert "Home" not in read(tmp_path / "x.warc", data, main_content=True)[0].text


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (b"Content-Type: text/html; charset=iso-8859-1\r\n", "<p>café</p>".encode("latin-1")),
        (b"Content-Type: text/html\r\n", '<meta charset="windows-1252"><p>café</p>'.encode("cp1252")),
        (b"Content-Type: text/html; charset=no-such\r\n", '<meta charset="utf-8"><p>café</p>'.encode()),
        (b"", "<p>café</p>".encode()),
        (b"Content-Type: text/plain; charset=utf-8\r\n", "café".encode()),
        (b"Transfer-Encoding: chunked\r\n", b"6\r\n<p>caf\r\n6\r\n\xc3\xa9</p>\r\n0\r\n\r\n"),
        (b"Content-Encoding: gzip\r\n", gzip.compress("<p>café</p>".encode(), mtime=0)),
    ],
)
def test_what_servers_send(tmp_path: Path, headers, body):
    data = record(b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n" + body, 1)
    assert read(tmp_path / "x.warc", data)[0].text == "café"


def test_encodings_that_a_crawler_has_undone(tmp_path: Path):
    headers = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"
    path, notes = tmp_path / "x.warc", Notes()
    path.write_bytes(record(headers + b"<p>plain after all</p>", 1))
    assert next(read_documents(path, notes))[1].text == "plain after all"
    assert [note.times for note in notes] == [1, 1]


def test_what_is_not_text_is_empty_and_noted(tmp_path: Path):
    path, notes = tmp_path / "x.warc", Notes()
    path.write_bytes(record(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG\0\0", 1))
    assert next(read_documents(path, notes))[1].text == ""
    assert [note.what for note in notes] == ["pages that are not text, taken as empty"]


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("texts", [True, False])
def test_a_file_that_is_cut_short_anywhere_is_noticed(tmp_path: Path, name, texts):
    """Only an end exactly after a whole record cannot be told from the end of a shorter file."""
    records, path = RECORDS[:3], tmp_path / name
    data = FORMS[name](records)
    ends = {len(FORMS[name](records[:count])) for count in range(1, len(records))} if name != "one.warc.gz" else set()
    for cut in range(1, len(data) - 4):  # the last record's line ends carry nothing
        path.write_bytes(data[:cut])
        if any(0 <= end - cut <= 4 and (end == cut or name == "x.warc") for end in ends):
            continue
        with pytest.raises(
            FormatError, match=r"at byte \d+ of the unpacked archive is damaged|gzip data is damaged|no web archive"
        ):
            for found in read_pages(path):
                if texts:
                    found.document(Notes())


@pytest.mark.parametrize("name", ["x.warc.gz", "one.warc.gz"])
def test_damage_in_compressed_files_is_noticed(tmp_path: Path, name):
    data, path = FORMS[name](RECORDS[:3]), tmp_path / name
    rng = random.Random(7)
    for place in range(10, len(data)):
        harmed = bytearray(data)
        harmed[place] ^= 1 << rng.randrange(8)
        path.write_bytes(harmed)
        try:
            assert [document for _, document in read_documents(path, Notes())] == PAGES[:2]
        except FormatError:
            continue


def test_a_record_with_a_damaged_beginning_is_not_passed_over(tmp_path: Path):
    data = b"".join(RECORDS)
    start = len(RECORDS[0]) + len(RECORDS[1])
    with pytest.raises(FormatError, match=f"byte {start} of the unpacked archive is damaged"):
        read(tmp_path / "x.warc", data[:start] + b"XXXX" + data[start + 4 :])


@pytest.mark.parametrize("name", FORMS)
def test_a_record_that_takes_in_another_is_noticed(tmp_path: Path, name):
    long = RECORDS[1].replace(b"Content-Length: ", b"Content-Length: 1")
    with pytest.raises(FormatError, match=r"is damaged: what begins there is not WARC/"):
        read(tmp_path / name, FORMS[name]([RECORDS[0], long, *RECORDS[2:], *(page(number) for number in range(4, 9))]))


@pytest.mark.parametrize("size", [7, 100, 1000])
@pytest.mark.parametrize("name", FORMS)
def test_blocks_of_any_size(tmp_path: Path, monkeypatch, name, size):
    monkeypatch.setattr(streams, "_BLOCK", size)
    monkeypatch.setattr(warc, "_LOOK_BACK", 1000)
    long = record(HTTP + b"<p>" + b"word " * 50_000 + b"</p>", 9)
    found = read(tmp_path / name, FORMS[name]([*RECORDS[:3], long, *RECORDS[3:]]))
    assert [document for document in found if len(document.text) < 1000] == PAGES
    assert len(found[2].text.split()) == 50_000


def test_other_compressions(tmp_path: Path):
    assert is_warc("x.warc.bz2") and is_warc("X.WARC.zst") and not is_warc("warc.txt")
    assert read(tmp_path / "x.warc.bz2", bz2.compress(b"".join(RECORDS))) == PAGES


@pytest.mark.parametrize(
    ("name", "data"), [("x.warc", b""), ("x.warc", b"hello\n"), ("x.warc.gz", gzip.compress(b"", mtime=0))]
)
def test_what_is_no_archive(tmp_path: Path, name, data):
    with pytest.raises(FormatError):
        read(tmp_path / name, data)


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch):
    path = tmp_path / "x.warc.gz"
    path.write_bytes(one_by_one(RECORDS))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"ringtrue\[warc\]"):
        list(read_pages(path))
