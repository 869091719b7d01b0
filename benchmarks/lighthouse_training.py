"""Whether monoBERT, trained from MiniLM on the built-in collection's own log, ranks titles better than BM25.

    python -m benchmarks.lighthouse_training [--seeds 42 …]

One triple for each query of the log, planted leaks left out: a relevant document, and one of BM25's first hundred that
is not. One epoch, then BM25's first hundred documents of each topic's title are ranked again. Nothing is chosen by the
topics: the settings stand here, and the last weights are taken. The interval is that of the paired t test over topics.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import ir_measures
import torch
from ir_measures import nDCG

from benchmarks.machine import describe, write
from ringtrue.data.load import load
from ringtrue.evaluation.significance import paired_t
from ringtrue.retrieval.encoders.minilm import MiniLM
from ringtrue.retrieval.pipeline import parse_ranker
from ringtrue.retrieval.training.mining import mine_triples
from ringtrue.retrieval.training.ranker import train_ranker
from ringtrue.retrieval.training.result import Progress
from ringtrue.retrieval.training.settings import Settings

if TYPE_CHECKING:
    from ringtrue.data.collection import Collection
    from ringtrue.retrieval.encoders import Precision
    from ringtrue.retrieval.training.triples import Triples

MODEL = "monobert:max_length=192,query_length=32"
FIRST = "bm25 % 100"
SETTINGS = Settings(batch=16, learning_rate=1e-4)


def leaks() -> set[str]:
    """The queries of the log that were planted beside the topics."""
    lines = files("ringtrue.data").joinpath("lighthouse/leaks.jsonl").read_text(encoding="utf-8").splitlines()
    return {str(json.loads(line)["query_id"]) for line in lines}


def ndcg(collection: Collection, ranker: str) -> list[float]:
    """nDCG@10 of each topic's title, topics ascending; 0 where nothing is found."""
    run = parse_ranker(ranker).rank(collection, collection.queries)
    lines = [line for topic in run.topics for line in run.ranking(topic)]
    judged = [ir_measures.Qrel(*row) for row in collection.qrels]
    values = {one.query_id: one.value for one in ir_measures.iter_calc([nDCG @ 10], judged, lines)}
    return [values.get(topic, 0.0) for topic in sorted({one.query_id for one in judged})]


def tell(now: Progress) -> None:
    """A line now and then."""
    if now.step % 20 == 0:
        print(f"step {now.step} of {now.steps}, loss {now.loss:.4f}, {now.seconds_left:.0f} s left", flush=True)


def measure(collection: Collection, triples: Triples, seed: int, precision: Precision) -> dict[str, object]:
    """Train, rank, compare."""
    with TemporaryDirectory() as folder:
        settings = replace(SETTINGS, seed=seed, precision=precision)
        training = train_ranker(MODEL, triples, Path(folder), settings, progress=tell)
        trained = ndcg(collection, f"{FIRST} >> monobert:checkpoint={folder},precision={precision}")
    lexical = ndcg(collection, FIRST)
    test = paired_t(trained, lexical)
    assert test.interval is not None, "the t test has one"
    return {
        "seed": seed,
        "triples": training.triples,
        "updates": training.steps,
        "seconds": round(training.seconds, 1),
        "triples_a_second": round(training.triples_per_second, 2),
        "ndcg_10": {"bm25": _mean(lexical), "monobert": _mean(trained)},
        "difference": round(test.mean_difference, 4),
        "interval_95": [round(test.interval.low, 4), round(test.interval.high, 4)],
        "p": round(test.p, 5),
    }


def _mean(values: list[float]) -> float:
    return round(sum(values) / len(values), 4)


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[42])
    options = parser.parse_args()
    machine = describe(("torch", "transformers"))
    collection, planted = load("builtin:lighthouse"), leaks()
    precision: Precision = "bf16" if MiniLM().bf16_is_fast() else "fp32"
    runs = []
    for seed in options.seeds:
        triples = mine_triples(collection, seed=seed, wanted=lambda entry: entry.query_id not in planted).triples
        runs.append(measure(collection, triples, seed, precision))
    content = {
        "machine": machine,
        "topics": len(collection.queries),
        "model": MODEL,
        "first_stage": FIRST,
        "settings": {"batch": SETTINGS.batch, "learning_rate": SETTINGS.learning_rate},
        "precision": precision,
        "threads": torch.get_num_threads(),
        "runs": runs,
    }
    write("lighthouse_training", content)


if __name__ == "__main__":
    main()
