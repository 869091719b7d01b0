"""Does your retrieval evaluation ring true? Leakage, corpus subsampling and query robustness, with evidence."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ringtrue.subsampling.hook import install as _make_samples_known

if TYPE_CHECKING:
    from ringtrue.data.collection import Collection
    from ringtrue.data.load import load
    from ringtrue.data.qrels import Qrels
    from ringtrue.data.records import Document, Query
    from ringtrue.data.runs import Run, RunSet
    from ringtrue.errors import RingtrueError
    from ringtrue.evaluation.measures import MFR, evaluate
    from ringtrue.study import Study

__all__ = [
    "MFR",
    "Collection",
    "Document",
    "Qrels",
    "Query",
    "RingtrueError",
    "Run",
    "RunSet",
    "Study",
    "evaluate",
    "load",
]

_HOMES = {
    "MFR": "ringtrue.evaluation.measures",
    "Collection": "ringtrue.data.collection",
    "Document": "ringtrue.data.records",
    "Qrels": "ringtrue.data.qrels",
    "Query": "ringtrue.data.records",
    "RingtrueError": "ringtrue.errors",
    "Run": "ringtrue.data.runs",
    "RunSet": "ringtrue.data.runs",
    "Study": "ringtrue.study",
    "evaluate": "ringtrue.evaluation.measures",
    "load": "ringtrue.data.load",
}


_make_samples_known()  # to ir_datasets, once that is imported: ir_datasets.load("ringtrue/NAME")


def __getattr__(name: str) -> object:
    """Import a public name on first use, so that `ringtrue --help` need not wait for numpy and its friends."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ringtrue' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
