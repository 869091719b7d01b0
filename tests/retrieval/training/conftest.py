"""The smallest ranker, and triples to train it with."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")


@pytest.fixture(scope="session")
def bags() -> ModuleType:
    """The module of the smallest ranker."""
    spec = importlib.util.spec_from_file_location("bags", Path(__file__).with_name("bags.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bags"] = module  # where dataclasses look their module up
    spec.loader.exec_module(module)
    return module
