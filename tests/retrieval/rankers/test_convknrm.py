"""ConvKNRM against the formulas of its paper, computed one number at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ringtrue.retrieval.neural.scoring import score


def convolve(words, weight, bias, relu):
    """The vector of the n-gram that begins at each word; beyond the end are zeros."""
    filters, _, size = weight.shape
    found = []
    for start in range(len(words)):
        vector = bias.copy()
        for place in range(size):
            if start + place < len(words):
                for number in range(filters):
                    vector[number] += float(weight[number, :, place] @ words[start + place])
        found.append(np.maximum(vector, 0) if relu else vector)
    return found


def cosine(one, other):
    lengths = np.linalg.norm(one) * np.linalg.norm(other)
    return float(one @ other) / lengths if lengths else 0.0


def plain(network, query, document):
    """The score of one pair of rows of word numbers."""
    values = {name: tensor.double().numpy() for name, tensor in network.state_dict().items()}
    model, table = network.model, values["vectors.weight"]
    grams = []
    for text in (query, document):
        parts = [
            (values[f"ngrams.{place}.convolution.weight"], values[f"ngrams.{place}.convolution.bias"])
            for place in range(model.longest)
        ]
        grams.append([convolve(table[text], weight, bias, model.relu) for weight, bias in parts])
    features = []
    for one in range(model.longest):
        for other in range(model.longest) if model.crossmatch else [one]:
            for mean, width in zip(values["pooling.means"], values["pooling.widths"], strict=True):
                total = 0.0
                for vector in grams[0][one]:
                    near = [cosine(vector, against) for against in grams[1][other]]
                    total += math.log(1e-6 + sum(math.exp(-((value - mean) ** 2) / (2 * width**2)) for value in near))
                features.append(total)
    return float(values["combine.layers.0.weight"][0] @ features + values["combine.layers.0.bias"][0])


@pytest.mark.parametrize("options", [{}, {"crossmatch": False}, {"relu": False, "longest": 2}])
def test_the_formulas(make, texts, options):
    network = make("convknrm", filters=6, **options)
    queries, documents, pairs = texts
    prepared = network.prepare(queries, documents)
    expected = [plain(network, prepared.queries.of(query), prepared.documents.of(doc)) for query, doc in pairs]
    assert score(network, *texts) == pytest.approx(expected, abs=1e-3)


def test_a_phrase_of_the_query_matches_it_in_a_document(make):
    network = make("convknrm", filters=64, relu=False)
    pairs = np.array([(0, 0), (0, 1)])
    prepared = network.prepare(["steer by the light"], ["ships steer by the light", "the by light"])
    batch = network.collate(prepared, pairs)
    similarities = network._similarities(network._represent(batch["query"]), network._represent(batch["document"]))
    assert similarities.shape == (2, 9, 4, 5)
    assert similarities[0, 8, 0, 1].item() == pytest.approx(1, abs=1e-5)  # three words with three words
    assert similarities[1, 8, 0].max().item() < 0.99


def test_sizes_of_capreolus(make):
    network = make("convknrm")
    assert [tuple(part.convolution.weight.shape) for part in network.ngrams] == [(128, 8, 1), (128, 8, 2), (128, 8, 3)]
    assert network.combine.layers[0].weight.shape == (1, 99)
