"""T5QQP: a paraphrase by a T5 that learned from Quora's question pairs."""

from __future__ import annotations

from dataclasses import dataclass

from ringtrue.robustness.generators.text_model import TextModel


@dataclass(frozen=True, repr=False)
class T5QQP(TextModel):
    """Paraphrase with the public checkpoint that the study's code uses, or any other T5.

    The model knows questions, so a question mark is put behind the query, as in the study. The prompt is the one that
    the checkpoint was trained with; the study's has a blank before the colon and a second end mark.
    """

    model: str = "ramsrigouthamg/t5_paraphraser"
    prefix: str = "paraphrase:"

    category = "paraphrasing"

    def prompt(self, query: str) -> str:
        """The query as a question behind the task's name."""
        return f"{self.prefix} {query.rstrip('?!. ')}?"
