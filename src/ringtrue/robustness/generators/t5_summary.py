"""T5Summary: the query summarised by a T5 as it is (beside the study, in its code)."""

from __future__ import annotations

from dataclasses import dataclass

from ringtrue.robustness.generators.text_model import TextModel


@dataclass(frozen=True, repr=False)
class T5Summary(TextModel):
    """Summarise without training for it; the study left this out of its tables, since few results were valid."""

    model: str = "google-t5/t5-base"
    prefix: str = "summarize:"

    category = "naturality"

    def prompt(self, query: str) -> str:
        """The query behind the task's name."""
        return f"{self.prefix} {query}"

    @staticmethod
    def longest(tokens: int) -> int:
        """A summary is no longer than its text."""
        return tokens
