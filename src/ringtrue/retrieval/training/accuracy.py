"""A validation that needs nothing but triples: how often the relevant document is scored above the other."""

from __future__ import annotations

from dataclasses import dataclass

from ringtrue.retrieval.neural.network import Network
from ringtrue.retrieval.neural.scoring import score
from ringtrue.retrieval.training.batching import pairs_of
from ringtrue.retrieval.training.triples import Triples, usable


@dataclass(frozen=True)
class PairAccuracy:
    """The share of triples in the right order; a tie counts half, and what cannot be trained on does not count."""

    triples: Triples

    def fingerprint(self) -> str:
        """A key for the triples."""
        return self.triples.fingerprint()

    def __call__(self, network: Network) -> float:
        """Score all pairs."""
        pairs = pairs_of(self.triples.rows[usable(self.triples).numbers])
        scores = score(network, self.triples.queries, self.triples.documents, pairs).reshape(-1, 2)
        return float(((scores[:, 0] > scores[:, 1]) + 0.5 * (scores[:, 0] == scores[:, 1])).mean())
