"""Audits prepared for rendering: each with its verdict, its sections in a row, and a safe name for everything.

A `stem` is at once an anchor of the page and the start of a file's name, unique even where two audits or two
sections carry the same name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from ringtrue.audit import Audit, Finding, Section, Verdict, gravest
from ringtrue.provenance import Provenance

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


class Part(NamedTuple):
    """A section, its kind (`table`, `figure`, `text`) and its stem."""

    kind: str
    stem: str
    section: Section


class Chapter(NamedTuple):
    """One audit, asked once for its sections."""

    stem: str
    name: str
    title: str
    verdict: Verdict
    findings: tuple[Finding, ...]
    parts: tuple[Part, ...]
    provenance: Provenance


def chapters(audits: Iterable[Audit]) -> tuple[Chapter, ...]:
    """Prepare audits in the given order."""
    taken: set[str] = set()
    return tuple(_chapter(audit, taken) for audit in audits)


def overall(parts: Iterable[Chapter]) -> Verdict:
    """The gravest verdict of all."""
    return gravest(finding for chapter in parts for finding in chapter.findings)


def _chapter(audit: Audit, taken: set[str]) -> Chapter:
    """One audit with all its names taken."""
    stem = _unique(_safe(audit.name), "audit", taken)
    parts = []
    for section in audit.sections():
        kind = type(section).__name__.lower()
        parts.append(Part(kind, _unique(f"{stem}-{_safe(section.name)}", kind, taken), section))
    findings = audit.findings
    return Chapter(stem, audit.name, audit.title, gravest(findings), findings, tuple(parts), audit.provenance)


def _safe(name: str) -> str:
    """A name without what file systems, anchors or shells read in their own way."""
    return _UNSAFE.sub("-", name).strip("-") or "unnamed"


def _unique(stem: str, kind: str, taken: set[str]) -> str:
    """Number a stem that was seen before; case does not count, since on some file systems it does not."""
    wanted, place = stem, 1
    while f"{kind}.{stem}".lower() in taken:
        place += 1
        stem = f"{wanted}-{place}"
    taken.add(f"{kind}.{stem}".lower())
    return stem
