"""Extracting a sample beside reading the corpus once, and searching web archives beside FastWARC alone.

    python -m benchmarks.extraction [--documents N] [--archived N]

The corpus is generated: the documents of lighthouse over and over, each with an id of its own, as JSON Lines (plain and
gzip), TREC markup, and WARC (one record a gzip member, and all in one). One document in a hundred is extracted. Reading
the corpus once is timed in three ways: its lines alone, its lines parsed, and the package's own reader.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import random
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from fastwarc.warc import ArchiveIterator

from benchmarks.machine import alternate, describe, write
from ringtrue.data.formats.detect import read_documents
from ringtrue.data.formats.warc import read_pages
from ringtrue.data.load import load
from ringtrue.data.records import Document
from ringtrue.subsampling.extract import extract

REPEATS = 5
ONE_IN = 100


def documents(count: int) -> Iterator[Document]:
    """The documents of lighthouse over and over, with ids of their own."""
    source = itertools.cycle(list(load("builtin:lighthouse").documents()))
    for number, document in enumerate(itertools.islice(source, count)):
        yield document._replace(doc_id=f"doc-{number:09d}")


def wanted(count: int) -> list[str]:
    """One id in a hundred."""
    return [f"doc-{number:09d}" for number in range(0, count, ONE_IN)]


def as_json(document: Document) -> bytes:
    """A line as BEIR has it."""
    row = {"_id": document.doc_id, "title": document.title, "text": document.text}
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


def as_trec(document: Document) -> bytes:
    """TREC markup."""
    body = f"<TITLE>{document.title}</TITLE>\n<TEXT>\n{document.text}\n</TEXT>"
    return f"<DOC>\n<DOCNO>{document.doc_id}</DOCNO>\n{body}\n</DOC>\n".encode()


def as_record(document: Document) -> bytes:
    """A WARC record of a page of about 20,000 bytes, which is usual in crawls."""
    rng = random.Random(document.doc_id)
    items = "".join(f'<li><a href="/{rng.randbytes(5).hex()}">item {rng.randrange(10**6)}</a></li>' for _ in range(400))
    html = f"<title>{document.title}</title><ul>{items}</ul><p>{document.text}</p>".encode()
    content = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + html
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{document.doc_id}>\r\n"
        f"WARC-TREC-ID: {document.doc_id}\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content + b"\r\n\r\n"


def make_corpora(folder: Path, count: int, archived: int) -> None:
    """Write the same documents in every format."""
    pack = zlib.compressobj(6, zlib.DEFLATED, 31)
    with (
        open(folder / "corpus.jsonl", "wb") as plain,
        open(folder / "tenth.jsonl", "wb") as tenth,
        closing(gzip.GzipFile(folder / "corpus.jsonl.gz", "wb", 6)) as packed,
        open(folder / "docs.trec", "wb") as trec,
        open(folder / "members.warc.gz", "wb") as members,
        open(folder / "one.warc.gz", "wb") as one,
    ):
        for number, document in enumerate(documents(count)):
            line = as_json(document)
            plain.write(line)
            if number < count // 10:
                tenth.write(line)
            packed.write(line)
            trec.write(as_trec(document))
            if number < archived:
                record = as_record(document)
                members.write(gzip.compress(record, 6, mtime=0))
                one.write(pack.compress(record))
        one.write(pack.flush())


def read_bytes(path: Path) -> None:
    """Every line, unparsed."""
    with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
        for _ in file:
            pass


def read_json(path: Path) -> None:
    """Every line, parsed."""
    with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
        for line in file:
            json.loads(line)


def read_all(path: Path) -> None:
    """Every document by the package's reader."""
    for _ in read_documents(path):
        pass


def iterate(path: Path) -> None:
    """Every record by FastWARC, which has to decompress it, unparsed."""
    with open(path, "rb") as file:
        for _ in ArchiveIterator(file, parse_http=False):
            pass


def pages(path: Path) -> None:
    """Every page by our reader, its id and that it is whole, its text not extracted."""
    for _ in read_pages(path):
        pass


def gunzip(path: Path) -> None:
    """Python's own decompressor."""
    with gzip.open(path) as file:
        while file.read(1 << 20):
            pass


def extraction(path: Path, ids: list[str], out: Iterator[Path]) -> Callable[[], object]:
    """Extract the sample into a new folder each time."""
    return lambda: extract(path, ids, next(out))


def compare(folder: Path, name: str, ids: list[str], peers: Mapping[str, Callable[[Path], None]]) -> dict[str, object]:
    """Seconds, megabytes of file a second, and how many times as fast an extraction is as each peer."""
    path = folder / name
    out = (folder / "out" / f"{name}-{number}" for number in itertools.count())
    (folder / "out").mkdir(exist_ok=True)
    contenders: dict[str, Callable[[], object]] = {"extract": extraction(path, ids, out)}
    contenders |= {peer: (lambda work=work: work(path)) for peer, work in peers.items()}  # type: ignore[misc]
    seconds = alternate(contenders, REPEATS)
    size = path.stat().st_size / 1e6
    return {
        "megabytes": round(size, 1),
        "seconds": {peer: round(value, 3) for peer, value in seconds.items()},
        "megabytes_a_second": {peer: round(size / value) for peer, value in seconds.items()},
        "times_as_fast_as": {
            peer: round(value / seconds["extract"], 2) for peer, value in seconds.items() if peer != "extract"
        },
    }


def memory(folder: Path) -> dict[str, float]:
    """Peak memory, in MB, of a process that extracts the same documents from a tenth of the corpus and from all."""
    code = (
        "import re, sys; from pathlib import Path; from ringtrue.subsampling.extract import extract;"
        "extract(sys.argv[1], [f'doc-{n:09d}' for n in range(0, 10000, 10)], sys.argv[2]);"
        "print(re.search(r'VmHWM:\\s*(\\d+)', Path('/proc/self/status').read_text())[1])"
    )
    peaks = {}
    for name in ("tenth.jsonl", "corpus.jsonl"):
        command = [sys.executable, "-c", code, str(folder / name), str(folder / f"memory-{name}")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks[name] = round(int(done.stdout) / 1024, 1)
    return peaks


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--archived", type=int, default=10_000)
    options = parser.parse_args()
    lines = {"lines": read_bytes, "parsed_lines": read_json, "reader": read_all}
    archive = {"fastwarc": iterate, "pages": pages, "python_gzip": gunzip}
    with TemporaryDirectory() as place:
        folder = Path(place)
        make_corpora(folder, options.documents, options.archived)
        ids, archived = wanted(options.documents), wanted(options.archived)
        result = {
            "corpus.jsonl": compare(folder, "corpus.jsonl", ids, lines),
            "corpus.jsonl.gz": compare(folder, "corpus.jsonl.gz", ids, lines),
            "docs.trec": compare(folder, "docs.trec", ids, {"lines": read_bytes, "reader": read_all}),
            "members.warc.gz": compare(folder, "members.warc.gz", archived, archive),
            "one.warc.gz": compare(folder, "one.warc.gz", archived, archive),
        }
        peaks = memory(folder)
    write(
        "extraction",
        {
            "machine": describe(("fastwarc", "resiliparse", "pyarrow")),
            "documents": options.documents,
            "archived": options.archived,
            "extracted_one_in": ONE_IN,
            "formats": result,
            "peak_mb": peaks,
        },
    )


if __name__ == "__main__":
    main()
