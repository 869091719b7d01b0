"""Which letters could stand for another by mistake, in any script."""

from __future__ import annotations

import string
from functools import lru_cache

# where alphabets lie that have all their letters in one row; elsewhere letters of 32 code points are of one script
_ALPHABETS = (
    *((0x430, 0x44F), (0x410, 0x42F)),  # Cyrillic, small and capital
    *((0x3B1, 0x3C9), (0x391, 0x3A9)),  # Greek
    *((0x561, 0x586), (0x531, 0x556)),  # Armenian
    *((0x5D0, 0x5EA), (0x627, 0x64A), (0x905, 0x939)),  # Hebrew, Arabic, Devanagari
    *((0xE01, 0xE2E), (0x10D0, 0x10F0)),  # Thai, Georgian
)
_ROW = 32


@lru_cache(maxsize=1 << 16)
def strangers(char: str, upper: bool = False) -> str:
    """All letters but this one; Latin without accents for ASCII, else those beside it in its alphabet.

    Letters have the case of `char`, and with `upper` either case. None for what is no letter outside ASCII.
    """
    if char.isascii():
        letters = string.ascii_letters if upper else _like(string.ascii_lowercase, char)
    elif char.isalpha():
        letters = "".join(one for one in _around(char) if one.isalpha() and (upper or one.isupper() == char.isupper()))
    else:
        letters = ""
    return letters.replace(char, "")


def _around(char: str) -> list[str]:
    """The alphabet that a letter belongs to."""
    row = ord(char) // _ROW * _ROW
    ends = (row, row + _ROW - 1)
    start, end = next((alphabet for alphabet in _ALPHABETS if alphabet[0] <= ord(char) <= alphabet[1]), ends)
    return [chr(other) for other in range(start, end + 1)]


def _like(letters: str, char: str) -> str:
    return letters.upper() if char.isupper() else letters
