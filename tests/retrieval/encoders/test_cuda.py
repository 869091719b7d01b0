"""The engine for a GPU: its pipeline on a CPU, and all of it where there is a GPU."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ringtrue.retrieval.encoders.attention import Ways, attend_fused, attend_in_tiles
from ringtrue.retrieval.encoders.checkpoint import read_checkpoint
from ringtrue.retrieval.encoders.cpu import CpuEngine
from ringtrue.retrieval.encoders.cuda import CudaEngine
from ringtrue.retrieval.encoders.minilm import MiniLM

WORDS = ("lamp", "ship", "bee")
TEXTS = [f"{word} number {number} of the {word}s" for number in range(40) for word in (*WORDS, "lamp")]
BLOCKS = [TEXTS[:70], [], TEXTS[70:71], TEXTS[71:]]

gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")


@pytest.fixture
def engine(tiny_bert, monkeypatch):
    monkeypatch.setattr("ringtrue.retrieval.encoders.cuda.os.cpu_count", lambda: 5)
    return CudaEngine(read_checkpoint(tiny_bert), torch.float32, budget=64, device="cpu")


def test_the_pipeline_gives_what_the_cpu_gives(engine, tiny_bert):
    expected = CpuEngine(read_checkpoint(tiny_bert), torch.float32).encode(TEXTS)
    np.testing.assert_allclose(engine.encode(TEXTS), expected, atol=1e-5)
    found = list(engine.stream(BLOCKS))
    assert [len(vectors) for vectors in found] == [len(block) for block in BLOCKS]
    np.testing.assert_allclose(torch.cat(found).numpy(), expected, atol=1e-5)


def test_many_texts_go_through_the_pipeline(engine, monkeypatch):
    expected = engine.encode(TEXTS)
    monkeypatch.setattr("ringtrue.retrieval.encoders.cuda._BLOCK", 50)
    np.testing.assert_allclose(engine.encode(TEXTS), expected, atol=1e-5)


def test_a_stream_of_nothing(engine):
    assert list(engine.stream([])) == []


def test_a_sequence_without_numbers_spoils_no_other(engine, tiny_bert, monkeypatch):
    monkeypatch.setattr("ringtrue.retrieval.encoders.bert.choose", lambda _: Ways(attend_in_tiles, attend_fused))
    engine = CudaEngine(read_checkpoint(tiny_bert), torch.float32, budget=64, device="cpu")
    clean = engine.encode(TEXTS)
    spoilt = np.array(["bee" in text for text in TEXTS])
    lamp, ship, bee = (set(engine._tokeniser([f"{word} number of the {word}s"]).ids.tolist()) for word in WORDS)
    engine._network._words[list(bee - lamp - ship)] = torch.nan
    found = engine.encode(TEXTS)
    assert np.isnan(found[spoilt]).all()
    np.testing.assert_allclose(found[~spoilt], clean[~spoilt], atol=1e-6)


@gpu
@pytest.mark.parametrize(("precision", "least"), [("fp32", 0.99999), ("bf16", 0.999)])
def test_as_on_the_cpu(precision, least):
    found = MiniLM(precision, "cuda").encode(TEXTS)
    assert (found * MiniLM("fp32", "cpu").encode(TEXTS)).sum(1).min() >= least


@gpu
def test_a_stream_stays_on_the_gpu_and_in_order():
    encoder = MiniLM("fp32", "cuda", budget=64)
    found = torch.cat(list(encoder.stream(BLOCKS)))
    assert found.is_cuda
    np.testing.assert_allclose(found.cpu().numpy(), encoder.encode(TEXTS), atol=1e-5)
