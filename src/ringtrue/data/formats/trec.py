"""TREC's own formats: topics, documents and judgments.

Topics come in many dialects (SGML without end tags, with "Number:" and "Narrative" before the text, XML of the web
and COVID tracks); all become `Query`. Runs have a reader of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ringtrue.data.formats import checks
from ringtrue.data.formats.markup import fields, fold, without_tags
from ringtrue.data.formats.streams import read_lines, read_texts
from ringtrue.data.notes import Notes
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Document, Qrel, Query
from ringtrue.errors import FormatError

_TOPIC = re.compile(r"<top(?:ic)?(\s[^<>]*)?>", re.IGNORECASE)
_TOPIC_END = re.compile(r"</top(?:ic)?\s*>", re.IGNORECASE)
_NUMBER = re.compile(r"\b(?:number|num|id|qid)\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)
_IDS = ("num", "number", "id", "qid", "identifier", "query_id")
_TITLES = ("title", "query", "summary")
_DESCRIPTIONS = ("desc", "description", "question")
_NARRATIVES = ("narr", "narrative")
_USED = {*_IDS, *_TITLES, *_DESCRIPTIONS, *_NARRATIVES}
_INLINE = {"b", "br", "em", "i", "p", "strong", "sub", "sup", "u"}
# a label goes with its colon; without one only where it has the line for itself, as "Narrative" in Core18
_LABELS = re.compile(r"^\s*(?:(?:topic|title)\s*:|(?:description|narrative)\s*(?::|\n|$))", re.IGNORECASE)
_NUMBER_LABEL = re.compile(r"^\s*number\s*:?\s*", re.IGNORECASE)

_DOC = re.compile(r"<[dD][oO][cC](?:\s[^<>]*)?>")
_DOC_END = re.compile(r"</[dD][oO][cC]\s*>")
_DOC_TITLES = ("title", "headline", "hl", "ti", "head", "ttl")
_DOC_TEXTS = ("text", "leadpara", "lp", "abstract")
_DOC_KNOWN = {"docno", "docid", "dochdr", "script", "style", *_DOC_TITLES, *_DOC_TEXTS}

_QREL_COLUMNS = {
    3: "a file of three columns needs a header line: query-id, corpus-id, score, separated by tabs",
    6: "six columns are a run; give the judgments",
}


def read_topics(path: str | Path, notes: Notes) -> tuple[Query, ...]:
    """All topics of an SGML or XML file; fields that `Query` has no place for are counted."""
    text = "".join(piece for _, piece in read_texts(path, notes))
    return checks.distinct_queries(_topics(text, path, notes), path, notes)


def read_documents(path: str | Path, notes: Notes) -> Iterator[tuple[int, Document]]:
    """The documents with the lines where they begin, streaming."""
    rest, line = "", 1
    for _, text in read_texts(path, notes):
        *pieces, rest = _DOC_END.split(rest + text)
        for piece in pieces:
            yield parse_document(piece, path, line, notes)
            line += piece.count("\n")
    if without_tags(rest).strip() or _DOC.search(rest):
        line += rest.count("\n", 0, len(rest) - len(rest.lstrip()))
        raise FormatError("what begins here has no </DOC>: the file is cut short, or is no TREC file.", path, line)


def read_qrels(path: str | Path, notes: Notes) -> Qrels:
    """Judgments in four columns: query_id, iteration (not used), doc_id, relevance."""
    return checks.agreeing_qrels(_qrels(path, notes), path, notes)


def write_qrels(path: str | Path, qrels: Qrels) -> None:
    """Write four columns, sorted by topic and document; topics without judgments cannot be written."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{query_id} 0 {doc_id} {relevance}\n" for query_id, doc_id, relevance in qrels)


def columns(line: str) -> list[str]:
    """The fields of a line between blanks and tabs; other white space of Unicode may stand in an id."""
    return line.split() if line.isascii() else re.findall(r"[^ \t]+", line)


