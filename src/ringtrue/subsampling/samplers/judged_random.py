"""Judged documents and random ones, taken literally; the study's code of that name is LOFT (see `loft`)."""

from __future__ import annotations

from dataclasses import dataclass

from ringtrue.subsampling.campaign import Documents, View
from ringtrue.subsampling.samplers.random_documents import MOST, fill


@dataclass(frozen=True)
class JudgedRandom:
    """Judged documents that a visible run retrieves, filled up to `size` with random ones of a list of `most`."""

    size: int = 10_000
    seed: int = 42
    most: int = MOST

    def sample(self, view: View) -> Documents:
        """Mark them; where more than `size` are judged, all of those."""
        return fill(view.judged(), self.size, self.seed, self.most)
