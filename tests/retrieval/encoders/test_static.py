"""Distilled token vectors against model2vec's own averaging."""

from __future__ import annotations

import numpy as np
import pytest
from model2vec.distill import distill

from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import ENCODERS, static

TEXTS = ["the lamp", "fog at the coast", "the lamp", "price of a car 灯台", "ships steer by night " * 60]
UNKNOWN = ["", "  ", "灯台", "🕯️"]


@pytest.fixture
def encoder(tiny_bert):
    static._load.cache_clear()
    return ENCODERS.parse(f"static:sbert:{tiny_bert},dimensions=12")


def test_it_is_model2vecs_mean(encoder, tiny_bert):
    model = distill(model_name=str(tiny_bert), pca_dims=12, device="cpu", quantize_to="float32")
    expected = model.encode(TEXTS, use_multiprocessing=False)
    np.testing.assert_allclose(encoder.encode(TEXTS), expected, atol=1e-5)
    assert encoder.dim == 12


def test_texts_without_a_known_token_give_zeros(encoder):
    assert not encoder.encode(UNKNOWN).any()
    assert encoder.encode([]).shape == (0, 12)


def test_it_is_distilled_once(encoder, own_cache, monkeypatch):
    first = encoder.encode(TEXTS)
    assert len(list((own_cache / "static").iterdir())) == 1
    monkeypatch.setattr(static, "_distil", None)
    static._load.cache_clear()
    assert np.array_equal(encoder.encode(TEXTS), first)


def test_the_library_is_silent(encoder, capfd):
    encoder.encode(TEXTS)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("spec", "message"), [("static:hashing", "cannot be distilled"), ("static:dimensions=0", "1 or more")]
)
def test_what_cannot_be(spec, message):
    with pytest.raises(InputError, match=message):
        ENCODERS.parse(spec).encode(["lamp"])


def test_its_name():
    assert repr(ENCODERS.parse("static:sbert:a/b,dimensions=64")) == "static:encoder=sbert:a/b,dimensions=64"
