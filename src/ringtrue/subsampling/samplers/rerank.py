"""What a re-ranking experiment sees: the best documents of one first-stage run."""

from __future__ import annotations

from dataclasses import dataclass

from ringtrue.subsampling.campaign import Documents, View


@dataclass(frozen=True)
class Rerank:
    """The top `depth` of `run`, also when its own group is left out."""

    run: str
    depth: int = 1000

    def sample(self, view: View) -> Documents:
        """Mark them."""
        return view.run_top(self.run, self.depth)
