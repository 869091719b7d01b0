"""Judged documents that the visible runs retrieve."""

from __future__ import annotations

from dataclasses import dataclass

from ringtrue.subsampling.campaign import Documents, View


@dataclass(frozen=True)
class Judged:
    """Judged documents, relevant or not, that a visible run retrieves at any rank."""

    def sample(self, view: View) -> Documents:
        """Mark them."""
        return view.judged()
