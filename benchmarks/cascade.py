"""The cascade on a CPU at growing sizes, beside sentence-transformers with faiss, and semhash.

    python -m benchmarks.cascade [--sizes 10000 … 10000000] [--slice 3000] [--semhash 1000000] [--subset 20000]

Logs are real queries, enlarged by joining halves of them (`benchmarks.enlarge`), with some three hundred variants of
Robust04's topics that people wrote; texts are titles and descriptions, without and with the other variants. Every size
runs in a process of its own, from reading the file to candidates, through the search that the command runs.
sentence-transformers with faiss is measured on a slice and its seconds are scaled by the number of queries, which
flatters it: searching its index grows with the log too. semhash deduplicates the log against the texts with the
distilled static encoder. Recall of all is against our exact search of a subset; `recall_of_cascade` is semhash's among
what the cascade found in the same log.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ringtrue.retrieval.encoders.minilm import MiniLM  # before torch, for which it sets how threads wait

# isort: split
import numpy as np

from benchmarks.enlarge import enlarged, read_queries
from benchmarks.machine import SHARED, describe, peak_memory, write
from ringtrue.data.collection import Collection
from ringtrue.data.load import load
from ringtrue.data.notes import Notes
from ringtrue.data.records import Query
from ringtrue.leakage.search import Mode, Settings, search_log, topic_texts

LEAKAGE = SHARED / "leakage"
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
THRESHOLD = 0.88
BATCHES = (16, 32, 64, 128)
EVERY = 10  # of a topic's variants goes into the log


def test_collection(variants: bool) -> Collection:
    """The topics, without variants or with all but those that are put into the log."""
    whole = _with_all_variants()
    return whole.with_queries(query._replace(variants=_split(query)[0] if variants else ()) for query in whole.queries)


def planted() -> list[str]:
    """Variants that people wrote, one of each topic or two, which nobody searches for: real leaks for the log."""
    return [text for query in _with_all_variants().queries for text in _split(query)[1]]


def _with_all_variants() -> Collection:
    return load(LEAKAGE / "topics.robust04.txt", variants=LEAKAGE / "robust04-query-variants.txt")


def _split(query: Query) -> tuple[tuple[str, ...], tuple[str, ...]]:
    kept = tuple(text for place, text in enumerate(query.variants) if place % EVERY)
    return kept, tuple(text for text in query.variants[::EVERY] if text not in kept)


def texts(variants: bool) -> list[str]:
    """All texts that are searched for."""
    return [text.text for text in topic_texts(test_collection(variants).queries, narrative=False, notes=Notes())]


def write_log(path: Path, size: int) -> Path:
    """A log of so many distinct queries."""
    leaks = list(dict.fromkeys(planted()))
    queries = list(enlarged(read_queries(LEAKAGE / "query-log.tsv"), size - len(leaks)))
    step = size // len(leaks)
    for number, leak in enumerate(leaks):
        queries.insert(number * step, leak)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"q{number}\t{text}\n" for number, text in enumerate(queries))
    return path


def search(log: Path, mode: str, variants: bool) -> dict[str, Any]:
    """One search with its seconds, memory and what it says of itself."""
    begin = time.perf_counter()
    result = search_log(test_collection(variants), load(log), Settings("minilm", THRESHOLD, mode=Mode(mode))).result
    seconds = time.perf_counter() - begin
    told: dict[str, Any] = {
        "queries": result.log_size,
        "seconds": round(seconds, 2),
        "queries_per_second": round((result.log_size or 0) / seconds),
        "candidates": len(result.candidates),
        "peak_memory_mb": round(peak_memory()),
    }
    if (recall := result.recall) is not None:
        told |= {
            "estimated_recall": recall.estimate,
            "interval": list(recall.interval[:2]),
            "certain": recall.certain,
            "encoded": recall.encoded,
            "cut": recall.cut,
            "reached": recall.is_reached,
        }
    return {**told, "pairs": sorted(f"{one.topic_id} {one.query_id}" for one in result.candidates)}


def apart(log: Path, mode: str, variants: bool) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.cascade",
        "--one",
        str(log),
        mode,
        *(["--variants"] if variants else []),
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=dict(os.environ))
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def peer(queries: Sequence[str], variants: bool) -> dict[str, Any]:
    """sentence-transformers and faiss on a slice, at the batch size that is fastest on its first part."""
    import faiss
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(MiniLM().folder()), device="cpu")
    model.encode(list(queries[:64]))
    part = list(queries[: len(queries) // 5])
    tried = {size: _seconds(lambda size=size: model.encode(part, batch_size=size)) for size in BATCHES}  # type: ignore[misc]
    best = min(tried, key=tried.__getitem__)
    rows = model.encode(texts(variants), batch_size=best)

    def work() -> None:
        index = faiss.IndexFlatIP(rows.shape[1])
        index.add(model.encode(list(queries), batch_size=best))
        index.search(rows, 100)
        index.range_search(rows, THRESHOLD)

    seconds = _seconds(work)
    rate = round(len(queries) / seconds)
    return {"queries": len(queries), "batch_size": best, "seconds": round(seconds, 2), "queries_per_second": rate}


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def semhash(log: Path, variants: bool, known: Sequence[str], name: str = "recall") -> dict[str, Any]:
    """Let semhash `deduplicate` the log against the texts, with the static encoder distilled from the exact one."""
    from semhash import SemHash

    from ringtrue.retrieval.encoders.static import Static

    class Model:
        def encode(self, inputs: Sequence[str], **_: object) -> Any:  # noqa: ANN401
            return Static("minilm").encode(list(inputs))

    Static("minilm").encode(["warm"])
    begin = time.perf_counter()
    rows = [line.rstrip("\n").split("\t") for line in open(log, encoding="utf-8")]
    index = SemHash.from_records(texts(variants), model=Model())
    removed = {record.record for record in index.deduplicate([row[1] for row in rows], threshold=THRESHOLD).filtered}
    seconds = time.perf_counter() - begin
    rate = round(len(rows) / seconds)
    told: dict[str, Any] = {"queries": len(rows), "seconds": round(seconds, 2), "queries_per_second": rate}
    wanted = {pair.split(" ", 1)[1] for pair in known}
    found = {row[0] for row in rows if row[1] in removed}
    return {**told, "removed": len(removed), name: round(len(wanted & found) / max(len(wanted), 1), 4)}


def measure(folder: Path, options: argparse.Namespace, variants: bool) -> dict[str, Any]:
    """All contenders, with the topics' variants or without."""
    log = write_log(folder / "log.tsv", options.subset)
    exact, screened = apart(log, "exact", variants), apart(log, "cascade", variants)
    wanted, found = set(exact.pop("pairs")), set(screened.pop("pairs"))
    screened["recall"] = round(len(wanted & found) / max(len(wanted), 1), 4)
    subset = {"exact": exact, "cascade": screened}
    if options.semhash:
        subset["semhash"] = semhash(log, variants, sorted(wanted))
    queries = read_queries(LEAKAGE / "query-log.tsv")
    chosen = np.unique(np.linspace(0, len(queries) - 1, options.slice).astype(int))
    beside = peer([queries[number] for number in chosen], variants)
    sizes, among = [], min(options.semhash, max(options.sizes))
    known: list[str] = []
    for size in sorted(options.sizes):
        told = apart(write_log(log, size), "cascade", variants)
        pairs = told.pop("pairs")
        known = pairs if size == among else known
        sizes.append({**told, "times_faster": round(told["queries_per_second"] / beside["queries_per_second"], 1)})
    result = {
        "texts": len(texts(variants)),
        "subset": subset,
        "sentence-transformers + faiss": beside,
        "cascade": sizes,
    }
    if options.semhash:
        result["semhash"] = semhash(write_log(log, among), variants, known, "recall_of_cascade")
    return result


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--slice", type=int, default=3000, help="queries that sentence-transformers encodes")
    parser.add_argument("--semhash", type=int, default=1_000_000, help="queries that semhash gets at the most; 0: none")
    parser.add_argument("--subset", type=int, default=20_000, help="queries that are searched exactly too")
    parser.add_argument("--one", nargs=2, metavar=("LOG", "MODE"), help=argparse.SUPPRESS)
    parser.add_argument("--variants", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(search(Path(options.one[0]), options.one[1], options.variants)))
        return
    content: dict[str, Any] = {
        "machine": describe(("torch", "sentence-transformers", "faiss-cpu", "semhash")),
        "threshold": THRESHOLD,
        "planted": len(set(planted())),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, variants in (("titles and descriptions", False), ("with variants", True)):
            content[name] = measure(Path(folder), options, variants)
    write("cascade", content)


if __name__ == "__main__":
    main()
