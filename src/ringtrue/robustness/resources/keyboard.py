"""Which keys touch on a QWERTY keyboard.

Computed from where the keys are: each row is shifted against the one above it. TextAttack's table, which the study
used, also has some keys that do not touch (a and x), and has g next to d but not to f.
"""

from __future__ import annotations

_ROWS = (("1234567890", -0.5), ("qwertyuiop", 0.0), ("asdfghjkl", 0.25), ("zxcvbnm", 0.75))
_PLACES = {char: (place + shift, row) for row, (chars, shift) in enumerate(_ROWS) for place, char in enumerate(chars)}


def _touching(char: str) -> str:
    """The keys around one key."""
    x, row = _PLACES[char]
    around = (other for other in _PLACES if other != char)
    return "".join(other for other in around if _near(_PLACES[other][0] - x, _PLACES[other][1] - row))


def _near(x: float, rows: int) -> bool:
    return abs(x) <= 1 if rows == 0 else abs(x) < 1 and abs(rows) == 1


_ALL = {char: _touching(char) for char in _PLACES}
_UPPER = {char.upper(): found.upper() for char, found in _ALL.items() if char.isalpha()}

# letters and digits with all their neighbours; letters with the letters around them alone
KEYS = {**_ALL, **_UPPER}
LETTERS = {char: "".join(filter(str.isalpha, found)) for char, found in KEYS.items() if char.isalpha()}
