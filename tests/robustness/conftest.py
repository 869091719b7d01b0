"""Small resources for the generators' tests, made once."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiny_generators


@pytest.fixture(scope="session")
def wordnet_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An NLTK data folder with a WordNet of ten synsets."""
    folder = tmp_path_factory.mktemp("nltk")
    tiny_generators.write_wordnet(folder)
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
    return tiny_generators.build_t5(tmp_path_factory.mktemp("models") / "t5")


@pytest.fixture(scope="session")
def m2m100(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A translation model with random weights."""
    pytest.importorskip("transformers")
    pytest.importorskip("sentencepiece")
    return tiny_generators.build_m2m100(tmp_path_factory.mktemp("models") / "m2m100")


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A masked language model with random weights."""
    pytest.importorskip("transformers")
    return tiny_generators.build_bert(tmp_path_factory.mktemp("models") / "bert")
