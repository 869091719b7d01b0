"""The word lists beside this file, written for ringtrue."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files


def read(name: str) -> Iterator[list[str]]:
    """The words of each line; lines that begin with # are comments."""
    text = files(__package__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return (line.split() for line in text.splitlines() if line and not line.startswith("#"))
