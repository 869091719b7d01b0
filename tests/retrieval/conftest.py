"""Small collections made from texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import pytest

from ringtrue.data.collection import Collection
from ringtrue.data.records import Document, Query


def _collect(texts: Mapping[str, str], queries: Iterable[Query] = ()) -> Collection:
    return Collection.from_records("texts", [Document(*item) for item in texts.items()], queries)


@pytest.fixture
def collect() -> Callable[..., Collection]:
    """Make a collection of `{doc_id: text}`."""
    return _collect


@pytest.fixture
def fruit() -> Collection:
    """Four documents, ten tokens: 2.5 on average; `apple` is three times in two of them."""
    return _collect(
        {"d1": "apple banana apple", "d2": "banana cherry", "d3": "apple cherry cherry date", "d4": "egg"},
        (Query("q1", "apple"), Query("q2", "cherry banana cherry"), Query("q3", "nothing here"), Query("q4", "")),
    )
