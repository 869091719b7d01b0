"""Every error that ringtrue raises for what a user gave it.

RingtrueError                exit code 2
├── InputError               a value, a file or a combination of options is wrong
│   ├── FormatError          a file is broken; knows the file and the line
│   └── UnknownNameError     no component of that name; lists the nearest
└── MissingError             exit code 3: something that has to be installed first
    ├── MissingExtraError    a Python package of an optional extra
    └── MissingModelError    model weights or a resource

Each message says what is wrong, with which value, where, and what to do.
Programming errors stay plain Python exceptions.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

_SHOWN = 30
_BRIEF = 5
_NEAREST = 3


class RingtrueError(Exception):
    """The root: catch it to catch all that ringtrue raises on purpose."""

    exit_code = 2


class InputError(RingtrueError):
    """What the user gave cannot be used."""


class FormatError(InputError):
    """A file does not hold what it should; `path` and `line` say where."""

    def __init__(self, message: str, path: str | Path, line: int | None = None) -> None:
        """Put the place before the message, as compilers do."""
        place = str(path) if line is None else f"{path}, line {line}"
        super().__init__(f"{place}: {message}")
        self.path = str(path)
        self.line = line


class UnknownNameError(InputError):
    """A name that is in no table."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        """List the nearest names, whatever their case, or all of them where none is near."""
        names = sorted(known)
        folded = {one: one.casefold() for one in names}
        matches = difflib.get_close_matches(name.casefold(), dict.fromkeys(folded.values()), n=_NEAREST, cutoff=0.5)
        near = [one for match in matches for one in reversed(names) if folded[one] == match][:_NEAREST]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(names[:_SHOWN]) or 'none'}{more}."
        super().__init__(f"unknown {kind} {name!r}; {hint}")
        self.kind = kind
        self.name = name


class MissingError(RingtrueError):
    """Something must be installed or fetched before this can run."""

    exit_code = 3


class MissingExtraError(MissingError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        """Name the feature that needs it and the line that installs it."""
        super().__init__(f"{what} needs packages that are not installed; run: pip install 'ringtrue[{extra}]'")
        self.extra = extra


class MissingModelError(MissingError):
    """Weights or a resource are neither on this machine nor reachable."""


def brief(names: Sequence[str], count: int | None = None) -> str:
    """The first names of a list, and how many more there are; `count` where `names` are only some of them."""
    shown = names[:_BRIEF]
    more = (len(names) if count is None else count) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
