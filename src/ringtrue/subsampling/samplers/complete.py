"""The union of everything that any run retrieves: the largest sample that runs alone can give."""

from __future__ import annotations

from dataclasses import dataclass

from ringtrue.subsampling.campaign import Documents, View


@dataclass(frozen=True)
class Complete:
    """All documents of all runs, those of the left-out group included."""

    def sample(self, view: View) -> Documents:
        """Mark all."""
        return ~view.none()
