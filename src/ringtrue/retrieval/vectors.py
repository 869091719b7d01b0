"""Vectors of texts, as rankers use them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import Floats


def check_finite(vectors: Mapping[str, Floats], what: str) -> None:
    """A vector that is no number would give scores that are none, and a ranking by id."""
    broken = next((name for name, rows in vectors.items() if not np.isfinite(rows).all()), None)
    if broken is not None:
        raise InputError(
            f"the encoder gives no numbers for {what} {broken!r}: its weights are broken, or too large for the "
            "precision; try precision=fp32, or another encoder."
        )
