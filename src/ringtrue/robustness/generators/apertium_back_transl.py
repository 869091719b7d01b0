"""ApertiumBackTransl: back-translation by rules, fully offline.

Apertium (Forcada et al., Machine Translation 25, 2011) translates nearly word by word; words that it does not know pass
through. It knows no line ends, and moves words from one line to the next unless each line ends as a sentence does.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ringtrue.data.records import Query
from ringtrue.errors import InputError, MissingModelError
from ringtrue.robustness.generators import Outcome
from ringtrue.robustness.generators.base import Named, pick
from ringtrue.robustness.text import key, like

_END = " \u00b6."
_ENDS = re.compile(r" ?\u00b6 ?\.$")
_FAILURE = "Apertium gives the query back, or nothing"


@dataclass(frozen=True, repr=False)
class ApertiumBackTransl(Named):
    """Translate from `language` to `pivot` and back; there is one such variation at most, the same for every seed."""

    pivot: str = "spa"
    language: str = "eng"

    category = "paraphrasing"
    needs = "apertium"

    def check(self) -> None:
        """The program and both directions must be installed."""
        there, back = f"{self.language}-{self.pivot}", f"{self.pivot}-{self.language}"
        if shutil.which("apertium") is None:
            raise MissingModelError(_missing("Apertium", there))
        listed = subprocess.run(["apertium", "-l"], capture_output=True, text=True, check=False)
        modes = listed.stdout.split()
        for mode in (there, back):
            if mode not in modes:
                raise MissingModelError(_missing(f"Apertium's direction {mode}", there))

    def vary_all(self, queries: Sequence[Query], n: int, seed: int) -> Iterator[Outcome]:
        """All queries at once: one process there, one back."""
        self.check()
        texts = list(dict.fromkeys(query.title for query in queries if key(query.title)))
        there = _translated([_line(text) for text in texts], f"{self.language}-{self.pivot}")
        back = dict(zip(texts, _translated(there, f"{self.pivot}-{self.language}"), strict=True))
        for query in queries:
            found = back.get(query.title, "")
            yield pick(query.title, [like(query.title, found)], n, _FAILURE)


def _translated(lines: Sequence[str], mode: str) -> list[str]:
    """Each line in the other language; lines that upset their neighbours are translated apart."""
    if not lines:
        return []
    done = subprocess.run(
        ["apertium", "-u", mode],
        input="".join(f"{line}{_END}\n" for line in lines),
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise InputError(f"apertium {mode} failed: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}.")
    found = done.stdout.removesuffix("\n").split("\n")
    if len(found) == len(lines) and all(map(_ENDS.search, found)):
        return [_ENDS.sub("", line) for line in found]
    if len(lines) == 1:
        return [""]
    half = len(lines) // 2
    return _translated(lines[:half], mode) + _translated(lines[half:], mode)


def _line(text: str) -> str:
    """A text on one line, without control characters, halves of characters and the end mark."""
    kept = (" " if unicodedata.category(char)[0] == "C" or char == "\u00b6" else char for char in text)
    return " ".join("".join(kept).split())


def _missing(what: str, there: str) -> str:
    return (
        f"{what} is not installed; on Debian or Ubuntu run: apt-get install apertium apertium-{there}"
        " (https://apertium.org has more languages)"
    )
