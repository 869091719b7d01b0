"""Text between tags, in the loose SGML of TREC and in XML: end tags may be missing, attributes are allowed."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Mapping

_TAG = re.compile(r"<(/?)([A-Za-z][\w.:-]*)(?:\s[^<>]*)?(?<!/)(/?)>")
_LANGUAGE = re.compile(r"^[a-z]{2}-(?=[a-z]{4})")  # <EN-title> is a title
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|[A-Za-z]\w*);")


def fields(
    text: str, *, known: Collection[str] | None = None, inline: Collection[str] = ()
) -> Mapping[str, tuple[str, ...]]:
    """What stands in each field, raw, by the field's name in lower case; under "" what stands in none.

    A tag opens a field if it is `known` (any is, without that list) and not `inline`; other tags are blanks.
    An end tag goes back to the field around it.
    """
    text = _CDATA.sub(r"\1", _COMMENT.sub(" ", text))
    found: dict[str, list[str]] = {}
    within: list[str] = []
    place = 0
    for tag in _TAG.finditer(text):
        found.setdefault(within[-1] if within else "", []).append(text[place : tag.start()])
        place = tag.end()
        name = _LANGUAGE.sub("", tag[2].lower())
        if tag[3] or name in inline or (known is not None and name not in known):
            continue
        if not tag[1]:
            within.append(name)
            found.setdefault(name, []).append("")
        elif name in within:
            del within[len(within) - 1 - within[::-1].index(name) :]
    found.setdefault(within[-1] if within else "", []).append(text[place:])
    return {name: tuple(pieces) for name, pieces in found.items()}


def fold(text: str) -> str:
    """Entities resolved (only those with their semicolon: R&D stays), white space folded to single blanks."""
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    return " ".join(text.split())


def without_tags(text: str) -> str:
    """The text with tags, comments and declarations taken out."""
    return re.sub(r"<[?!][^<>]*>", " ", _TAG.sub(" ", _COMMENT.sub(" ", text)))
