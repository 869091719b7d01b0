"""Generators that let a text-to-text model rewrite the query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ringtrue.data.records import Query
from ringtrue.robustness.generators import Outcome
from ringtrue.robustness.generators.base import Named, pick
from ringtrue.robustness.models import LONGEST, Device, check_model, load_model, rewrite
from ringtrue.robustness.text import key, like

FAILURE = "the model gives the query back, or nothing"
TOO_LONG = f"longer than the {LONGEST} tokens that a model is given"


@dataclass(frozen=True, repr=False)
class TextModel(Named):
    """Rewrites by beam search, the same for every seed.

    The study takes the best beam and counts it as invalid where it is the query itself; here the best beam that
    differs is taken. The text is written as the query is, in lower case and without a question mark where it has none.
    With more than `beams` variations asked for there are as many beams.
    """

    model: str
    beams: int = 4
    batch: int = 32
    device: Device = "auto"

    needs = "a model"

    def check(self) -> None:
        """The model must be a folder or in the hub's cache."""
        check_model(self.model, type(self).__name__)

    def vary_all(self, queries: Sequence[Query], n: int, seed: int) -> Iterator[Outcome]:
        """All queries with words in them, batched."""
        texts = list(dict.fromkeys(query.title for query in queries if key(query.title)))
        made = dict(zip(texts, self.rewritten(texts, max(self.beams, n)) if texts else (), strict=True))
        for query in queries:
            found = [like(query.title, text) for text in made.get(query.title, ())]
            yield pick(query.title, found, n, FAILURE if found else TOO_LONG)

    def rewritten(self, texts: Sequence[str], beams: int) -> list[list[str]]:
        """What the model makes of each text, the best first."""
        source = load_model(self.model, "text to text", type(self).__name__, self.device)
        prompts = [self.prompt(" ".join(text.split())) for text in texts]
        return rewrite(source, prompts, beams=beams, returned=beams, batch=self.batch, longest=self.longest)

    def prompt(self, query: str) -> str:
        """What the model is given."""
        return query

    @staticmethod
    def longest(tokens: int) -> int:
        """How many tokens may come out."""
        return 2 * tokens + 8
