"""The random documents that fill up a sample: one fixed list for all groups, so that groups differ in runs alone."""

from __future__ import annotations

import random
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import InputError
from ringtrue.subsampling.campaign import Documents

MOST = 25_000  # as in the study, whose samples are therefore never larger by random documents alone


@lru_cache(maxsize=8)
def shuffled(documents: int, seed: int, most: int = MOST) -> NDArray[np.int64]:
    """The first `most` of all document codes in random order; codes ascend with the ids, so ids decide the order."""
    codes = list(range(documents))
    random.Random(seed).shuffle(codes)
    return np.array(codes[:most], dtype=np.int64)


def fill(sample: Documents, size: int, seed: int, most: int = MOST) -> Documents:
    """Add random documents, taken from the end of the list, until the sample has `size` or the list is empty."""
    if size < 1:
        raise InputError(f"a sampler has size {size}, which gives no documents; it should be 1 or more.")
    if most < 0:
        raise InputError(f"a sampler has a list of {most} random documents (most); it should be 0 or more.")
    order = shuffled(len(sample), seed, most)[::-1]
    fresh = order[~sample[order]]
    filled = sample.copy()
    filled[fresh[: max(size - int(sample.sum()), 0)]] = True
    return filled
