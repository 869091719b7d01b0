from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.retrieval import strings
from ringtrue.retrieval.strings import StringTable

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=8)


@given(st.sets(ANY_TEXT, max_size=20), ANY_TEXT)
def test_strings_come_back_and_are_found(texts, other):
    ordered = sorted(texts)
    with tempfile.TemporaryDirectory() as folder:
        strings.save(ordered, Path(folder), "names")
        table = StringTable.load(Path(folder), "names")
        assert [table[number] for number in range(len(table))] == ordered
        assert table.texts(np.arange(len(table))) == ordered
        assert [table.find(text) for text in ordered] == list(range(len(ordered)))
        assert table.find(other) == (ordered.index(other) if other in texts else None)


def test_a_pickle_in_the_cache_is_refused(tmp_path):
    strings.save(["a"], tmp_path, "names")
    np.save(tmp_path / "names-bytes.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="Python objects"):
        StringTable.load(tmp_path, "names")
