import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.data.cells import Cells, LogBlock, packed, regrouped
from ringtrue.data.formats.columns import tab_separated
from ringtrue.data.records import LogQuery

TEXTS = st.lists(st.text(max_size=12), max_size=20)


@given(TEXTS)
def test_packed_texts_are_the_texts(texts):
    cells = Cells.of(texts)
    assert list(cells) == [cells[place] for place in range(len(texts))] == texts


def test_half_characters_of_broken_files_survive():
    assert list(Cells.of(["a\ud800b", "c"])) == ["a\ud800b", "c"]


@given(TEXTS, TEXTS, st.integers(0, 10), st.integers(0, 10))
def test_joined_and_cut_like_lists(first, second, start, stop):
    joined = Cells.joined([Cells.of(first), Cells.of(second)])
    assert list(joined[start:stop]) == (first + second)[start:stop]


@given(TEXTS, st.data())
def test_taken_texts_stand_alone(texts, data):
    places = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=9)) if texts else []
    taken = Cells.of(["before", *texts])[1:].take(np.array(places, np.int64))
    assert list(taken) == [texts[place] for place in places]
    assert len(pickle.dumps(taken)) <= len(pickle.dumps(Cells.of(texts[place] for place in places))) + 8


@given(st.lists(st.text("ab0é", max_size=6), max_size=60))
def test_keys_are_equal_where_texts_are(texts):
    keys = Cells.of(texts).keys().tolist()
    assert len(set(keys)) == len(set(texts))
    assert len(set(zip(texts, keys, strict=True))) == len(set(texts))


def test_keys_do_not_depend_on_what_stands_beside():
    assert Cells.of(["x", "id7", "id8"]).keys()[1] == Cells.of(["id7"]).keys()[0]


def test_a_million_ids_have_a_million_keys():
    assert len(np.unique(Cells.of(map(str, range(1_000_000))).keys())) == 1_000_000


def test_blocks_do_not_drag_along_what_came_before_them():
    """A block holds its own lines and no more of others than a piece has, however long the log is."""
    lines = [f"q{number}\tsome words {number}\tweb\n" for number in range(30_000)]
    starts = range(0, len(lines), 700)
    pieces = [tab_separated("".join(lines[start : start + 700]).encode()) for start in starts]
    sizes = [len(pickle.dumps(block)) for block in regrouped([piece for piece in pieces if piece], 1000)]
    assert len(sizes) == 30 and max(sizes) < 2 * min(sizes)


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_regrouped_in_blocks_of_one_size(size):
    entries = [LogQuery(f"q{number}", "x" * number, "web") for number in range(17)]
    pieces = [LogBlock.of(entries[start:end]) for start, end in ((0, 2), (2, 2), (2, 12), (12, 17))]
    for blocks in (list(regrouped(pieces, size)), list(packed(iter(entries), size))):
        assert [len(block) for block in blocks] == [size] * (17 // size) + [17 % size] * (17 % size > 0)
        assert [text for block in blocks for text in block.texts] == [entry.text for entry in entries]
        assert [name for block in blocks for name in block.ids] == [entry.query_id for entry in entries]
        assert {source for block in blocks for source in block.sources} == {"web"}
