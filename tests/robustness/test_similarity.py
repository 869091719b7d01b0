"""Encoders as the pillar uses them."""

from __future__ import annotations

import numpy as np
import pytest

from ringtrue.errors import MissingExtraError
from ringtrue.registry import Registry
from ringtrue.retrieval.encoders import ENCODERS
from ringtrue.robustness.similarity import Vocabulary, default_encoder, name_of


def test_each_text_is_encoded_once():
    asked = []

    class Counting:
        dim = 2

        def encode(self, texts):
            asked.extend(texts)
            return np.array([[1.0, 0.0] if text == "a" else [0.6, 0.8] for text in texts], dtype=np.float32)

    vectors = Vocabulary(Counting(), ["a", "b", "a"])
    assert asked == ["a", "b"]
    assert vectors.similarity("a", "b") == pytest.approx(0.6)
    Vocabulary(Counting(), [])
    assert asked == ["a", "b"]


def test_without_the_packages_there_is_no_encoder(monkeypatch):
    def missing(self, spec):
        raise MissingExtraError("encoder 'minilm'", "neural")

    monkeypatch.setattr(Registry, "parse", missing)
    assert default_encoder() is None


def test_options_are_not_part_of_the_name():
    assert name_of(ENCODERS.parse("hashing:dimensions=64")) == "hashing"
