"""Random documents that fill up a sample."""

from __future__ import annotations

import numpy as np

from ringtrue.subsampling.samplers import SAMPLERS
from ringtrue.subsampling.samplers.random_documents import fill


def test_the_list_ends_where_it_is_told_to():
    none = np.zeros(100, np.bool_)
    assert fill(none, 50, 1).sum() == 50
    assert fill(none, 50, 1, most=20).sum() == 20
    assert not (fill(none, 50, 1, most=20) & ~fill(none, 20, 1, most=20)).any()
    assert not none.any()


def test_it_is_an_option_of_the_samplers():
    for name in ("loft", "judged_random"):
        assert SAMPLERS.parse(f"{name}:size=9,most=3").most == 3
        assert SAMPLERS.parse(name).most == 25_000
