"""How alike two texts are in meaning, by an encoder."""

from __future__ import annotations

from collections.abc import Sequence

from ringtrue.errors import MissingError
from ringtrue.retrieval.encoders import ENCODERS, Encoder

DEFAULT = "minilm"


class Vocabulary:
    """The vectors of texts, each text encoded once however often it occurs."""

    def __init__(self, encoder: Encoder, texts: Sequence[str]) -> None:
        """Encode all distinct texts together."""
        distinct = list(dict.fromkeys(texts))
        self._vectors = dict(zip(distinct, encoder.encode(distinct), strict=True)) if distinct else {}

    def similarity(self, first: str, second: str) -> float:
        """The cosine of two of the texts."""
        return float(self._vectors[first] @ self._vectors[second])


def default_encoder() -> Encoder | None:
    """The packaged encoder; None where what it needs is not installed."""
    try:
        encoder = ENCODERS.parse(DEFAULT)
        encoder.encode([DEFAULT])
    except MissingError:
        return None
    return encoder


def name_of(encoder: Encoder) -> str:
    """An encoder's name without its options, which do not change what it means."""
    return repr(encoder).partition(":")[0]
