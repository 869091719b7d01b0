"""Words that are spelled one way in Britain and another in America."""

from __future__ import annotations

from functools import cache

from ringtrue.robustness.resources import wordlists


@cache
def pairs() -> dict[str, str]:
    """Each British form with its American one."""
    return {
        british + ending.strip("-"): american + ending.strip("-")
        for british, american, *endings in wordlists.read("spellings")
        for ending in endings
    }


@cache
def others() -> dict[str, str]:
    """Each form with the other one, both ways."""
    return {**pairs(), **{american: british for british, american in pairs().items()}}


@cache
def forms() -> frozenset[str]:
    """All forms that have another."""
    return frozenset(others())
