"""Sequences of one length in every batch, nothing lost, nothing padded."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from ringtrue.retrieval.encoders.tokens import Tokeniser, batches, joined

TEXTS = ["the lamp", "a ship", "", "the lamp", "fog at the coast by night", "lighthouse", "a ship"]


@pytest.fixture
def tokeniser(tiny_bert):
    return Tokeniser(tiny_bert / "tokenizer.json", 24)


def sequences(tokens):
    ends = np.cumsum(tokens.lengths)
    found = [tokens.ids[end - length : end].tolist() for end, length in zip(ends, tokens.lengths, strict=True)]
    return [found[place] for place in tokens.places]


def reference(tiny_bert, texts, special=True):
    tokenizer = Tokenizer.from_file(str(tiny_bert / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(24)
    return [tokenizer.encode(text, add_special_tokens=special).ids for text in texts]


def test_every_text_gets_its_tokens_without_padding(tokeniser, tiny_bert):
    tokens = tokeniser(TEXTS)
    assert sequences(tokens) == reference(tiny_bert, TEXTS)
    assert tokens.lengths.tolist() == sorted(tokens.lengths.tolist())


def test_a_text_that_comes_again_is_there_once(tokeniser):
    assert len(tokeniser(TEXTS).lengths) == len(set(TEXTS))


def test_without_special_tokens_an_empty_text_has_none(tiny_bert):
    tokens = Tokeniser(tiny_bert / "tokenizer.json", 24, special=False)(TEXTS)
    assert sequences(tokens) == reference(tiny_bert, TEXTS, special=False)
    assert tokens.lengths[0] == 0


def test_long_texts_are_cut(tokeniser):
    assert tokeniser(["lamp " * 100]).lengths.tolist() == [24]


def test_half_characters_are_replaced(tokeniser):
    tokens = tokeniser(["lamp \ud83d", "lamp \ufffd", "\ud83d\udd6f"])
    assert sequences(tokens)[0] == sequences(tokens)[1]


@pytest.mark.parametrize("cuts", [(0, 7), (0, 3, 7), (0, 1, 1, 5, 7), (0, 2, 4, 6, 7)])
@pytest.mark.parametrize("special", [True, False])
def test_joined_parts_are_in_one_order(tiny_bert, cuts, special):
    tokeniser = Tokeniser(tiny_bert / "tokenizer.json", 24, special)
    tokens = joined([tokeniser(TEXTS[start:stop]) for start, stop in itertools.pairwise(cuts)])
    assert sequences(tokens) == reference(tiny_bert, TEXTS, special)
    assert tokens.lengths.tolist() == sorted(tokens.lengths.tolist())
    assert tokens.lengths.sum() == len(tokens.ids)


def test_no_texts(tokeniser):
    assert [part.tolist() for part in tokeniser([])] == [[], [], []]


@given(
    st.lists(st.integers(1, 40)).map(sorted).map(lambda x: np.array(x, np.int64)),
    st.integers(1, 200),
    st.integers(1, 8),
)
def test_batches_cover_all_in_order(lengths, budget, multiple):
    found = list(batches(lengths, budget, multiple))
    assert [row for batch in found for row in range(len(lengths))[batch.rows]] == list(range(len(lengths)))
    end = 0
    for batch in found:
        size = batch.rows.stop - batch.rows.start
        assert set(lengths[batch.rows].tolist()) == {batch.length}
        assert (batch.ids.start, batch.ids.stop) == (end, end + size * batch.length)
        assert size <= multiple or size * batch.length <= budget
        end = batch.ids.stop
    assert end == lengths.sum()


def test_batches_are_as_large_as_the_budget_allows():
    sizes = [batch.rows.stop - batch.rows.start for batch in batches(np.full(25, 4), 48, 4)]
    assert sizes == [12, 12, 1]


def test_what_the_vocabulary_does_not_have_is_told(tokeniser, tiny_bert):
    unread = tokeniser.unread("the lamp ไทย 🎉")
    assert unread.parts == ("ไทย", "🎉") and unread.tokens == len(tokeniser(["the lamp ไทย 🎉"]).ids) - 2
    assert unread.share == 2 / unread.tokens
    assert tokeniser.unread("the lamp").parts == () and tokeniser.unread("").share == 0
    assert tokeniser.unread("half \ud83d").tokens > 0
