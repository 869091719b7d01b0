"""Giving memory back."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np
import pytest

from ringtrue.retrieval.training.memory import free

# isort: split
import torch

PAGE = 4096


def size() -> int:
    """How much memory the process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="not a C library that keeps holes"
)
def test_holes_between_what_is_in_use_are_given_back():
    blocks = [np.ones(100_000, np.uint8) for _ in range(2_000)]
    kept = blocks[::20]
    del blocks
    before = size()
    free(torch.device("cpu"))
    assert before - size() > 100_000_000
    assert all(block.all() for block in kept)
