"""Other ways in which people typed a topic: `topic-user-n;query` lines, or TSV of topic and variant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ringtrue.data.formats.streams import read_lines
from ringtrue.data.notes import Notes
from ringtrue.data.records import Query
from ringtrue.errors import FormatError, InputError

VARIANT_LINE = re.compile(r"(?P<query_id>[^;\t]+)-[^-;\t]+-\d+;(?P<text>.*)")
_HEADERS = {"query_id", "qid", "topic", "topic_id", "id"}


class Variant(NamedTuple):
    """One more text for a topic."""

    query_id: str
    text: str


def read_variants(path: str | Path, notes: Notes) -> tuple[Variant, ...]:
    """All variants in the order of the file, repeated ones too: how many people chose a text is information."""
    found = tuple(_variants(path, notes))
    if not found:
        raise FormatError("no query variants in this file.", path)
    return found


def with_variants(queries: Iterable[Query], variants: Iterable[Variant], notes: Notes) -> tuple[Query, ...]:
    """The queries with the variants behind those that they have; variants of other topics are counted."""
    known = {query.query_id: query for query in queries}
    variants = tuple(variants)
    if known and variants and not any(variant.query_id in known for variant in variants):
        raise InputError(
            f"no query variant is of a known topic: the first is of {variants[0].query_id!r}, topics are "
            f"{', '.join(list(known)[:3])} …; are these the variants of another collection?"
        )
    added: dict[str, list[str]] = {query_id: [] for query_id in known}
    for variant in variants:
        if variant.query_id in added:
            added[variant.query_id].append(variant.text)
        else:
            notes.add("query variants of topics that are not in the collection", f"topic {variant.query_id}")
    return tuple(query._replace(variants=(*query.variants, *added[query_id])) for query_id, query in known.items())


def _variants(path: str | Path, notes: Notes) -> Iterator[Variant]:
    """One variant a line."""
    for number, line in read_lines(path, notes):
        query_id, tab, text = line.partition("\t")
        if not tab:
            match = VARIANT_LINE.fullmatch(line)
            query_id, text = match.groups() if match else ("", "")
        if "\t" in text:
            columns = line.count("\t") + 1
            raise FormatError(f"{columns} columns where variants have two: is this a run or judgments?", path, number)
        if query_id.strip() and text.strip():
            if not (number == 1 and tab and query_id.strip().lower() in _HEADERS):
                yield Variant(query_id.strip(), text.strip())
        elif line.strip():
            message = f"neither `topic-user-n;query` nor a topic and a variant separated by a tab: {line[:40]!r}."
            raise FormatError(message, path, number)
        else:
            notes.add("blank lines skipped", f"{path}, line {number}")
