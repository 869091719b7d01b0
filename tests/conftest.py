"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine must not fail a test, nothing here measures time; nor must chance: the same examples come at every run.
# New ones are looked for with `pytest -m hypothesis --hypothesis-profile=search`.
settings.register_profile("ringtrue", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None)
settings.load_profile("ringtrue")

# no test needs a model hub, and one that cannot be reached is asked again and again for minutes
os.environ.setdefault("HF_HUB_OFFLINE", "1")

_SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real campaigns and labels that are not part of the project; tests that need them skip without."""
    if not _SHARED.is_dir():
        pytest.skip(f"real data not found at {_SHARED}")
    return _SHARED


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder for each test, so that none depends on what another left behind."""
    place = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("RINGTRUE_CACHE", str(place))
    return place
