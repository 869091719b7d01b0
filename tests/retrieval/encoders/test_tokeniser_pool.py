"""Processes that tokenise ahead give what tokenising here gives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ringtrue.data.cells import Cells
from ringtrue.retrieval.encoders import tokeniser_pool
from ringtrue.retrieval.encoders.tokeniser_pool import TokeniserPool
from ringtrue.retrieval.encoders.tokens import Tokeniser

BLOCKS = [
    ["the lamp", "fog"],
    [],
    ["ships steer by night", "fog", "\ud800 lamp", "two\nlines"],
    ["a " * 100],
    ["honey"],
]


@pytest.fixture(scope="module")
def tokeniser(tiny_bert):
    return Tokeniser(tiny_bert / "tokenizer.json", 24)


@pytest.fixture(scope="module")
def pool(tokeniser):
    pool = TokeniserPool(tokeniser, 2)
    yield pool
    pool.close()


def test_the_same_tokens_in_the_same_order(pool, tokeniser):
    for block, tokens in zip(BLOCKS, pool.map(BLOCKS), strict=True):
        for found, expected in zip(tokens, tokeniser(block), strict=True):
            assert np.array_equal(found, expected)


def test_it_reads_only_a_little_ahead(pool):
    taken = itertools.count()
    blocks = (["lamp"] for _ in iter(lambda: next(taken), 1000))
    for _ in itertools.islice(pool.map(blocks), 5):
        pass
    assert next(taken) <= 5 + 5


def test_a_block_in_pieces_has_the_tokens_of_each_text(pool, tokeniser, monkeypatch):
    monkeypatch.setattr(tokeniser_pool, "_PIECE", 2)
    blocks = [[*BLOCKS[2], "fog", "honey of the night", ""], BLOCKS[1], BLOCKS[3]]
    for given in (blocks, [Cells.of(block) for block in blocks]):
        for block, tokens in zip(blocks, pool.map(given), strict=True):
            assert (np.diff(tokens.lengths) >= 0).all() and tokens.lengths.sum() == len(tokens.ids)
            ends = np.cumsum(tokens.lengths)
            found = [tokens.ids[ends[place] - tokens.lengths[place] : ends[place]].tolist() for place in tokens.places]
            assert found == [tokeniser([text]).ids.tolist() for text in block]


def test_a_search_that_stops_in_between_leaves_it_usable(pool):
    next(pool.map(BLOCKS))
    assert len(list(pool.map(BLOCKS))) == len(BLOCKS)


def test_a_process_that_dies_is_an_error_and_not_a_wait(tokeniser):
    pool = TokeniserPool(tokeniser, 1)
    try:
        assert len(list(pool.map(BLOCKS))) == len(BLOCKS)
        pool._processes[0].kill()
        with pytest.raises((EOFError, BrokenPipeError)):
            list(pool.map(BLOCKS))
    finally:
        pool.close()
