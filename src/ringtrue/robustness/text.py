"""What counts as the same query, and what of a word may be changed."""

from __future__ import annotations

import re
from functools import lru_cache

from ringtrue.robustness.resources.stopwords import STOPWORDS

# Punctuation of the common scripts; accents and vowel signs are none, so that words of any script stay whole.
_MARKS = (
    "\0- !-/:-@\\[-`{-\x7f\u00a1-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf"
    "\u055a-\u055f\u05be\u060c\u061b\u061f\u0964\u0965\u2010-\u205e"
    "\u3001-\u3003\u3008-\u3020\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
_PUNCTUATION = re.compile(f"[{_MARKS}]+")
# one look-up a byte does for plain ASCII what casefold and the pattern do for the rest, and three times as fast
_ASCII = bytes(ord(chr(code).lower()) if chr(code).isalnum() else ord(" ") for code in range(128)) + bytes(128)


def key(text: str) -> str:
    """What is left when case, punctuation and the length of gaps do not count."""
    if text.isascii():
        plain = text.encode("ascii").translate(_ASCII).decode("ascii").strip()
        return " ".join(plain.split()) if "  " in plain else plain
    return " ".join(_PUNCTUATION.sub(" ", text.casefold()).split())


@lru_cache(maxsize=1 << 16)
def unwrap(token: str) -> tuple[str, str, str]:
    """A token's word, with the punctuation before and after it around it."""
    first = _PUNCTUATION.match(token)
    start, end = first.end() if first else 0, len(token)
    while end > start and _PUNCTUATION.match(token, end - 1):
        end -= 1
    return token[:start], token[start:end], token[end:]


@lru_cache(maxsize=1 << 16)
def is_stop_word(token: str) -> bool:
    """Whether a token is one of the 179 English stop words, whatever its case and the punctuation around it."""
    return unwrap(token)[1].lower().replace("\u2019", "'") in STOPWORDS


def has_content(query: str) -> bool:
    """Whether a query has more than stop words; an empty one has nothing else either."""
    tokens = query.split()
    return not tokens or not all(map(is_stop_word, tokens))


@lru_cache(maxsize=1 << 16)
def is_content(token: str) -> bool:
    """Whether a token has a word of two characters or more that is no stop word: the study changes no other."""
    return len(unwrap(token)[1]) > 1 and not is_stop_word(token)


def like(query: str, text: str) -> str:
    """A model's text written as the query is: lower case where it is, no full stop where it has none."""
    text = " ".join(text.split())
    if query.rstrip()[-1:].isalnum():
        text = text.rstrip("?!.;:, ")
    return text.lower() if query == query.lower() else text


def cased(word: str, model: str) -> str:
    """A word in lower case, upper case or with a capital, as another word is."""
    if model.islower():
        return word.lower()
    if model.isupper() and len(model) > 1:
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word
