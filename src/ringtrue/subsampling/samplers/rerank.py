"""What a re-ranking experiment sees: the best documents of a first stage."""

from __future__ import annotations

from dataclasses import dataclass

from ringtrue.subsampling.campaign import Documents, Found, View


@dataclass(frozen=True)
class Rerank:
    """The top `depth` of `run`, also when its own group is left out.

    `run` is the name of a run (`rerank:NAME:DEPTH` in short), else a ranker that searches the collection, with
    semicolons in place of commas: `rerank:run=bm25:k1=1.2;b=0.75,depth=100`.
    """

    run: str
    depth: int = 1000

    def sample(self, view: View) -> Documents:
        """Mark them; what a ranker finds and no run retrieves cannot be marked, `outside` has it."""
        return self._found(view).inside

    def outside(self, view: View) -> tuple[str, ...]:
        """What a ranker finds and no run retrieves, ascending: part of the sample, but not of the campaign."""
        return self._found(view).outside

    def _found(self, view: View) -> Found:
        name, _, depth = self.run.rpartition(":")
        names = view.campaign.runs.names
        if self.run not in names and name in names and depth.isdecimal():
            return view.top(name, int(depth))
        return view.top(self.run, self.depth)
