"""Extracting a sample beside reading the corpus once, and searching web archives beside FastWARC alone.

    python -m benchmarks.extraction [--documents N] [--archived N]

The corpus is generated: the documents of lighthouse over and over, each with an id of its own, as JSON Lines (plain and
gzip), TREC markup, Parquet, and WARC (one record a gzip member, all in one, and four archives in a folder). One
document in a hundred is extracted, and one in ten thousand, which is nearer to what samples of web crawls are.

Reading the corpus once is timed in several ways. `parsed` is what anyone who reads a corpus does: every record is read
and parsed, nothing is done with it. `lines` is less than anyone can do with: lines are split and thrown away. `reader`
is the package's own reader. In web archives `fastwarc` finds the records, by zlib, and looks at none; `isal`, which is
what we inflate with, and `python_gzip` inflate alone. The folder of archives is searched by one process and by one a
core.
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
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from fastwarc.warc import ArchiveIterator
from isal import igzip

from benchmarks.machine import alternate, describe, write
from ringtrue.data.formats.detect import read_documents
from ringtrue.data.formats.warc import read_pages
from ringtrue.data.load import load
from ringtrue.data.records import Document
from ringtrue.jobs import cores
from ringtrue.subsampling.extract import extract

REPEATS = 5
ONE_IN = 100
FEW_IN = 10_000
MORE = 5  # times as many records in several archives: processes take a while to start
ARCHIVES = 4


def documents(count: int) -> Iterator[Document]:
    """The documents of lighthouse over and over, with ids of their own."""
    source = itertools.cycle(list(load("builtin:lighthouse").documents()))
    for number, document in enumerate(itertools.islice(source, count)):
        yield document._replace(doc_id=f"doc-{number:09d}")


def wanted(count: int, one_in: int = ONE_IN) -> list[str]:
    """Ids at equal distances."""
    return [f"doc-{number:09d}" for number in range(0, count, one_in)]


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
    write_parquet(folder / "corpus.parquet", count)
    (folder / "archives").mkdir()
    pack = zlib.compressobj(6, zlib.DEFLATED, 31)
    with (
        open(folder / "corpus.jsonl", "wb") as plain,
        open(folder / "tenth.jsonl", "wb") as tenth,
        closing(gzip.GzipFile(folder / "corpus.jsonl.gz", "wb", 6)) as packed,
        open(folder / "docs.trec", "wb") as trec,
        open(folder / "members.warc.gz", "wb") as members,
        open(folder / "one.warc.gz", "wb") as one,
        ExitStack() as stack,
    ):
        names = [folder / "archives" / f"{number}.warc.gz" for number in range(ARCHIVES)]
        several = [stack.enter_context(open(name, "wb")) for name in names]
        for number, document in enumerate(documents(count)):
            line = as_json(document)
            plain.write(line)
            if number < count // 10:
                tenth.write(line)
            packed.write(line)
            trec.write(as_trec(document))
            if number < MORE * archived:
                record = as_record(document)
                member = gzip.compress(record, 6, mtime=0)
                several[number % ARCHIVES].write(member)
                if number < archived:
                    members.write(member)
                    one.write(pack.compress(record))
        one.write(pack.flush())


def write_parquet(path: Path, count: int) -> None:
    """Write row groups of ten thousand documents."""
    schema = pa.schema([("doc_id", pa.string()), ("title", pa.string()), ("text", pa.string())])
    with pq.ParquetWriter(path, schema, compression="zstd") as table:
        source = documents(count)
        while some := list(itertools.islice(source, 10_000)):
            rows = [[one.doc_id, one.title, one.text] for one in some]
            table.write_table(pa.table([list(column) for column in zip(*rows, strict=True)], schema=schema))


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


def read_trec(path: Path) -> None:
    """Every document of TREC markup, its number and its text, as a plain loop over lines has them."""
    doc_id = ""
    text: list[str] = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("<DOC>"):
                doc_id, text = "", []
            elif line.startswith("<DOCNO>"):
                doc_id = line[7 : line.index("</DOCNO>")].strip()
            elif line.startswith("</DOC>"):
                Document(doc_id, "".join(text))
            else:
                text.append(line)


def read_batches(path: Path) -> None:
    """Every column of Parquet, as Arrow has them."""
    with pq.ParquetFile(path) as file:
        for _ in file.iter_batches():
            pass


def read_rows(path: Path) -> None:
    """Every row of Parquet, as Python has them."""
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches():
            batch.to_pylist()


def read_all(path: Path) -> None:
    """Every document by the package's reader."""
    for _ in read_documents(path):
        pass


