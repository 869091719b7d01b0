"""All detectors by name: a new one is a file and a line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ringtrue.registry import Registry

if TYPE_CHECKING:
    from ringtrue.leakage.detectors.detector import Detector

DETECTORS: Registry[Detector] = Registry(
    kind="detector",
    table={
        "bm25": "ringtrue.leakage.detectors.bm25:BM25",
        "exact": "ringtrue.leakage.detectors.exact:Exact",
        "ngrams": "ringtrue.leakage.detectors.ngrams:NGrams",
        "tokens": "ringtrue.leakage.detectors.tokens:Tokens",
    },
)

# what stands beside a search by meaning
USUAL = (
    "exact",
    "tokens",
    "tokens:porter2",
    "ngrams:13",
    "ngrams:8",
    "ngrams:5,share=0.5",
    "ngrams:3,share=0.5",
    "bm25",
)
