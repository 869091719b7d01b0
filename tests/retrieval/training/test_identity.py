"""Trainings are known by what files hold, wherever they are."""

from __future__ import annotations

import shutil

import bags
import pytest

from ringtrue.errors import InputError
from ringtrue.retrieval.neural.models import MODELS
from ringtrue.retrieval.training.accuracy import PairAccuracy
from ringtrue.retrieval.training.identity import network_key
from ringtrue.retrieval.training.ranker import train_ranker
from ringtrue.retrieval.training.validation import validation_key

WORDS = {"lighthouse": "0.1 0.9 0.3", "lamp": "0.2 0.8 0.1", "bread": "0.9 0.1 0.4", "flour": "0.8 0.2 0.5"}


@pytest.fixture
def vectors(tmp_path):
    path = tmp_path / "w.txt"
    write(path, WORDS)
    return path


def write(path, words):
    path.write_text("".join(f"{word} {numbers}\n" for word, numbers in words.items()), encoding="utf-8")


def key(path):
    return network_key(MODELS.parse(f"knrm:vectors={path}").fresh(["a lamp"], 1))


def test_the_same_vectors_elsewhere_are_the_same(vectors, tmp_path):
    assert key(vectors) == key(shutil.copy(vectors, tmp_path / "copy.txt"))


@pytest.mark.parametrize(
    "change",
    [
        {**WORDS, "lamp": "0.2 0.8 0.2"},
        {{"lamp": "oven"}.get(word, word): numbers for word, numbers in WORDS.items()},
        dict(zip(WORDS, reversed(WORDS.values()), strict=True)),
    ],
    ids=["another vector", "another word", "another order"],
)
def test_other_vectors_behind_a_path_are_another_training(vectors, tmp_path, change):
    out = tmp_path / "ranker"
    train_ranker(f"knrm:vectors={vectors}", bags.some_triples(8), out, device="cpu")
    before = key(vectors)
    write(vectors, change)
    assert key(vectors) != before
    with pytest.raises(InputError, match="holds a training with other triples, model or settings"):
        train_ranker(f"knrm:vectors={vectors}", bags.some_triples(8), out, device="cpu")


def test_validations_are_known_by_their_triples():
    one, same, other = (PairAccuracy(bags.some_triples(5, seed=seed)) for seed in (1, 1, 2))
    assert validation_key(one) == validation_key(same) != validation_key(other)
    assert validation_key(None) == "" != validation_key(key) != validation_key(write)
