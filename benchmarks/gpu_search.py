"""Exact search on one GPU, from a log on disk to the nearest queries, beside sentence-transformers.

    PYTHONPATH=src:. python -m benchmarks.gpu_search --model FOLDER --log FILE --out RESULT.json

The log is a TSV of `query_id, text`; it is enlarged by recombining its queries, deterministically, and written to disk
first, so that reading is part of what is measured. The texts to search for are queries of the log that are left out of
it. Ours runs at 10 thousand, 100 thousand, 1 million and 10 million queries, then the peer on a slice at its best batch
size. Host memory is the largest so far, of this process and of those that tokenise for it. Needs torch, transformers,
tokenizers, sentence-transformers, safetensors and numpy, and nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from ringtrue.retrieval.encoders.sbert import SBert  # before torch, for which it sets how threads wait

# isort: split
import numpy as np
import torch

from benchmarks.enlarge import enlarged, read_queries
from benchmarks.machine import peak_memory, peak_memory_of_children
from ringtrue.data.cells import LogBlock, regrouped
from ringtrue.data.formats.columns import tab_separated
from ringtrue.data.formats.streams import read_pieces
from ringtrue.retrieval.search import Block, ExactSearch

TEXTS, K, THRESHOLD = 2_750, 100, 0.88
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
BLOCK = 262_144
PEER_SLICE = 200_000
PEER_BATCHES = (256, 1024, 4096)


def blocks(path: Path, size: int, waited: list[float]) -> Iterator[Block]:
    """The log in blocks, read as a stream; the seconds of reading are added up in `waited`."""
    found = regrouped(map(_columns, read_pieces(path)), size)
    while True:
        start = time.perf_counter()
        block = next(found, None)
        waited[0] += time.perf_counter() - start
        if block is None:
            return
        yield Block(block.texts, block.ids)


def _columns(piece: tuple[int, bytes]) -> LogBlock:
    block = tab_separated(piece[1])
    if block is None:
        sys.exit(f"the log has a line after line {piece[0]} that is not plainly id, text")
    return block


def write_log(path: Path, queries: Sequence[str], size: int) -> None:
    """A log of so many distinct queries."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"q{number}\t{text}\n" for number, text in enumerate(enlarged(queries, size)))


def ours(model: Path, device: str, texts: Sequence[str], log: Path) -> dict[str, Any]:
    """One search, from opening the file to the hits."""
    _settle(device)
    begin, reading = time.perf_counter(), [0.0]
    search = ExactSearch(SBert(str(model), device=device), texts, k=K, threshold=THRESHOLD)  # type: ignore[arg-type]
    prepared = time.perf_counter()
    for _ in search.run(blocks(log, BLOCK, reading)):
        pass
    _settle(device)
    scanned = time.perf_counter()
    found = search.finish()
    end = time.perf_counter()
    return {
        "queries": found.seen,
        "hits": len(found.hits.rows),
        "seconds": round(end - begin, 3),
        "queries_per_second": round(found.seen / (end - begin)),
        "stages": {
            "texts": round(prepared - begin, 3),
            "stream": round(scanned - prepared, 3),
            "of_it_reading": round(reading[0], 3),
            "finish": round(end - scanned, 3),
        },
        "scored_again": None if found.rescored is None else found.rescored.texts,
        "certain": None if found.rescored is None else found.rescored.certain,
        "gpu_memory_gb": round(torch.cuda.max_memory_allocated() / 1e9, 2) if device == "cuda" else None,
        "host_memory_mb": {"process": round(peak_memory()), "tokenising": round(peak_memory_of_children())},
    }


def theirs(model: Path, device: str, texts: Sequence[str], log: Path, size: int) -> dict[str, Any]:
    """The peer: encode and compare a slice, with the batch size that is fastest on a part of it."""
    from sentence_transformers import SentenceTransformer

    peer = SentenceTransformer(str(model), device=device)
    if device == "cuda":
        peer = peer.half()
    part = [line.rstrip("\n").partition("\t")[2] for line in islice(open(log, encoding="utf-8"), size)]
    peer.encode(part[: min(2048, size)], batch_size=256, show_progress_bar=False)
    tried = {batch: _seconds(lambda batch=batch: _encode(peer, part[: size // 8], batch)) for batch in PEER_BATCHES}
    best = min(tried, key=tried.__getitem__)

    def work() -> None:
        rows, vectors = _encode(peer, list(texts), best), _encode(peer, part, best)
        (rows @ vectors.T).topk(min(K, len(part)), dim=1).values.cpu()

    seconds = _seconds(work)
    return {"queries": len(part), "batch_size": best, "seconds": round(seconds, 3),
            "queries_per_second": round(len(part) / seconds), "seconds_by_batch_size": tried}  # fmt: skip


def _encode(peer: Any, texts: list[str], batch: int) -> torch.Tensor:  # noqa: ANN401
    found: torch.Tensor = peer.encode(
        texts, batch_size=batch, convert_to_tensor=True, normalize_embeddings=True, show_progress_bar=False
    )
    return found


def _seconds(work: Any) -> float:  # noqa: ANN401
    start = time.perf_counter()
    work()
    _settle("cuda" if torch.cuda.is_available() else "cpu")
    return round(time.perf_counter() - start, 3)


def _settle(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def machine(device: str) -> dict[str, Any]:
    """What it ran on."""
    gpu = torch.cuda.get_device_properties(0) if device == "cuda" else None
    return {
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "gpu": gpu.name if gpu else None,
        "gpu_memory_gb": round(gpu.total_memory / 1e9, 1) if gpu else None,
    }


def main() -> int:
    """Measure, print a table, and write all after each step, so that a time limit leaves what was done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--texts", type=int, default=TEXTS)
    parser.add_argument("--peer", type=int, default=PEER_SLICE, help="queries of the peer's slice; 0 leaves it out")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    queries = read_queries(options.log)
    texts, rest = _apart(queries, options.texts)
    content: dict[str, Any] = {"machine": machine(device), "texts": len(texts), "k": K, "threshold": THRESHOLD}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.tsv"
        write_log(log, rest, min(options.sizes))
        ours(options.model, device, texts, log)  # loads, compiles and starts the tokenising processes
        content["ours"], content["peer"] = [], None
        for size in sorted(options.sizes):
            content["ours"].append(ours(options.model, device, texts, _log(log, rest, size)))
            _write(options.out, content)
            print(json.dumps(content["ours"][-1]), flush=True)
        if options.peer:
            content["peer"] = theirs(options.model, device, texts, _log(log, rest, options.peer), options.peer)
            for row in content["ours"]:
                row["times_faster"] = round(row["queries_per_second"] / content["peer"]["queries_per_second"], 2)
            _write(options.out, content)
    print(json.dumps({key: value for key, value in content.items() if key != "ours"}))
    return 0


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _log(path: Path, queries: Sequence[str], size: int) -> Path:
    write_log(path, queries, size)
    return path


def _apart(queries: Sequence[str], count: int) -> tuple[list[str], list[str]]:
    """Some queries, evenly spread, as the texts to search for, and the others."""
    chosen = set(np.linspace(0, len(queries) - 1, min(count, len(queries) // 2)).astype(int).tolist())
    texts = [query for number, query in enumerate(queries) if number in chosen]
    return texts, [query for number, query in enumerate(queries) if number not in chosen]


if __name__ == "__main__":
    sys.exit(main())
