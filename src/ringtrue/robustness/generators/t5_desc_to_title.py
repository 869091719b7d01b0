"""T5DescToTitle: the title for which the query is the description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ringtrue.errors import MissingModelError
from ringtrue.robustness.generators.text_model import TextModel

_MISSING = (
    "T5DescToTitle needs a T5 that was trained to write titles: give T5DescToTitle:model=FOLDER; to train one from the"
    " topics of your collections run: ringtrue robustness finetune --help"
)


@dataclass(frozen=True, repr=False)
class T5DescToTitle(TextModel):
    """Shorten the query to keywords with a model that `ringtrue.robustness.finetune` trained.

    The study cuts titles at 8 tokens and prompts otherwise than in training; here a title may be as long as the query,
    and the prompt is the one of the training.
    """

    model: str = ""
    prefix: str = "summarize:"

    category = "naturality"

    def check(self) -> None:
        """There is no such model on the hub."""
        if not self.model:
            raise MissingModelError(_MISSING)
        super().check()

    def rewritten(self, texts: Sequence[str], beams: int) -> list[list[str]]:
        """Say how to get a model before looking for one."""
        if not self.model:
            raise MissingModelError(_MISSING)
        return super().rewritten(texts, beams)

    def prompt(self, query: str) -> str:
        """The query behind the task's name."""
        return f"{self.prefix} {query}"

    @staticmethod
    def longest(tokens: int) -> int:
        """A title is no longer than its description."""
        return tokens
