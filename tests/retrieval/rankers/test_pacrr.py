"""PACRR against the formulas of its paper, computed one number at a time."""

from __future__ import annotations

import numpy as np
import pytest

from ringtrue.errors import InputError
from ringtrue.retrieval.neural.scoring import score
from ringtrue.retrieval.rankers.pacrr import PacrrModel


def cosine(one, other):
    lengths = np.linalg.norm(one) * np.linalg.norm(other)
    return float(one @ other) / lengths if lengths else 0.0


def signals(similarities, rows, columns, weight, bias, best):
    """For each query word the largest values of the strongest filter over the document."""
    filters, _, size, _ = weight.shape
    found = []
    for row in range(rows):
        values = []
        for column in range(columns):
            outcomes = []
            for number in range(filters):
                total = bias[number]
                for down in range(size):
                    for right in range(size):
                        if row + down < rows and column + right < columns:
                            total += weight[number, 0, down, right] * similarities[row + down][column + right]
                outcomes.append(max(total, 0.0))
            values.append(max(outcomes))
        found.append((sorted(values, reverse=True) + [0.0] * best)[:best])
    return found


def plain(network, query, document, counted):
    """The score of one pair of rows of word numbers; `counted` are the rows of all documents."""
    values = {name: tensor.double().numpy() for name, tensor in network.state_dict().items()}
    model, table = network.model, values["vectors.weight"]
    similarities = [[cosine(table[one], table[other]) for other in document] for one in query]
    sizes = range(model.longest - model.shortest + 1)
    parts = [
        signals(
            similarities,
            len(query),
            len(document),
            values[f"filters.{place}.convolution.weight"],
            values[f"filters.{place}.convolution.bias"],
            model.best,
        )
        for place in sizes
    ]
    rare = [np.log(1 + (len(counted) - n + 0.5) / (n + 0.5)) for n in (sum(row in c for c in counted) for row in query)]
    softmax = np.exp(rare) / np.exp(rare).sum() if rare else []
    features = np.zeros((model.query_length, len(sizes) * model.best + model.idf))
    for place in range(len(query)):
        row = [value for part in parts for value in part[place]] + ([softmax[place]] if model.idf else [])
        features[place] = row
    hidden = features.reshape(-1)
    for layer in (0, 2, 4):
        hidden = values[f"combine.{layer}.weight"] @ hidden + values[f"combine.{layer}.bias"]
        hidden = np.maximum(hidden, 0) if layer < 4 else hidden
    return float(hidden[0])


@pytest.mark.parametrize("options", [{}, {"idf": False, "shortest": 2}, {"best": 4, "filters": 5}])
def test_the_formulas(make, texts, options):
    network = make("pacrr", **options)
    queries, documents, pairs = texts
    prepared = network.prepare(queries, documents)
    counted = [set(network.vocabulary.encode([text], None).ids.tolist()) for text in documents]
    expected = [plain(network, prepared.queries.of(query), prepared.documents.of(doc), counted) for query, doc in pairs]
    assert score(network, *texts) == pytest.approx(expected, abs=1e-5)


def test_sizes_of_capreolus():
    model = PacrrModel()
    assert (model.shortest, model.longest, model.filters, model.best, model.hidden) == (1, 3, 32, 2, 32)
    assert model.idf


def test_weights_of_words_come_from_the_documents(make):
    rare, common = (make("pacrr", documents=documents) for documents in (["lamp", "fog"], ["lamp fog", "fog lamp"]))
    row = int(rare.vocabulary.encode(["lamp"], 1).ids[0])
    assert rare.weights[row].item() == pytest.approx(np.log(1 + 1.5 / 1.5))
    assert common.weights[row].item() == pytest.approx(np.log(1 + 0.5 / 2.5))


def test_no_documents_to_count_in(make):
    with pytest.raises(InputError, match="no documents to count"):
        make("pacrr", documents=[])
    make("pacrr", documents=[], idf=False)


def test_sizes_in_the_wrong_order(make):
    with pytest.raises(InputError, match="shortest is 4 and longest 3"):
        make("pacrr", shortest=4)
