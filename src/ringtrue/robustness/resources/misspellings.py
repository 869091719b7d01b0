"""How people misspell English words: a list of common mistakes, and rules for the words that are not in it.

The rules are the mistakes behind most of the list: a double letter written once or a single one twice, ie for ei, an
ending or a sound written like another, a vowel that is not heard left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from ringtrue.robustness.resources import wordlists

_SHORTEST = 4
_RULES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"([bcdfglmnprstz])\1", r"\1"),  # accommodate: accomodate
        (r"(?<=[aeiou])([lmnprst])(?=[aeiou])", r"\1\1"),  # imitate: immitate
        (r"ie", "ei"),  # believe: beleive
        (r"ei", "ie"),  # receive: recieve
        (r"(?<=\w{2}[^aeiou\W])[aeiou](?=[lnr][aeiou])", ""),  # separate: seprate
        (r"(?<=\w{2})e(?=(?:ment|ly|ful)s?$)", ""),  # management: managment
        (r"(?<=\w{2})ance(?=s?$)", "ence"),  # resistance: resistence
        (r"(?<=\w{2})ence(?=s?$)", "ance"),  # existence: existance
        (r"(?<=\w{2})ant(?=s?$)", "ent"),  # relevant: relevent
        (r"(?<=\w{2})ent(?=s?$)", "ant"),  # independent: independant
        (r"(?<=\w{2})able$", "ible"),  # acceptable: acceptible
        (r"(?<=\w{2})ible$", "able"),  # visible: visable
        (r"(?<=\w{2})ar(?=s?$)", "er"),  # grammar: grammer
        (r"(?<=\w{2})or(?=s?$)", "er"),  # author: auther
        (r"(?<=\w{2})le$", "el"),  # title: titel
        (r"tion", "sion"),  # extension: extention, and back
        (r"sion", "tion"),
        (r"ph", "f"),  # phone: fone
        (r"sc(?=[eiy])", "s"),  # science: sience
        (r"(?<=[^aeiou\W])y(?=[^aeiou\W])", "i"),  # symptom: simptom
        (r"^kn", "n"),  # knowledge: nowledge
        (r"^wr", "r"),  # write: rite
        (r"^ps", "s"),  # psychology: sychology
        (r"(?<=\w)gh(?=t|$)", ""),  # weight: weit
        (r"(?<=[rx])h", ""),  # rhythm: rythm
        (r"(?<=\w{2})ally$", "aly"),  # finally: finaly
        (r"ck", "k"),  # package: pakage
        (r"mb$", "m"),  # thumb: thum
        (r"qu", "q"),  # question: qestion
        (r"ou(?=r|s)", "o"),  # famous: famos
    )
)


@cache
def listed() -> dict[str, tuple[str, ...]]:
    """Words with their common misspellings."""
    return {word: tuple(wrong) for word, *wrong in wordlists.read("misspellings")}


@lru_cache(maxsize=1 << 17)
def ruled(word: str) -> tuple[str, ...]:
    """What the rules make of a lower-case word, each applied at each place once."""
    if len(word) < _SHORTEST or not (word.isascii() and word.isalpha()):
        return ()
    return tuple(dict.fromkeys(wrong for wrong in _applied(word) if wrong != word))


def _applied(word: str) -> Iterator[str]:
    for pattern, replacement in _RULES:
        for match in pattern.finditer(word):
            yield word[: match.start()] + match.expand(replacement) + word[match.end() :]
