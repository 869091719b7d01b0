"""Exact search with MiniLM on a CPU, from texts to candidates, beside sentence-transformers and faiss.

    python -m benchmarks.encoding [LOG] [--topics FILE] [--lines N] [--threads N]

All have the same model, queries and number of threads. The searches take turns, piece by piece, so that a busy minute
hits all of them; on a busy machine the processor's seconds say more than those of the clock.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ringtrue.retrieval.encoders.minilm import MiniLM  # before torch, for which it sets how threads wait

# isort: split
import faiss
import numpy as np
import torch
from sentence_transformers import SentenceTransformer

from benchmarks.machine import SHARED, describe, peak_memory, write
from ringtrue.data.formats.trec import read_topics
from ringtrue.data.notes import Notes
from ringtrue.retrieval.search import Block, ExactSearch, Found, Screen

LEAKAGE = SHARED / "leakage"
PEER = "sentence-transformers + faiss"
BATCHES = (16, 32, 64, 128, 256)
K, THRESHOLD = 100, 0.9
BLOCK = 65_536
SLICE, SLICES = 1_500, 7


class Times(NamedTuple):
    """By the clock, and of the processor in all threads."""

    wall: float
    processor: float


def clock(work: Callable[[], object]) -> Times:
    """How long a piece of work takes."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return Times(time.perf_counter() - wall, time.process_time() - processor)


def best_batch(peer: SentenceTransformer, queries: Sequence[str]) -> int:
    """The batch size with which the peer is fastest."""
    seconds = {size: clock(lambda size=size: peer.encode(list(queries), batch_size=size)) for size in BATCHES}  # type: ignore[misc]
    return min(seconds, key=lambda size: seconds[size].processor)


