"""KeywordToQuestion: keywords written out as a question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ringtrue.robustness.dice import Dice
from ringtrue.robustness.generators.base import Rule
from ringtrue.robustness.resources.questions import QUESTION, QUESTIONS

_LATIN = re.compile("[A-Za-z]")
_RELATED = re.compile(r"^(?!the\b|an?\b).+\s(?:of|between)\s", re.IGNORECASE)
_PLURAL = re.compile(r"(?:\w*[^siu\W])s|people|children|men|women", re.IGNORECASE)


@dataclass(frozen=True, repr=False)
class KeywordToQuestion(Rule):
    """Ask for what the keywords name: X price becomes how much does X cost, any other X what is X.

    English only, and the same for every seed. Not in the study.
    """

    category = "naturality"
    failure = "a question or a sentence already, or not in Latin script"

    def candidates(self, query: str, dice: Dice) -> Iterator[str]:
        """Questions that fit the words first, then those that always do."""
        text = " ".join(query.split()).rstrip("?!. ")
        if query.rstrip().endswith("?") or QUESTION.search(text) or not _LATIN.search(text):
            return
        for pattern, question in QUESTIONS:
            if match := pattern.fullmatch(text):
                yield match.expand(question)
        yield f"what {_verb(text)} {'the ' if _RELATED.search(text) else ''}{text}"
        yield f"what is known about {text}"


def _verb(text: str) -> str:
    """The verb for the noun that the last words before a preposition most likely are."""
    head = re.split(r"\s(?:of|in|for|from|to|with|on|at|by|and|about)\s", text, maxsplit=1)[0]
    return "are" if _PLURAL.fullmatch(head.split()[-1]) else "is"
