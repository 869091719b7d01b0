"""Small models, made once."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def tiny() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tiny", Path(__file__).parent / "tiny.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def tiny_bert(tiny, tmp_path_factory) -> Path:
    return tiny.make_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="session")
def tiny_cls_bert(tiny, tmp_path_factory) -> Path:
    return tiny.make_bert(tmp_path_factory.mktemp("cls"), pooling="cls_token")


@pytest.fixture(scope="session")
def tiny_distilbert(tiny, tmp_path_factory) -> Path:
    return tiny.make_distilbert(tmp_path_factory.mktemp("distilbert"))


@pytest.fixture(scope="session")
def queries(shared: Path) -> list[str]:
    """Real queries, each once, spread over the whole log."""
    lines = (shared / "leakage" / "query-log.tsv").read_text(encoding="utf-8").splitlines()
    return list(dict.fromkeys(line.split("\t")[1] for line in lines))[::100]