def iterate(path: Path) -> None:
    """Every record of an archive or a folder of them by FastWARC, which has to decompress it, unparsed."""
    for archive in sorted(path.iterdir()) if path.is_dir() else [path]:
        with open(archive, "rb") as file:
            for _ in ArchiveIterator(file, parse_http=False):
                pass


def pages(path: Path) -> None:
    """Every page by our reader, its id and that it is whole, its text not extracted."""
    for _ in read_pages(path):
        pass


def gunzip(path: Path, kind: type[gzip.GzipFile]) -> None:
    """Inflate, and throw away."""
    with kind(path) as file:
        while file.read(1 << 20):
            pass


class Case(NamedTuple):
    """A corpus, how many documents it has, and other ways to go through it."""

    name: str
    documents: int
    peers: Mapping[str, Callable[[Path], None]]
    workers: tuple[int, ...] = (1,)


def compare(folder: Path, case: Case) -> dict[str, object]:
    """Seconds, megabytes of file a second, and how many times as fast an extraction is as each peer."""
    path = folder / case.name
    out = (folder / "out" / f"{case.name}-{number}" for number in itertools.count())
    (folder / "out").mkdir(exist_ok=True)
    samples = {"extract": wanted(case.documents), "extract_few": wanted(case.documents, FEW_IN)}
    ways = {
        f"{name}_{count}_processes" if count > 1 else name: (ids, count)
        for name, ids in samples.items()
        for count in case.workers
    }

    def extraction(ids: list[str], workers: int) -> Callable[[], object]:
        return lambda: extract(path, ids, next(out), workers=workers)

    contenders = {name: extraction(*way) for name, way in ways.items()}
    contenders |= {peer: partial(work, path) for peer, work in case.peers.items()}
    seconds = alternate(contenders, REPEATS)
    size = sum(file.stat().st_size for file in (path.iterdir() if path.is_dir() else [path])) / 1e6
    return {
        "megabytes": round(size, 1),
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
        "megabytes_a_second": {name: round(size / value) for name, value in seconds.items()},
        "times_as_fast_as": {
            way: {peer: round(seconds[peer] / seconds[way], 2) for peer in case.peers} for way in ways
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
    lines = {"lines": read_bytes, "parsed": read_json, "reader": read_all}
    archive: dict[str, Callable[[Path], None]] = {
        "fastwarc": iterate,
        "pages": pages,
        "isal": partial(gunzip, kind=igzip.IGzipFile),
        "python_gzip": partial(gunzip, kind=gzip.GzipFile),
    }
    cases = (
        Case("corpus.jsonl", options.documents, lines),
        Case("corpus.jsonl.gz", options.documents, lines),
        Case("docs.trec", options.documents, {"lines": read_bytes, "parsed": read_trec, "reader": read_all}),
        Case("corpus.parquet", options.documents, {"batches": read_batches, "parsed": read_rows, "reader": read_all}),
        Case("members.warc.gz", options.archived, archive),
        Case("one.warc.gz", options.archived, archive),
        Case("archives", MORE * options.archived, {"fastwarc": iterate}, (1, cores())),
    )
    with TemporaryDirectory() as place:
        folder = Path(place)
        make_corpora(folder, options.documents, options.archived)
        result = {case.name: compare(folder, case) for case in cases}
        peaks = memory(folder)
    write(
        "extraction",
        {
            "machine": describe(("fastwarc", "resiliparse", "isal", "pyarrow")),
            "documents": options.documents,
            "archived": options.archived,
            "extracted_one_in": {"extract": ONE_IN, "extract_few": FEW_IN},
            "formats": result,
            "peak_mb": peaks,
        },
    )


if __name__ == "__main__":
    main()
