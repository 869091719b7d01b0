"""Texts as rows, unknown words, files of word vectors, and how rare words are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tokenizers import Tokenizer

from ringtrue.errors import FormatError, InputError
from ringtrue.retrieval.encoders.minilm import MiniLM
from ringtrue.retrieval.neural import wordvectors
from ringtrue.retrieval.neural.vocabulary import Vocabulary, document_weights
from ringtrue.retrieval.neural.wordvectors import WordVectors, load_source

# isort: split
import torch

GLOVE = """\
the 1 0 0
lamp 0 1 0
Paris 0 0 1
, 9 9 9
new_york 8 8 8
don't 0.5 0 0
Lamp 7 7 7
PARIS 6 6 6
ship 0 0 0.25
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text(GLOVE, encoding="utf-8")
    return load_source(str(path))


def rows_of(vocabulary, *texts, length=None):
    found = vocabulary.encode(texts, length)
    return [found.of(number).tolist() for number in range(len(texts))]


def vector_of(source, word):
    ((row,),) = rows_of(source.vocabulary, word)
    return source.vectors[row - 1].tolist()


def test_words_of_a_file(source):
    assert source.vocabulary.dim == 3
    assert source.vocabulary.tokens == 6  # five words, and what stands for all others
    assert vector_of(source, "the") == [1, 0, 0]
    assert vector_of(source, "LAMP") == [0, 1, 0]  # written so in the file, though "Lamp" is in it, too
    assert vector_of(source, "paris") == [0, 0, 1]  # the first that becomes this word
    assert vector_of(source, "don\u2019t") == [0.5, 0, 0]
    assert vector_of(source, "ship") == [0, 0, 0.25]


def test_a_later_word_as_written_counts_before_an_earlier_one_in_capitals(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("Apple 1 0\napple 0 1\nAPPLE 5 5\n", encoding="utf-8")
    assert vector_of(load_source(str(path)), "apple") == [0, 1]


def test_punctuation_is_between_words(source):
    together, apart = rows_of(source.vocabulary, "The lamp,the ship!", "the lamp the ship")
    assert together == apart
    assert len(together) == 4


def test_unknown_words_have_rows_of_their_own(source):
    vocabulary = source.vocabulary
    first, second, both = rows_of(vocabulary, "Zanzibar", "timbuktu", "the ZANZIBAR lamp timbuktu")
    assert [both[1]] == first
    assert [both[3]] == second
    assert first != second
    assert all(vocabulary.tokens < row < vocabulary.rows for row in first + second)
    assert both[0] == rows_of(vocabulary, "the")[0][0]


def test_texts_without_words_and_texts_that_come_again(source):
    found = rows_of(source.vocabulary, "", "zanzibar the", "?!", "zanzibar the", "\ud800")
    assert found[0] == found[2] == found[4] == []
    assert found[1] == found[3] != []
    assert rows_of(source.vocabulary) == []


def test_texts_are_cut(source):
    text = "zanzibar the lamp " * 5000
    whole = rows_of(source.vocabulary, text)[0]
    assert len(whole) == 15_000
    for length in (1, 7, 14_999):
        assert rows_of(source.vocabulary, text, length=length)[0] == whole[:length]


def test_wordpieces_are_those_of_the_model():
    source = load_source("minilm")
    tokenizer = Tokenizer.from_file(str(MiniLM().folder() / "tokenizer.json"))
    tokenizer.no_padding()
    text = "The lighthouse-keeper's unbelievable [PAD] lamp"
    expected = [number + 1 for number in tokenizer.encode(text, add_special_tokens=False).ids]
    assert rows_of(source.vocabulary, text)[0] == expected
    assert 0 not in expected
    candle, party, word = rows_of(source.vocabulary, "\U0001f56f", "\U0001f389", "a" * 200)
    assert len({candle[0], party[0], word[0]}) == 3
    assert min(candle[0], party[0], word[0]) > source.vocabulary.tokens


def test_saved_and_read(source, tmp_path):
    folder = tmp_path / "saved"
    folder.mkdir()
    source.vocabulary.save(folder)
    again = Vocabulary.load(folder)
    texts = ("the lamp of Zanzibar", "don't", "")
    assert rows_of(again, *texts) == rows_of(source.vocabulary, *texts)
    assert (again.dim, again.rows) == (source.vocabulary.dim, source.vocabulary.rows)


def test_the_table(source):
    table = WordVectors(source.vocabulary, learn=False)
    torch.manual_seed(1)
    table.fill(source.vectors)
    assert not table.weight.requires_grad
    assert not table.weight[0].any()
    assert table.weight[1 : 1 + source.vocabulary.tokens].tolist() == source.vectors.tolist()
    unknown = table.weight[1 + source.vocabulary.tokens :].norm(dim=1)
    known = np.linalg.norm(source.vectors, axis=1)
    assert unknown.min() > 0
    assert unknown.square().mean().sqrt().item() == pytest.approx(known.mean(), rel=0.1)


def test_how_rare_words_are(source):
    texts = ["the lamp the lamp", "the ship", "", "zanzibar", "the ship"]
    weights = document_weights(source.vocabulary, texts)
    assert len(weights) == source.vocabulary.rows
    for word, count in {"the": 3, "lamp": 1, "ship": 2, "zanzibar": 1, "paris": 0}.items():
        row = rows_of(source.vocabulary, word)[0][0]
        assert weights[row] == pytest.approx(math.log(1 + (5 - count + 0.5) / (count + 0.5)))


def test_a_file_is_read_once(tmp_path, source, monkeypatch):
    wordvectors._read_words.cache_clear()
    monkeypatch.setattr("ringtrue.data.formats.vectors.read_vectors", None)
    again = load_source(str(tmp_path / "glove.txt"))
    assert again is not source
    assert again.vectors.tolist() == source.vectors.tolist()


def test_files_without_words(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text(", 1 2\n. 3 4\n", encoding="utf-8")
    with pytest.raises(FormatError, match="no vectors of single words"):
        load_source(str(path))
    with pytest.raises(InputError, match=r"no such file.*vectors is 'minilm' or the path"):
        load_source(str(tmp_path / "nothing.txt"))
