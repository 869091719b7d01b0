"""Tokens by words are those of the tokenizer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.retrieval.encoders.marked import MarkedPieces
from ringtrue.retrieval.encoders.minilm import MiniLM
from ringtrue.retrieval.encoders.tokens import Tokeniser, Tokens

ODD = [
    "", " ", "a", "a\nb", "naïve café", "東京 tower", "it's 3.5% (of) $4", "[SEP] [MASK] x", "word " * 400,
    "x" * 90_000, "emoji 🙂 here", "tab\there", "UPPER lower", "a", "\u200b", "half \ud800 character",
]  # fmt: skip


@pytest.fixture(scope="module")
def tokeniser() -> Tokeniser:
    return Tokeniser(MiniLM().folder() / "tokenizer.json", 128)


def sequences(tokens: Tokens) -> list[list[int]]:
    starts = np.cumsum(tokens.lengths) - tokens.lengths
    assert (np.diff(tokens.lengths) >= 0).all()
    return [tokens.ids[starts[place] : starts[place] + tokens.lengths[place]].tolist() for place in tokens.places]


def test_odd_texts(tokeniser: Tokeniser) -> None:
    """Other scripts, marks inside a text, long and empty ones, and one that comes twice."""
    assert sequences(MarkedPieces(tokeniser)(ODD)) == sequences(tokeniser(ODD))


@given(st.lists(st.text(), max_size=8))
def test_any_texts(texts: list[str]) -> None:
    """Whatever comes."""
    tokeniser = Tokeniser(MiniLM().folder() / "tokenizer.json", 16)
    assert sequences(MarkedPieces(tokeniser)(texts)) == sequences(tokeniser(texts))


def test_real_queries(tokeniser: Tokeniser, shared: Path) -> None:
    """Every tenth query of a log."""
    lines = (shared / "leakage" / "query-log.tsv").read_text(encoding="utf-8").splitlines()[::10]
    texts = [line.split("\t")[1] for line in lines]
    assert sequences(MarkedPieces(tokeniser)(texts)) == sequences(tokeniser(texts))