def encoding(peer: SentenceTransformer, batch: int, queries: Sequence[str]) -> dict[str, Any]:
    """Queries a second of encoding alone, as the median over slices of which each contender takes one in turn.

    No query comes twice: a repeated one costs our encoder nothing, and would be counted all the same.
    """
    size = min(SLICE, len(queries) // SLICES)
    if size < 1:
        raise SystemExit(f"encoding needs at least {SLICES} distinct queries, not {len(queries)}.")
    contenders: dict[str, Callable[[Sequence[str]], object]] = {
        "sentence-transformers": lambda texts: peer.encode(list(texts), batch_size=batch),
        "ringtrue fp32": MiniLM("fp32", "cpu").encode,
        "ringtrue bf16": MiniLM("bf16", "cpu").encode,
    }
    seconds: dict[str, list[Times]] = {name: [] for name in contenders}
    for number in range(SLICES):
        texts = queries[number * size : (number + 1) * size]
        for name, encode in contenders.items():
            seconds[name].append(clock(lambda encode=encode, texts=texts: encode(texts)))  # type: ignore[misc]
    return {name: _rates(times[1:], size) for name, times in seconds.items()}  # the first loads and warms up


def _rates(times: Sequence[Times], size: int) -> dict[str, float]:
    return {
        "queries_per_slice": size,
        "queries_per_second": round(size / statistics.median(each.wall for each in times)),
        "queries_per_processor_second": round(size / statistics.median(each.processor for each in times)),
    }


class Search(NamedTuple):
    """One way to search: pieces of work, and what it has found when they are done."""

    pieces: Iterator[None]
    result: list[Any]


def ours(texts: Sequence[str], queries: Sequence[str], screen: Screen) -> Search:
    """Our search with or without screening."""
    result: list[Found] = []

    def pieces() -> Iterator[None]:
        search = ExactSearch(MiniLM("fp32", "cpu"), texts, k=K, threshold=THRESHOLD, screen=screen)
        for _ in search.run(Block(queries[start : start + BLOCK]) for start in range(0, len(queries), BLOCK)):
            yield
        result.append(search.finish())

    return Search(pieces(), result)


def theirs(peer: SentenceTransformer, batch: int, texts: Sequence[str], queries: Sequence[str]) -> Search:
    """The study's pipeline, in eight pieces and the search."""
    result: list[Any] = []

    def pieces() -> Iterator[None]:
        index = faiss.IndexFlatIP(384)
        for part in np.array_split(np.arange(len(queries)), 8):
            index.add(peer.encode([queries[number] for number in part], batch_size=batch))
            yield
        rows = peer.encode(list(texts), batch_size=batch)
        index.range_search(rows, THRESHOLD)
        result.append(index.search(rows, K))

    return Search(pieces(), result)


def searching(peer: SentenceTransformer, batch: int, texts: Sequence[str], queries: Sequence[str]) -> dict[str, Any]:
    """Seconds of each search over the same queries, how they compare and whether they agree."""
    searches = {
        PEER: theirs(peer, batch, texts, queries),
        "ringtrue fp32": ours(texts, queries, "fp32"),
        "ringtrue bf16 screening": ours(texts, queries, "bf16"),
    }
    spent = dict.fromkeys(searches, Times(0.0, 0.0))
    running = list(searches)
    while running:
        for name in tuple(running):
            took, more = _step(searches[name].pieces)
            spent[name] = Times(spent[name].wall + took.wall, spent[name].processor + took.processor)
            if not more:
                running.remove(name)
    return {
        "queries": len(queries),
        "distinct": len(set(queries)),
        "texts": len(texts),
        "seconds": {name: {"wall": round(t.wall, 1), "processor": round(t.processor, 1)} for name, t in spent.items()},
        "times_faster": {name: _ratios(spent[PEER], times) for name, times in spent.items() if name != PEER},
        **_agreement({name: search.result[0] for name, search in searches.items()}),
    }


def _step(pieces: Iterator[None]) -> tuple[Times, bool]:
    more: list[None] = []
    took = clock(lambda: more.extend(piece for piece in [next(pieces, False)] if piece is None))
    return took, bool(more)


def _ratios(theirs: Times, ours: Times) -> dict[str, float]:
    return {"wall": round(theirs.wall / ours.wall, 2), "processor": round(theirs.processor / ours.processor, 2)}


def _agreement(found: Mapping[str, Any]) -> dict[str, Any]:
    """Whether screening changes anything, and how far faiss's similarities are from ours at each rank."""
    exact, screened = found["ringtrue fp32"], found["ringtrue bf16 screening"]
    same = all(
        np.array_equal(getattr(exact.hits, name), getattr(screened.hits, name))
        for name in ("rows", "items", "similarities")
    )
    similarities = found[PEER][0]
    largest = max(np.abs(exact.hits.of(row)[1][:K] - similarities[row]).max() for row in range(len(similarities)))
    return {
        "candidates": len(exact.hits.rows),
        "screening_gives_the_same_bits": same,
        "largest_difference_from_faiss": float(largest),
        "margin": screened.rescored.margin,
        "largest_deviation": screened.rescored.deviation,
        "texts_scored_again": screened.rescored.texts,
    }


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=Path, nargs="?", default=LEAKAGE / "query-log.tsv")
    parser.add_argument("--topics", type=Path, default=LEAKAGE / "topics.robust04.txt")
    parser.add_argument("--lines", type=int, help="take only so many lines, evenly spread")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    faiss.omp_set_num_threads(options.threads)
    lines = options.log.read_text(encoding="utf-8").splitlines()
    queries = [line.split("\t")[1] for line in lines[:: max(1, len(lines) // (options.lines or len(lines)))]]
    titles = [topic.title for topic in read_topics(options.topics, Notes())]
    distinct = list(dict.fromkeys(queries))
    np.random.default_rng(1).shuffle(distinct)
    peer = SentenceTransformer(str(MiniLM().folder()), device="cpu")
    batch = best_batch(peer, distinct[:SLICE])
    content = {
        "machine": describe(("torch", "sentence-transformers", "faiss-cpu", "tokenizers", "numpy")),
        "threads": options.threads,
        "peer_batch_size": batch,
        "k": K,
        "threshold": THRESHOLD,
        "encoding": encoding(peer, batch, distinct),
        "search": {
            "log": searching(peer, batch, titles, queries),
            "log_distinct": searching(peer, batch, titles, distinct),
        },
        "peak_memory_mb": round(peak_memory()),
    }
    write("encoding", content)


if __name__ == "__main__":
    main()
