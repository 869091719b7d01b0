"""Where derived data is kept, keyed by the content it was derived from.

`RINGTRUE_CACHE` names the folder; without it the user's cache folder is taken. Writing is atomic, so that a
killed process leaves either the whole entry or none.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_BLOCK = 1 << 20
_COLD: ContextVar[Path | None] = ContextVar("cold", default=None)


def folder() -> Path:
    """The cache folder; it may not exist yet."""
    named = os.environ.get("RINGTRUE_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ringtrue"


def key(*parts: object) -> str:
    """A short name for a combination of values; their `repr` must be stable."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(repr(part).encode() + b"\0")
    return digest.hexdigest()


def content_key(paths: Iterable[Path]) -> str:
    """A short name for the bytes of some files, in the given order; their names do not count."""
    digest = hashlib.blake2b(digest_size=16)
    for path in paths:
        with open(path, "rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
        digest.update(path.stat().st_size.to_bytes(8, "little"))
    return digest.hexdigest()


def entry(kind: str, name: str, make: Callable[[Path], None]) -> Path:
    """The folder of one cached thing; `make` fills it where it is not there yet."""
    place = (_COLD.get() or folder()) / kind / name
    if place.is_dir():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=place.parent))
    try:
        make(draft)
        try:
            draft.rename(place)
        except OSError:
            if not place.is_dir():  # another process was faster: its entry is as good as ours
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return place


@contextmanager
def cold() -> Iterator[None]:
    """Entries that are asked for inside are made anew and forgotten, so that what making them takes can be measured."""
    with tempfile.TemporaryDirectory(prefix="ringtrue-") as place:
        before = _COLD.set(Path(place))
        try:
            yield
        finally:
            _COLD.reset(before)
