"""Any sentence-transformers model, and what is said where it is not there."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from ringtrue.errors import InputError, MissingModelError
from ringtrue.retrieval.encoders import ENCODERS
from ringtrue.retrieval.encoders.checkpoint import read_checkpoint
from ringtrue.retrieval.encoders.minilm import MiniLM

TEXTS = ["the lamp", "fog at the coast", "", "the lamp", "ships steer by night " * 9]


def test_the_paths_of_a_model(tiny_bert):
    encoder = ENCODERS.parse(f"sbert:{tiny_bert},precision=bf16")
    assert (encoder.folder(), encoder.precision, encoder.dim) == (tiny_bert, "bf16", 32)


def test_the_same_weights_give_the_same_vectors():
    packaged = MiniLM(device="cpu")
    assert np.array_equal(ENCODERS.parse(f"sbert:{packaged.folder()},device=cpu").encode(TEXTS), packaged.encode(TEXTS))


@pytest.mark.parametrize(("precision", "least"), [("fp32", 0.99999), ("bf16", 0.999)])
def test_other_architectures_go_through_sentence_transformers(tiny_distilbert, precision, least):
    assert read_checkpoint(tiny_distilbert) is None
    encoder = ENCODERS.parse(f"sbert:{tiny_distilbert},precision={precision}")
    expected = SentenceTransformer(str(tiny_distilbert), device="cpu").encode(TEXTS, normalize_embeddings=True)
    found = encoder.encode(TEXTS)
    assert (found.dtype, encoder.dim) == (np.float32, 32)
    assert (found * expected).sum(1).min() >= least
    assert encoder.encode([]).shape == (0, 32)


@pytest.mark.parametrize("name", ["no-such-model-of-ours", "nobody/no-such-model-of-ours"])
def test_a_model_that_is_not_there(name, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(MissingModelError, match="say sbert:FOLDER") as caught:
        ENCODERS.parse(f"sbert:{name}").encode(["lamp"])
    assert caught.value.exit_code == 3


def test_a_folder_that_is_no_model(tmp_path):
    with pytest.raises(InputError, match="neither config"):
        ENCODERS.parse(f"sbert:{tmp_path}").encode(["lamp"])


def test_a_folder_that_is_half_a_model(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(InputError, match="not a model that sentence-transformers can load"):
        ENCODERS.parse(f"sbert:{tmp_path}").encode(["lamp"])


def test_no_model_named():
    with pytest.raises(InputError, match="incomplete"):
        ENCODERS.parse("sbert")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there():
    with pytest.raises(InputError, match="torch sees no GPU"):
        ENCODERS.parse("minilm:device=cuda").encode(["lamp"])
