"""KNRM against the formulas of its paper, computed one number at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ringtrue.retrieval.neural.kernels import KernelPooling
from ringtrue.retrieval.neural.scoring import score
from ringtrue.retrieval.rankers.knrm import KNRMModel

# isort: split
import torch


def cosine(one, other):
    lengths = math.sqrt(float(one @ one)) * math.sqrt(float(other @ other))
    return float(one @ other) / lengths if lengths else 0.0


def soft_counts(similarities, means, widths):
    """For each kernel the sum over query words of the logarithm of the soft count."""
    return [
        sum(
            math.log(1e-6 + sum(math.exp(-((value - mean) ** 2) / (2 * width**2)) for value in row))
            for row in similarities
        )
        for mean, width in zip(means, widths, strict=True)
    ]


def plain(network, query, document):
    """The score of one pair of rows of word numbers."""
    values = {name: tensor.double().numpy() for name, tensor in network.state_dict().items()}
    table = values["vectors.weight"]
    similarities = [[cosine(table[one], table[other]) for other in document] for one in query]
    counts = soft_counts(similarities, values["pooling.means"], values["pooling.widths"])
    return float(values["combine.layers.0.weight"][0] @ counts + values["combine.layers.0.bias"][0])


def test_the_formulas(make, texts):
    network = make("knrm")
    queries, documents, pairs = texts
    prepared = network.prepare(queries, documents)
    expected = [plain(network, prepared.queries.of(query), prepared.documents.of(doc)) for query, doc in pairs]
    assert score(network, *texts) == pytest.approx(expected, abs=2e-4)


def test_the_kernels_of_the_paper():
    pooling = KernelPooling(11, learn=True)
    means = [1.0, 0.9, 0.7, 0.5, 0.3, 0.1, -0.1, -0.3, -0.5, -0.7, -0.9]
    assert pooling.means.tolist() == pytest.approx(means)
    assert pooling.widths.tolist() == pytest.approx([0.001] + [0.1] * 10)


def test_one_kernel_counts_exact_matches(make):
    network = make("knrm")
    batch = network.collate(network.prepare(["lamp"], ["the lamp, a lamp: Lamp", "bread"]), np.array([(0, 0), (0, 1)]))
    similarities = network.cosines(batch["query"], batch["document"]).unsqueeze(1)
    counted = network.pooling(similarities, batch["query"] > 0, batch["document"] > 0)[:, 0]
    assert counted.tolist() == pytest.approx([math.log(3), math.log(1e-6)], abs=1e-4)


def test_an_unknown_word_matches_itself_and_no_other(make):
    network = make("knrm")
    texts = ["Zanzibar", "zanzibar", "Timbuktu"]
    batch = network.collate(network.prepare(texts[:1], texts), np.array([(0, 0), (0, 1), (0, 2)]))
    similarities = network.cosines(batch["query"], batch["document"]).flatten().tolist()
    assert similarities[:2] == pytest.approx([1, 1])
    assert similarities[2] < 0.9


def test_training_leaves_the_exact_kernel_and_begins_near_zero(make, texts):
    network = make("knrm")
    last = network.combine.layers[-1]
    assert 0 < last.weight.abs().max() <= 0.014
    queries, documents, pairs = texts
    network(network.collate(network.prepare(queries, documents), pairs)).sum().backward()
    for weight in (network.pooling.means, network.pooling.widths):
        assert weight.grad[0] == 0 and weight.grad[1:].abs().sum() > 0


def test_the_paper_keeps_kernels_and_ends_with_tanh(make, texts):
    network = make("knrm", train_kernels=False, finetune=True, tanh=True)
    learned = {name for name, weight in network.named_parameters() if weight.requires_grad}
    assert learned == {"vectors.weight", "combine.layers.0.weight", "combine.layers.0.bias"}
    assert np.abs(score(network, *texts)).max() <= 1


def test_a_hidden_layer(make, texts):
    network = make("knrm", hidden=5)
    assert network.combine.layers[0].weight.shape == (5, 11)
    assert np.isfinite(score(network, *texts)).all()


def test_a_kernel_without_width_gives_numbers(make, texts):
    network = make("knrm")
    with torch.no_grad():
        network.pooling.widths.zero_()
    assert np.isfinite(score(network, *texts)).all()
    batch = network.collate(network.prepare(*texts[:2]), texts[2])
    network.loss(batch).backward()
    assert all(torch.isfinite(weight.grad).all() for weight in network.parameters() if weight.requires_grad)


def test_starts_from_the_packaged_vectors():
    network = KNRMModel().fresh([], 1)
    assert network.vectors.weight.shape[1] == 384
    assert not network.vectors.weight[0].any()
    prepared = network.prepare(["lighthouse keeper"], ["A lighthouse", "volcano"])
    batch = network.collate(prepared, np.array([(0, 0), (0, 1)]))
    best = network.cosines(batch["query"], batch["document"])[:, 0].amax(1).tolist()
    assert best[0] == pytest.approx(1, abs=1e-5)
    assert best[1] < 0.9
    assert network.at("bf16").vectors.weight.dtype == torch.float32