def _topics(text: str, path: str | Path, notes: Notes) -> Iterator[tuple[int, Query]]:
    """One query for each <top> or <topic>, whether or not it is closed."""
    starts = list(_TOPIC.finditer(text))
    for place, start in enumerate(starts):
        line = text.count("\n", 0, start.start()) + 1
        end = starts[place + 1].start() if place + 1 < len(starts) else len(text)
        body = _TOPIC_END.split(text[start.end() : end])[0]
        yield line, _topic(start[1] or "", fields(body, inline=_INLINE), notes, path, line)
    if not starts:
        raise FormatError("no <top> or <topic> in this file.", path)


def _topic(attributes: str, found: Mapping[str, tuple[str, ...]], notes: Notes, path: str | Path, line: int) -> Query:
    """The query of one topic's attributes and fields."""
    number = _topic_number(attributes, found, path, line)
    outside = fold(" ".join(found.get("", ())))
    query = Query(number, _first(found, _TITLES) or outside, _first(found, _DESCRIPTIONS), _first(found, _NARRATIVES))
    unused = [name for name, pieces in found.items() if name and name not in _USED and "".join(pieces).strip()]
    if unused and not any(query.texts(narrative=True)):
        given = ", ".join(f"<{name}>" for name in found if name)
        raise FormatError(f"topic {number!r} has no <title> or <query>; its fields: {given}.", path, line)
    if outside and query.title != outside:
        notes.add("topics with text outside of any field, left out", f"{path}, line {line}")
    for name in unused:
        notes.add(f"topic fields <{name}> left out", f"{path}, line {line}")
    return query


def _topic_number(attributes: str, found: Mapping[str, tuple[str, ...]], path: str | Path, line: int) -> str:
    """The one number of a topic, from its tag or from a field."""
    named = _NUMBER.search(attributes)
    given: list[str] = [named[1]] if named else []
    given += [_NUMBER_LABEL.sub("", fold(piece)) for name in _IDS for piece in found.get(name, ())]
    numbers = list(dict.fromkeys(filter(None, given)))
    if len(numbers) > 1:
        raise FormatError(f"two numbers in one topic ({', '.join(numbers)}); is a <top> missing?", path, line)
    if not numbers:
        raise FormatError("a topic without a number (<num> or <topic number=…>).", path, line)
    return numbers[0]


def _first(found: Mapping[str, tuple[str, ...]], names: tuple[str, ...]) -> str:
    """The first of some fields that holds text, without its label."""
    texts: Iterator[str] = (fold(_LABELS.sub("", " ".join(found.get(name, ())))) for name in names)
    return next((text for text in texts if text), "")


def parse_document(piece: str, path: str | Path, line: int, notes: Notes) -> tuple[int, Document]:
    """The document in a piece that goes up to its </DOC>, and the line where it begins."""
    start = _DOC.search(piece)
    outside = without_tags(piece[: start.start()] if start else piece).strip()
    if start is None or outside:
        raise FormatError(f"text outside of <DOC>: {outside[:40]!r}; every document stands in one.", path, line)
    line += piece.count("\n", 0, start.start())
    found = fields(piece[start.end() :], known=_DOC_KNOWN)
    ids = [doc_id for part in found.get("docno", ()) if (doc_id := fold(part))]
    if len(ids) != 1:
        raise FormatError(f"a document needs one <DOCNO>, this one has {len(ids)} (is a </DOC> missing?).", path, line)
    title = fold(" ".join(next((found[name] for name in _DOC_TITLES if name in found), ())))
    texts = [part for name in _DOC_TEXTS for part in found.get(name, ())]
    around = found.get("", ())
    if texts and any(part.strip() for part in around):
        notes.add("documents with more than title and text, the rest left out", f"{path}, line {line}")
    return line, Document(ids[0], fold(" ".join(texts or around)), title)


def _qrels(path: str | Path, notes: Notes) -> Iterator[tuple[int, Qrel]]:
    """The judgments with their lines."""
    for number, line in read_lines(path, notes):
        cells = columns(line)
        if len(cells) == 4:
            yield number, Qrel(cells[0], cells[2], checks.grade(cells[3], path, number))
        elif cells:
            hint = _QREL_COLUMNS.get(len(cells), "check for blanks inside ids")
            width = checks.in_columns(len(cells))
            message = f"{width} where judgments have 4 (query_id, iteration, doc_id, relevance); {hint}."
            raise FormatError(message, path, number)
        else:
            notes.add("blank lines skipped", f"{path}, line {number}")
