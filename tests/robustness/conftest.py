"""Small resources for the generators' tests, made once."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


def _load_tiny() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tiny", Path(__file__).with_name("tiny.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TINY = _load_tiny()


@pytest.fixture(scope="session")
def tiny() -> ModuleType:
    """The makers of small resources."""
    return TINY


@pytest.fixture(scope="session")
def wordnet_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An NLTK data folder with a WordNet of ten synsets."""
    folder = tmp_path_factory.mktemp("nltk")
    TINY.write_wordnet(folder)
    return folder


@pytest.fixture
def wordnet(wordnet_data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small WordNet where NLTK's data is looked for."""
    monkeypatch.setenv("NLTK_DATA", str(wordnet_data))
    return wordnet_data / "corpora" / "wordnet"


@pytest.fixture(scope="session")
def t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A T5 with random weights."""
    pytest.importorskip("transformers")
    return TINY.build_t5(tmp_path_factory.mktemp("models") / "t5")


@pytest.fixture(scope="session")
def m2m100(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A translation model with random weights."""
    pytest.importorskip("transformers")
    pytest.importorskip("sentencepiece")
    return TINY.build_m2m100(tmp_path_factory.mktemp("models") / "m2m100")


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A masked language model with random weights."""
    pytest.importorskip("transformers")
    return TINY.build_bert(tmp_path_factory.mktemp("models") / "bert")
