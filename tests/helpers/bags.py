"""A ranker that learns in no time: words as bags of vectors; and a training of it that can be killed.

`python bags.py FOLDER N` trains in the folder and kills itself after N validations.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ringtrue.errors import InputError
from ringtrue.retrieval.neural.network import Network, Prepared, hinge
from ringtrue.retrieval.neural.ragged import Ragged
from ringtrue.retrieval.training.loop import train
from ringtrue.retrieval.training.settings import Settings
from ringtrue.retrieval.training.triples import Triples

# isort: split
import torch
from torch import Tensor, nn

WORDS = 97
SUBJECTS = (
    "lighthouse lamp lens keeper",
    "bread flour oven yeast",
    "battery charger cell volt",
    "river flood bridge water",
)


@dataclass(frozen=True)
class BagsModel:
    dropout: float = 0.0
    learning_rate: float = 0.01

    def fresh(self, texts: Sequence[str], seed: int) -> BagsNetwork:
        if not 0 <= self.dropout < 1:
            raise InputError(f"model 'bags': dropout is {self.dropout}.")
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return BagsNetwork(self)


class BagsNetwork(Network):
    name = "bags"

    def __init__(self, model: BagsModel) -> None:
        super().__init__()
        self.model = model
        self.vectors = nn.Embedding(WORDS, 8)
        self.dropout = nn.Dropout(model.dropout)
        self.mix = nn.Linear(8, 8)
        self.largest = 10**9
        self.poisoned = -1

    def prepare(self, queries: Sequence[str], documents: Sequence[str]) -> Prepared:
        return Prepared(*(Ragged.from_lists([_numbers(text) for text in texts]) for texts in (queries, documents)))

    def lengths(self, prepared: Prepared, pairs: np.ndarray) -> np.ndarray:
        return prepared.queries.lengths[pairs[:, 0]] + prepared.documents.lengths[pairs[:, 1]]

    def collate(self, prepared: Prepared, pairs: np.ndarray) -> dict[str, Tensor]:
        found = {}
        for name, texts, numbers in (
            ("query", prepared.queries, pairs[:, 0]),
            ("doc", prepared.documents, pairs[:, 1]),
        ):
            found[name] = torch.from_numpy(texts.padded(numbers, int(texts.lengths[numbers].max())))
        return found

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        if len(batch["doc"]) > self.largest:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory, as it were")
        query, doc = (self._mean(batch[name]) for name in ("query", "doc"))
        scores = (self.mix(query) * doc).sum(1)
        return scores.masked_fill((batch["doc"] == self.poisoned).any(1), float("nan"))

    def _mean(self, words: Tensor) -> Tensor:
        inside = (words != 0).unsqueeze(2)
        return (self.dropout(self.vectors(words)) * inside).sum(1) / inside.sum(1)

    def loss(self, batch: dict[str, Tensor]) -> Tensor:
        return hinge(self(batch))

    def write_files(self, folder: Path) -> None:
        (folder / "words.txt").write_text(str(WORDS))


def _numbers(text: str) -> list[int]:
    return [number(word) for word in text.split()]


def number(word: str) -> int:
    """The place of a word's vector; 0 is padding."""
    return 1 + int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "little") % (WORDS - 1)


def some_triples(count: int = 50, seed: int = 1) -> Triples:
    """Queries of two words of a subject; the relevant document is about it, the other is not; lengths differ."""
    rng = np.random.default_rng(seed)
    triples = []
    for _ in range(count):
        one, other = rng.choice(len(SUBJECTS), 2, replace=False)
        texts = [rng.choice(SUBJECTS[subject].split(), rng.integers(3, 20)) for subject in (one, other)]
        query = rng.choice(SUBJECTS[one].split(), 2, replace=False)
        triples.append((" ".join(query), " ".join(texts[0]), " ".join(texts[1])))
    return Triples.from_texts(triples)


def weights_key(network: Network) -> str:
    """A key of the bits of all weights."""
    digest = hashlib.blake2b(digest_size=16)
    for name, tensor in network.state_dict().items():
        digest.update(name.encode() + tensor.numpy().tobytes())
    return digest.hexdigest()


def run(folder: Path, die_at: int = 0) -> list[str]:
    """Train in a folder, dying without a word at some validation, and tell what came out."""
    calls = 0

    def validate(network: Network) -> float:
        nonlocal calls
        calls += 1
        if calls == die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return -float(network.vectors.weight.abs().sum())

    network = BagsModel(dropout=0.2).fresh([], seed=5)
    settings = Settings(epochs=2, batch=4, accumulate=2, seed=5, validate_every=1, keep_steps=3, select="best")
    training = train(network, some_triples(), settings, folder=folder, validate=validate)
    return [weights_key(network), str(training.steps), str(training.kept), sum(training.losses).hex(), str(calls)]


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]))
