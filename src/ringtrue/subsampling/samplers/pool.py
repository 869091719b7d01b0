"""The top-k pool: all documents that a run has among its best k for some topic.

With k above the depth that was judged this is the study's re-pooling.
"""

from __future__ import annotations

from dataclasses import dataclass

from ringtrue.subsampling.campaign import Documents, View


@dataclass(frozen=True)
class Pool:
    """Documents in the top `depth` of any visible run."""

    depth: int = 100

    def sample(self, view: View) -> Documents:
        """Mark the pool."""
        return view.pooled(self.depth)

    def outside(self, view: View) -> tuple[str, ...]:
        """What runs have below the rank down to which they are evaluated, ascending."""
        return view.beyond(self.depth)
