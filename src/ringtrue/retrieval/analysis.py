"""Text to terms, the same for every lexical model.

Letters and digits of any script make words, lower-cased after NFKC; accents and vowel signs stay with their letter,
and each Han or kana character is a word of its own, since these scripts are written without blanks. Left out: word
splitting for Thai, Lao, Khmer and Burmese, stemmers for languages other than English, compound splitting.
The stemmers are Snowball's: `porter2` (its "english") and `porter` (Porter, Program 14(3), 1980).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import Stemmer
from bm25s.stopwords import STOPWORDS_EN

from ringtrue.errors import InputError, UnknownNameError

StemmerName = Literal["porter2", "porter", "none"]

_SNOWBALL = {"porter2": "english", "porter": "porter"}
_UNSPACED = (  # Han with its marks and extensions, kana
    r"\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
)
_LAST_MARK = 0x20000  # beyond are only selectors of ideograph variants
# one table look-up a byte lower-cases and cuts plain ASCII three times as fast as a pattern finds its words
_ASCII = bytes(ord(chr(code).lower()) if chr(code).isalnum() else ord(" ") for code in range(128)) + bytes(128)


@dataclass(frozen=True)
class Analyser:
    """How words become terms; `stopwords` is `none`, `english` (33 words) or a file of words."""

    stemmer: StemmerName = "porter2"
    stopwords: str = "none"

    def tokens(self, text: str) -> list[str]:
        """The terms of one text, in order."""
        stopped, stem = self.stop_list(), self.stem()
        return [stem(word) for word in words(text) if word not in stopped]

    def stem(self) -> Callable[[str], str]:
        """The function that stems one word."""
        if self.stemmer == "none":
            return str
        if self.stemmer not in _SNOWBALL:
            raise UnknownNameError("stemmer", self.stemmer, ("none", *_SNOWBALL))
        stem: Callable[[str], str] = Stemmer.Stemmer(_SNOWBALL[self.stemmer], 0).stemWord
        return stem

    def stop_list(self) -> frozenset[str]:
        """The words to leave out; those of a file pass through `words`, so that they match what texts give."""
        if self.stopwords == "none":
            return frozenset()
        if self.stopwords == "english":
            return frozenset(STOPWORDS_EN)
        try:
            return frozenset(words(Path(self.stopwords).read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"stopwords {self.stopwords!r} is neither none nor english nor a readable UTF-8 file of words: {error}."
            ) from error

    def identity(self) -> tuple[object, ...]:
        """All that the terms depend on, for cache keys: a file of words may change behind its name."""
        return self, tuple(sorted(self.stop_list())), Stemmer.version()


class Coder(dict[str, int]):
    """Word forms to term codes: each form is looked up once a token, stemmed once a corpus."""

    def __init__(self, analyser: Analyser) -> None:
        """Start with no terms."""
        super().__init__()
        self.terms: dict[str, int] = {}
        self._stopped = analyser.stop_list()
        self._stem = analyser.stem()

    def codes(self, text: str) -> Iterable[int]:
        """The terms of one text as codes; new terms get the next number."""
        found = words(text)
        if self._stopped:
            found = [word for word in found if word not in self._stopped]
        return map(self.__getitem__, found)

    def __missing__(self, word: str) -> int:
        """Stem a form that was not seen before."""
        code = self[word] = self.terms.setdefault(self._stem(word), len(self.terms))
        return code


def words(text: str) -> list[str]:
    """The lower-cased words of a text, before stopping and stemming."""
    if text.isascii():
        return text.encode("ascii").translate(_ASCII).decode("ascii").split()
    return _pattern().findall(unicodedata.normalize("NFKC", text).lower())


@cache
def _pattern() -> re.Pattern[str]:
    """Any script's words: one unspaced character, or letters and digits with the marks that follow them."""
    marks = "".join(chr(code) for code in range(_LAST_MARK) if unicodedata.category(chr(code))[0] == "M")
    letter = rf"[^\W_{_UNSPACED}]"
    # looking ahead for any non-ASCII character spares most words the search through two thousand marks
    return re.compile(rf"[{_UNSPACED}]|{letter}+(?:(?=[^\0-\x7f])[{marks}]+{letter}*)*")
