"""Encoding with many workers: the same bits whatever is beside a text, and torch left as it was."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from ringtrue.retrieval.encoders.checkpoint import read_checkpoint
from ringtrue.retrieval.encoders.cpu import CpuEngine, workers
from ringtrue.retrieval.encoders.minilm import MiniLM


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_same_bits_whatever_stands_beside_a_text(precision, queries):
    texts = queries[:200]
    together = MiniLM(precision, "cpu").encode(texts)
    assert np.array_equal(MiniLM(precision, "cpu", budget=100).encode(texts[::-1])[::-1], together)
    for number in (0, 17, 150):
        assert np.array_equal(MiniLM(precision, "cpu").encode([texts[number]])[0], together[number])


def test_the_order_of_the_texts_and_their_repeats(tiny_bert):
    engine = CpuEngine(read_checkpoint(tiny_bert), torch.float32, budget=32)
    texts = ["the lamp", "fog", "ships steer by the lighthouse", "fog", "", "the lamp"]
    vectors = engine.encode(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert np.array_equal(engine.encode([text])[0], vector)
    blocks = [texts[:2], [], texts[2:]]
    assert np.array_equal(np.concatenate(list(engine.stream(blocks))), vectors)


def test_workers_have_one_thread_and_nobody_else_notices():
    before = torch.get_num_threads()
    assert set(workers().map(lambda _: torch.get_num_threads(), range(20))) == {1}
    assert torch.get_num_threads() == before


def test_threads_wait_without_spinning():
    code = "import os, ringtrue.retrieval.encoders.minilm; print(os.environ['OMP_WAIT_POLICY'])"
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "PASSIVE"
