"""Scoring on both ways, with a network whose scores are easy to tell."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ringtrue.errors import InputError
from ringtrue.retrieval.neural import scoring
from ringtrue.retrieval.neural.network import Network, Prepared, hinge
from ringtrue.retrieval.neural.ragged import Ragged
from ringtrue.retrieval.neural.scoring import HOST, NotFiniteError, batches, score, usual_budget

# isort: split
import torch


class Lengths(Network):
    """Scores a pair by 100 times the length of the query plus that of the document."""

    name = "lengths"

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(()))
        self.sizes = []
        self.prepared = []
        self.most = math.inf
        self.error = RuntimeError("CUDA out of memory. Tried to allocate")

    def prepare(self, queries, documents):
        self.prepared.append((len(queries), len(documents)))
        return Prepared(
            *(Ragged.from_lists([list(range(len(text))) for text in texts]) for texts in (queries, documents))
        )

    def lengths(self, prepared, pairs):
        return prepared.queries.lengths[pairs[:, 0]] + prepared.documents.lengths[pairs[:, 1]]

    def collate(self, prepared, pairs):
        parts = prepared.queries.lengths[pairs[:, 0]], prepared.documents.lengths[pairs[:, 1]]
        return {"query": torch.tensor(parts[0]), f"{HOST}document": torch.tensor(parts[1])}

    def forward(self, batch):
        assert not self.training
        self.sizes.append(len(batch["query"]))
        if int((batch["query"] + batch[f"{HOST}document"]).sum()) > self.most:
            raise self.error
        return (100 * batch["query"] + batch[f"{HOST}document"]) * self.weight

    def report(self, scores):
        return scores / 100

    def loss(self, batch):
        return hinge(self(batch))

    def write_files(self, folder):
        return


QUERIES = ["a", "bb", "bb", "cccc"]
DOCUMENTS = ["x" * size for size in (1, 5, 30, 7, 5, 300)]
PAIRS = np.array([(q, d) for q in (3, 0, 2, 1) for d in (5, 0, 1, 2, 3, 4)])


def expected(pairs=PAIRS):
    return [len(QUERIES[q]) + len(DOCUMENTS[d]) / 100 for q, d in pairs.tolist()]


@pytest.fixture(params=["cpu", "gpu"])
def way(request, monkeypatch):
    """The GPU's way runs on a CPU as well: nothing in it but memory is special."""
    if request.param == "gpu":
        monkeypatch.setattr(scoring, "_on_cpu", scoring._on_gpu)
    return request.param


def test_each_pair_gets_its_score(way):
    assert score(Lengths(), QUERIES, DOCUMENTS, PAIRS) == pytest.approx(expected())
    assert score(Lengths(), QUERIES, DOCUMENTS, PAIRS, budget=1) == pytest.approx(expected())
    assert score(Lengths(), QUERIES, DOCUMENTS, PAIRS[:0]).shape == (0,)


def test_blocks_need_only_their_own_texts(way, monkeypatch):
    monkeypatch.setattr(scoring, "_FIRST_BLOCK", 2)
    monkeypatch.setattr(scoring, "_BLOCK", 4)
    network = Lengths()
    assert score(network, QUERIES, DOCUMENTS, PAIRS) == pytest.approx(expected())
    assert len(network.prepared) == 5  # of 2, 4, 4, 4 and 1 pairs
    assert all(queries <= 3 and documents <= 3 for queries, documents in network.prepared)


def test_what_comes_again_is_scored_once(way):
    network = Lengths()
    score(network, QUERIES, DOCUMENTS, np.concatenate((PAIRS, PAIRS)))
    assert sum(network.sizes) == 3 * 5  # two of four queries are the same text, and two of six documents


def test_training_goes_on_afterwards():
    network = Lengths().train()
    score(network, QUERIES, DOCUMENTS, PAIRS)
    assert network.training


def test_batches_keep_to_the_budget_and_have_similar_lengths():
    lengths = np.random.default_rng(1).integers(1, 200, 500)
    found = list(batches(lengths, 1000))
    assert sorted(np.concatenate(found).tolist()) == list(range(500))
    assert all(len(rows) * lengths[rows].max() <= 1000 for rows in found)
    assert all(
        low.min() >= high.max() for low, high in zip(*(iter([lengths[rows] for rows in found]),) * 2, strict=False)
    )
    assert [len(rows) for rows in batches(np.array([5000, 5000]), 1000)] == [1, 1]


def test_half_the_budget_is_tried_once_and_said(way):
    network = Lengths()
    network.most = 320
    with pytest.warns(RuntimeWarning, match=r"ran out with 640 tokens a batch; trying 320"):
        assert score(network, QUERIES, DOCUMENTS, PAIRS, budget=640) == pytest.approx(expected())
    network.most = 100
    with pytest.warns(RuntimeWarning), pytest.raises(InputError, match="smaller model"):
        score(network, QUERIES, DOCUMENTS, PAIRS, budget=640)


def test_memory_may_run_out_without_a_word(way):
    network = Lengths()
    network.most, network.error = 10, MemoryError()
    with pytest.warns(RuntimeWarning), pytest.raises(InputError, match=r"half of them \(MemoryError\); free some"):
        score(network, QUERIES, DOCUMENTS, PAIRS, budget=640)


def test_other_errors_pass(way):
    network = Lengths()
    network.most, network.error = 10, RuntimeError("shapes do not fit")
    with pytest.raises(RuntimeError, match="shapes"):
        score(network, QUERIES, DOCUMENTS, PAIRS)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_is_named(way, value):
    network = Lengths()
    with torch.no_grad():
        network.weight.fill_(value)
    with pytest.raises(NotFiniteError, match=rf"score {value} to query 'cccc' with document 'xxx") as caught:
        score(network, QUERIES, DOCUMENTS, PAIRS)
    assert caught.value.row == 0


def test_the_budget_of_a_cpu_is_small():
    assert usual_budget(torch.device("cpu")) == 4096
