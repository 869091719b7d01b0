"""Hashed words and n-grams against a plain reading of the definition."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.errors import InputError
from ringtrue.retrieval.encoders.hashing import Hashing

BASE, WORD = 0x9E3779B97F4A7C15, 2**64


def mixed(value: int, kind: int) -> int:
    value = (value + (kind + 1) * BASE) % WORD
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB % WORD
    return value ^ (value >> 31)


def by_definition(text: str, encoder: Hashing) -> np.ndarray:
    words = unicodedata.normalize("NFKC", text).casefold().split()
    padded = f" {' '.join(words)} "
    hashes = [mixed(sum(ord(c) * pow(BASE, i + 1, WORD) for i, c in enumerate(word)) % WORD, 0) for word in words]
    for length in range(encoder.shortest, encoder.longest + 1):
        for start in range(len(padded) - length + 1):
            gram = 0
            for letter in padded[start : start + length]:
                gram = (gram * BASE + ord(letter)) % WORD
            hashes.append(mixed(gram, length))
    vector = np.zeros(encoder.dimensions)
    for value in hashes:
        vector[(value >> 1) % encoder.dimensions] += 1 if value & 1 else -1
    return vector / max(np.linalg.norm(vector), 1e-30)


@given(st.lists(st.text(max_size=12), max_size=5), st.integers(1, 3), st.integers(0, 2))
def test_it_is_what_the_definition_says(texts, shortest, more):
    encoder = Hashing(64, shortest, shortest + more)
    expected = np.array([by_definition(text, encoder) for text in texts]).reshape(len(texts), 64)
    np.testing.assert_allclose(encoder.encode(texts), expected, atol=1e-6)


def test_case_width_and_spaces_do_not_count():
    vectors = Hashing().encode(["Lamp  price", "\uff4c\uff41\uff4d\uff50 price ", "lamp\tPRICE"])
    assert np.array_equal(vectors[0], vectors[1])
    assert np.array_equal(vectors[0], vectors[2])


def test_what_is_written_alike_is_near():
    vectors = Hashing().encode(["durable medical equipment", "medical equipment that is durable", "goldfish grow"])
    near, far = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
    assert near > 0.6
    assert abs(far) < 0.2


def test_a_text_of_spaces_gives_zeros():
    assert not Hashing().encode(["", " \t\n "]).any()


def test_many_texts_in_pieces():
    texts = [f"query number {number}" for number in range(5000)]
    assert np.array_equal(Hashing(32).encode(texts)[4100:4110], Hashing(32).encode(texts[4100:4110]))


@pytest.mark.parametrize("options", [(0, 3, 5), (64, 0, 5), (64, 4, 3)])
def test_options_out_of_range(options):
    with pytest.raises(InputError, match="should be 1 or more"):
        Hashing(*options).encode(["lamp"])
