"""Word vectors in all their formats, and neighbours against a plain computation."""

from __future__ import annotations

import bz2
import gzip

import numpy as np
import pytest
import tiny_generators

from ringtrue.errors import FormatError, InputError
from ringtrue.robustness.resources import vectors
from ringtrue.robustness.resources.vectors import Neighbour, load


def words_of(found) -> dict[str, list[float]]:
    return {found.words[number]: found.rows[number].tolist() for number in range(len(found.words))}


def test_all_formats_give_the_same(tmp_path):
    plain = tiny_generators.write_vectors(tmp_path / "glove.txt")
    headed = tmp_path / "word2vec.txt"
    headed.write_text(f"{len(tiny_generators.WORDS)} 3\n" + plain.read_text(encoding="utf-8"), encoding="utf-8")
    binary = tiny_generators.write_binary_vectors(tmp_path / "word2vec.bin")
    zipped = tmp_path / "glove.txt.gz"
    zipped.write_bytes(gzip.compress(plain.read_bytes()))
    packed = tmp_path / "word2vec.bin.bz2"
    packed.write_bytes(bz2.compress(binary.read_bytes()))
    expected = words_of(load(plain))
    assert set(expected) == set(tiny_generators.WORDS)
    assert np.linalg.norm(list(expected.values()), axis=1) == pytest.approx(1)
    for path in (headed, binary, zipped, packed):
        assert words_of(load(path)) == {word: pytest.approx(vector) for word, vector in expected.items()}


def test_binary_without_line_ends(tmp_path):
    rows = (f"{word} ".encode() + np.array(vector, "<f4").tobytes() for word, vector in tiny_generators.WORDS.items())
    path = tmp_path / "vectors.bin"
    path.write_bytes(f"{len(tiny_generators.WORDS)} 3\n".encode() + b"".join(rows))
    assert set(words_of(load(path))) == set(tiny_generators.WORDS)


def test_nearest_first_and_not_the_word_itself(tmp_path):
    found = load(tiny_generators.write_vectors(tmp_path / "vectors.txt"))
    near = found.neighbours(["hot", "nowhere"], 15, 0.8)
    assert list(near) == ["hot"]
    assert near["hot"] == (
        Neighbour("cold", pytest.approx(0.99, abs=0.01)),
        Neighbour("warm", pytest.approx(0.95, abs=0.01)),
    )
    assert found.neighbours(["hot"], 1, 0.8)["hot"] == near["hot"][:1]
    assert found.neighbours(["goldfish"], 15, 0.9)["goldfish"] == ()
    assert found.neighbours([], 15, 0.8) == {}


def test_as_a_plain_computation_gives_them(tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "_BLOCK", 37)
    monkeypatch.setattr(vectors, "_WORDS", 5)
    rng = np.random.default_rng(1)
    centres = rng.normal(size=(12, 8))
    table = {f"w{n}": centres[n % 12] + 0.25 * rng.normal(size=8) for n in range(300)}
    path = tmp_path / "vectors.txt"
    path.write_text("".join(f"{w} {' '.join(map(str, v))}\n" for w, v in table.items()), encoding="utf-8")
    found = load(path)
    asked = [f"w{n}" for n in range(0, 300, 13)]
    near = found.neighbours(asked, 6, 0.8)
    names = list(table)
    rows = np.array([table[name] / np.linalg.norm(table[name]) for name in names])
    for word in asked:
        cosines = rows @ rows[names.index(word)]
        best = [names[place] for place in np.argsort(-cosines) if names[place] != word and cosines[place] >= 0.8][:6]
        assert [one.word for one in near[word]] == best
        assert found.neighbours([word], 6, 0.8)[word] == near[word]


def test_words_with_blanks_and_words_that_come_twice(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("the 1 0\n. . . 0 1\nthe 0 1\n\n", encoding="utf-8")
    assert words_of(load(path)) == {". . .": [0, 1], "the": [1, 0]}


def test_the_second_time_nothing_is_read(tmp_path, monkeypatch):
    path = tiny_generators.write_vectors(tmp_path / "vectors.txt")
    expected = words_of(load(path))
    vectors._load.cache_clear()
    monkeypatch.setattr(vectors, "read_vectors", None)
    assert words_of(load(path)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the 1 0\nof 1\n", "line 2: not a word with 2 numbers"),
        ("the 1 0\nof 1 x\n", "not a word with 2 numbers"),
        ("the 1 nan\n", "finite"),
        ("5 3\n", "no vectors|ends at word 1 of 5"),
        ("5 3", "a header but no vectors"),
        ("2 3\nthe abc", "ends at word 1 of 2"),
        ("\n\n", "no word vectors"),
    ],
)
def test_broken_files(tmp_path, text, message):
    path = tmp_path / "vectors.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        load(path)


def test_no_file():
    with pytest.raises(InputError, match="no such file"):
        load("nowhere.txt")
