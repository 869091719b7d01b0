"""The cascade on a CPU at growing sizes, beside sentence-transformers with faiss, and semhash.

    python -m benchmarks.cascade [--sizes 10000 100000 1000000] [--slice 3000] [--semhash 100000] [--subset 20000]

Logs are real queries, enlarged by joining halves of them (`benchmarks.enlarge`); texts are those of Robust04's topics
with their variants. Every size runs in a process of its own, from reading the file to candidates, through the search
that the command runs. sentence-transformers with faiss is measured on a slice and its seconds are scaled by the number
of queries, which flatters it: searching its index grows with the log too. semhash deduplicates the log against the
texts with the distilled static encoder. Recall of all is against our exact search of a subset.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ringtrue.retrieval.encoders.minilm import MiniLM  # before torch, for which it sets how threads wait

# isort: split
import numpy as np

from benchmarks.enlarge import enlarged, read_queries
from benchmarks.machine import SHARED, describe, peak_memory, write
from ringtrue.data.load import load
from ringtrue.data.notes import Notes
from ringtrue.leakage.search import Mode, Settings, search_log, topic_texts

LEAKAGE = SHARED / "leakage"
SIZES = (10_000, 100_000, 1_000_000)
THRESHOLD = 0.88


def test_collection() -> Any:  # noqa: ANN401
    """The topics with their variants."""
    return load(LEAKAGE / "topics.robust04.txt", variants=LEAKAGE / "robust04-query-variants.txt")


def texts() -> list[str]:
    """All texts that are searched for."""
    return [text.text for text in topic_texts(test_collection().queries, narrative=False, notes=Notes())]


def write_log(path: Path, size: int) -> Path:
    """A log of so many distinct queries."""
    queries = enlarged(read_queries(LEAKAGE / "query-log.tsv"), size)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"q{number}\t{text}\n" for number, text in enumerate(queries))
    return path


def search(log: Path, mode: str) -> dict[str, Any]:
    """One search with its seconds, memory and what it says of itself."""
    begin = time.perf_counter()
    result = search_log(test_collection(), load(log), Settings("minilm", THRESHOLD, mode=Mode(mode))).result
    seconds = time.perf_counter() - begin
    told: dict[str, Any] = {
        "queries": result.log_size,
        "seconds": round(seconds, 2),
        "queries_per_second": round((result.log_size or 0) / seconds),
        "candidates": len(result.candidates),
        "peak_memory_mb": round(peak_memory()),
    }
    if (recall := result.recall) is not None:
        told |= {"estimated_recall": recall.estimate, "interval": list(recall.interval[:2]), "certain": recall.certain,
                 "encoded": recall.encoded, "cut": recall.cut, "reached": recall.is_reached}  # fmt: skip
    return {**told, "pairs": sorted(f"{one.topic_id} {one.query_id}" for one in result.candidates)}


def apart(log: Path, mode: str) -> dict[str, Any]:
    """The same in a process of its own with an empty cache but for the distilled encoder."""
    command = [sys.executable, "-m", "benchmarks.cascade", "--one", str(log), mode]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=dict(os.environ))
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def peer(queries: Sequence[str]) -> dict[str, Any]:
    """sentence-transformers and faiss on a slice."""
    import faiss
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(MiniLM().folder()), device="cpu")
    model.encode(list(queries[:64]), batch_size=32)
    rows = model.encode(texts(), batch_size=32)
    begin = time.perf_counter()
    index = faiss.IndexFlatIP(rows.shape[1])
    index.add(model.encode(list(queries), batch_size=32))
    index.search(rows, 100)
    index.range_search(rows, THRESHOLD)
    seconds = time.perf_counter() - begin
    return {"queries": len(queries), "seconds": round(seconds, 2), "queries_per_second": round(len(queries) / seconds)}


def semhash(log: Path, exact: Sequence[str] | None) -> dict[str, Any]:
    """Let semhash `deduplicate` the log against the texts, with the static encoder distilled from the exact one."""
    from semhash import SemHash

    from ringtrue.retrieval.encoders.static import Static

    class Model:
        def encode(self, inputs: Sequence[str], **_: object) -> Any:  # noqa: ANN401
            return Static("minilm").encode(list(inputs))

    Static("minilm").encode(["warm"])
    begin = time.perf_counter()
    rows = [line.rstrip("\n").split("\t") for line in open(log, encoding="utf-8")]
    index = SemHash.from_records(texts(), model=Model())
    removed = {record.record for record in index.deduplicate([row[1] for row in rows], threshold=THRESHOLD).filtered}
    seconds = time.perf_counter() - begin
    told: dict[str, Any] = {"queries": len(rows), "seconds": round(seconds, 2),
                            "queries_per_second": round(len(rows) / seconds), "removed": len(removed)}  # fmt: skip
    if exact is not None:
        wanted = {pair.split(" ", 1)[1] for pair in exact}
        found = {row[0] for row in rows if row[1] in removed}
        told["recall"] = round(len(wanted & found) / max(len(wanted), 1), 4)
    return told


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--slice", type=int, default=3000, help="queries that sentence-transformers encodes")
    parser.add_argument("--semhash", type=int, default=1_000_000, help="queries that semhash gets at the most; 0: none")
    parser.add_argument("--subset", type=int, default=20_000, help="queries that are searched exactly too")
    parser.add_argument("--one", nargs=2, metavar=("LOG", "MODE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(search(Path(options.one[0]), options.one[1])))
        return
    content: dict[str, Any] = {"machine": describe(("torch", "sentence-transformers", "faiss-cpu", "semhash")),
                               "texts": len(texts()), "threshold": THRESHOLD}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        log = write_log(Path(folder) / "log.tsv", options.subset)
        exact, screened = apart(log, "exact"), apart(log, "cascade")
        wanted, found = set(exact.pop("pairs")), set(screened.pop("pairs"))
        recall = round(len(wanted & found) / max(len(wanted), 1), 4)
        content["subset"] = {"exact": exact, "cascade": {**screened, "recall": recall}}
        if options.semhash:
            content["subset"]["semhash"] = semhash(log, sorted(wanted))
        queries = read_queries(LEAKAGE / "query-log.tsv")
        chosen = np.unique(np.linspace(0, len(queries) - 1, options.slice).astype(int))
        content["peer"] = peer([queries[number] for number in chosen])
        content["cascade"] = []
        for size in sorted(options.sizes):
            told = apart(write_log(log, size), "cascade")
            told.pop("pairs")
            told["times_faster"] = round(told["queries_per_second"] / content["peer"]["queries_per_second"], 1)
            content["cascade"].append(told)
        if options.semhash:
            content["semhash"] = semhash(write_log(log, min(options.semhash, max(options.sizes))), None)
    write("cascade", content)


if __name__ == "__main__":
    main()
