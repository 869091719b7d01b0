"""Small models, made once."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory) -> Path:
    from tiny_encoders import make_bert

    return make_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="session")
def tiny_cls_bert(tmp_path_factory) -> Path:
    from tiny_encoders import make_bert

    return make_bert(tmp_path_factory.mktemp("cls"), pooling="cls_token")


@pytest.fixture(scope="session")
def tiny_distilbert(tmp_path_factory) -> Path:
    from tiny_encoders import make_distilbert

    return make_distilbert(tmp_path_factory.mktemp("distilbert"))


@pytest.fixture(scope="session")
def queries(shared: Path) -> list[str]:
    """Real queries, each once, spread over the whole log."""
    lines = (shared / "leakage" / "query-log.tsv").read_text(encoding="utf-8").splitlines()
    return list(dict.fromkeys(line.split("\t")[1] for line in lines))[::100]
