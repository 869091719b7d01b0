"""Duet against a plain computation, one number at a time."""

from __future__ import annotations

import numpy as np
import pytest

from ringtrue.retrieval.neural.scoring import score
from ringtrue.retrieval.rankers.duet import DuetModel, DuetNetwork

ACTIVATIONS = {"relu": lambda x: np.maximum(x, 0), "tanh": np.tanh}


def windows(words, most, weight, bias, activation):
    """What filters find in the three words from each word on."""
    found = []
    for start in range(min(len(words), most)):
        vector = bias.copy()
        for place in range(3):
            if start + place < len(words):
                vector = vector + weight[:, :, place] @ words[start + place]
        found.append(activation(vector))
    return found


def local(values, model, query, document, weights, activation):
    features = np.zeros((model.query_length, model.filters))
    for place, row in enumerate(query):
        matches = np.zeros(model.document_length)
        for at, other in enumerate(document):
            matches[at] = weights[row] if row == other else 0.0
        features[place] = activation(values["local.places.weight"] @ matches + values["local.places.bias"])
    hidden = values["local.combine.0.weight"] @ features.reshape(-1) + values["local.combine.0.bias"]
    return float(values["local.combine.3.weight"][0] @ activation(hidden) + values["local.combine.3.bias"][0])


def distributed(values, model, query, document, activation):
    def take(name):
        return values[f"distributed.{name}.weight"], values[f"distributed.{name}.bias"]

    found = windows(query, model.query_length - 2, *take("query_words.convolution"), activation)
    pooled = np.max(found, axis=0) if found else np.zeros(model.filters)
    weight, bias = take("query_dense")
    subject = weight @ pooled + bias
    found = windows(document, model.document_length - 2, *take("document_words.convolution"), activation)
    weight, bias = take("document_dense")
    places = model.document_length - 2 - model.pooling + 1
    products = np.zeros((model.filters, places))
    for place in range(min(len(document), places)):
        largest = np.max(found[place : place + model.pooling], axis=0)
        products[:, place] = subject * activation(weight @ largest + bias)
    weight, bias = take("places")
    summed = activation(products @ weight[0] + bias[0])
    weight, bias = take("combine")
    return float(weight[0] @ summed + bias[0])


@pytest.mark.parametrize("options", [{}, {"activation": "tanh"}, {"idf": False, "filters": 3, "pooling": 2}])
def test_the_formulas(make, texts, options):
    network = make("duet", **{"pooling": 5, **options})
    model, activation = network.model, ACTIVATIONS[network.model.activation]
    values = {name: tensor.double().numpy() for name, tensor in network.state_dict().items()}
    table = values["vectors.weight"]
    weights = values["weights"] if model.idf else np.ones(len(table))
    queries, documents, pairs = texts
    prepared = network.prepare(queries, documents)
    expected = []
    for number, other in pairs:
        query, document = prepared.queries.of(number), prepared.documents.of(other)
        expected.append(
            local(values, model, query, document, weights, activation)
            + distributed(values, model, table[query], table[document], activation)
        )
    assert score(network, *texts) == pytest.approx(expected, abs=1e-5)
    assert np.ptp(expected) > 0.01


def test_the_shape_of_capreolus(make):
    network = make("duet", query_length=4, document_length=800)
    assert isinstance(network, DuetNetwork)
    assert network.distributed.places.in_features == 699
    assert network.local.combine[0].in_features == 40
    assert (network.model.filters, network.model.hidden, network.model.dropout) == (10, 30, 0.5)
    assert DuetModel().activation == "relu"


def test_dropout_in_training_only(make, texts):
    network = make("duet", pooling=5)
    batch = network.collate(network.prepare(*texts[:2]), texts[2])
    assert network(batch).tolist() == network(batch).tolist()
    network.train()
    assert network(batch).tolist() != network(batch).tolist()
