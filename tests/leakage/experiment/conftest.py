"""The smallest ranker as a model that experiments can name, and an experiment with it."""

from __future__ import annotations

import pytest

from ringtrue.data.collection import Collection
from ringtrue.data.load import load
from ringtrue.leakage.trainsets.build import build_trainsets
from ringtrue.leakage.trainsets.leaks import read_planted
from ringtrue.leakage.trainsets.records import Settings, Trainsets
from ringtrue.study.training import planted_in_lighthouse

pytest.importorskip("torch")
pytest.importorskip("safetensors")


@pytest.fixture
def bags(monkeypatch: pytest.MonkeyPatch) -> str:
    """A model that learns in no time, under its name."""
    from ringtrue.retrieval.neural.models import MODELS

    monkeypatch.setitem(MODELS.table, "bags", "bags:BagsModel")  # type: ignore[arg-type]
    return "bags"


@pytest.fixture
def lighthouse() -> Collection:
    return load("builtin:lighthouse")


@pytest.fixture
def made(lighthouse: Collection) -> Trainsets:
    settings = Settings(sizes=(204, 240), encoder="hashing")
    return build_trainsets(lighthouse, lighthouse, known=read_planted(planted_in_lighthouse()), settings=settings)
