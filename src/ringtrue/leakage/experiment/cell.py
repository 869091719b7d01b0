"""One cell of an experiment: build a network, train it on one set with one seed, score all pairs.

Runs as a job, also on a machine that has only what training needs.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import InputError
from ringtrue.jobs import Task
from ringtrue.leakage.experiment.layout import Texts, read_pairs, read_texts, read_triples
from ringtrue.retrieval.encoders.neural import place
from ringtrue.retrieval.neural.models import MODELS
from ringtrue.retrieval.neural.network import Network
from ringtrue.retrieval.neural.scoring import score
from ringtrue.retrieval.training.loop import train
from ringtrue.retrieval.training.settings import Settings
from ringtrue.retrieval.training.triples import Triples

_TRANSFORMERS = ("monobert", "monot5")


def run(task: Task) -> None:
    """Write `scores.npy`, one number a pair, and `history.json` with losses and times."""
    given = task.arguments
    texts, pairs = read_texts(task.base), read_pairs(task.base)
    rows = read_triples(task.base, str(given["kind"]), int(given["size"]))
    network = build(str(given["model"]), texts, int(given["seed"]))
    training = train(network, triples_of(texts, rows), settings_of(given["training"], network, int(given["seed"])))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", RuntimeWarning)
        scores = score_pairs(network, texts, pairs)
    if not np.isfinite(scores).all():
        raise InputError(f"{given['model']} gives {int((~np.isfinite(scores)).sum())} scores that are not finite.")
    notes = [*training.notes, *(str(one.message) for one in said if issubclass(one.category, RuntimeWarning))]
    np.save(task.out / "scores.npy", scores, allow_pickle=False)
    _write(task.out / "history.json", {**training.as_dict(), "notes": notes, "device": str(network.device)})


def build(model: str, texts: Texts, seed: int) -> Network:
    """A fresh network on the device there is."""
    network: Network = MODELS.parse(model).fresh(texts.documents, seed).to(place("auto"))
    return network


def settings_of(training: Mapping[str, Any], network: Network, seed: int) -> Settings:
    """The options of training; transformers are trained in bf16 where there is a GPU, unless said otherwise."""
    fast = network.device.type == "cuda" and network.name in _TRANSFORMERS
    options: dict[str, Any] = {"precision": "bf16" if fast else "fp32", **training}
    return Settings(**options, seed=seed)


def triples_of(texts: Texts, rows: NDArray[np.int64]) -> Triples:
    """The triples of some rows with their texts alone, so that no other texts are tokenised."""
    queries, query_rows = np.unique(rows[:, 0], return_inverse=True)
    documents, document_rows = np.unique(rows[:, 1:], return_inverse=True)
    return Triples(
        [texts.queries[number] for number in queries.tolist()],
        [texts.documents[number] for number in documents.tolist()],
        np.column_stack((query_rows, document_rows.reshape(-1, 2))).astype(np.int64),
    )


def score_pairs(network: Network, texts: Texts, pairs: NDArray[np.int64]) -> NDArray[np.float32]:
    """One score a pair."""
    queries, query_rows = np.unique(pairs[:, 0], return_inverse=True)
    documents, document_rows = np.unique(pairs[:, 1], return_inverse=True)
    return score(
        network.at("fp32").eval(),
        [texts.queries[number] for number in queries.tolist()],
        [texts.documents[number] for number in documents.tolist()],
        np.column_stack((query_rows, document_rows)).astype(np.int64),
    )


def _write(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8", newline="\n")
