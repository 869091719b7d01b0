"""QuestionToKeyword: what is asked for, without the asking."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ringtrue.robustness.dice import Dice
from ringtrue.robustness.generators.base import Rule
from ringtrue.robustness.resources.questions import ASKING, FRAMES
from ringtrue.robustness.text import is_stop_word


@dataclass(frozen=True, repr=False)
class QuestionToKeyword(Rule):
    """Take the frame of an English question away: how old is X becomes X age, then X; at last stop words go too.

    The same for every seed. Not in the study, where RmvStopWords and T5DescToTitle do such a thing.
    """

    category = "naturality"
    failure = "not an English question, or nothing but one"

    def candidates(self, query: str, dice: Dice) -> Iterator[str]:
        """With the word that says what was asked for, without it, without stop words."""
        text = " ".join(query.split()).rstrip("?!. ")
        frame = next((found for pattern, cue in FRAMES if (found := _inside(pattern, cue, text))), None)
        if frame is None:
            return
        subject, cue = frame
        bare = _trimmed(subject.split())
        content = [word for word in bare if not is_stop_word(word)]
        for words in (bare, content):
            if words and cue:
                yield " ".join((*words, cue)) if not cue.endswith(" of") else " ".join((cue, *words))
        yield from (" ".join(words) for words in (bare, content))


def _inside(pattern: re.Pattern[str], cue: str, text: str) -> tuple[str, str] | None:
    """What a question is about, and a word for what it asks."""
    match = pattern.fullmatch(text)
    return (" ".join(filter(None, match.groups())), cue) if match else None


def _trimmed(words: Sequence[str]) -> list[str]:
    """Words without the small ones that a frame leaves at either end."""
    start, end = 0, len(words)
    while start < end and words[start].lower() in ASKING:
        start += 1
    while start < end and words[end - 1].lower() in ASKING:
        end -= 1
    return list(words[start:end])
