"""Queries to train on that are no leaks: those of a log, or where there is none, queries made of documents.

A query made of a document is its title or one of its sentences, and the document without it is relevant. After the
inverse cloze task (Lee et al., ACL 2019): with the query still in it, exact matches would be all there is to learn.
"""

from __future__ import annotations

import re
from collections.abc import Collection as Ids
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ringtrue.data.collection import Collection
from ringtrue.data.notes import Notes
from ringtrue.data.records import Document
from ringtrue.leakage.trainsets.corpora import Corpus, has_text, plain
from ringtrue.leakage.trainsets.records import Origin

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_WORDS = range(3, 41)


class Entry(NamedTuple):
    """A query with the keys of its relevant documents; `made` is the text of the one that it was made of."""

    query_id: str
    text: str
    source: str
    positives: tuple[str, ...]
    origin: Origin = "log"
    made: str = ""


def log_entries(train: Collection, corpus: Corpus, leaking: Ids[str], words: Ids[str], notes: Notes) -> Iterator[Entry]:
    """The queries of a log that are not known to leak, nor have the words of such, and have a document to train on."""
    for query in train.log():
        if query.query_id in leaking:
            continue
        if plain(query.text) in words:
            notes.add("training queries with the words of a leaking one left out", query.query_id)
            continue
        if not query.text.strip():
            notes.add("training queries without text skipped", query.query_id)
        elif not query.doc_ids:
            notes.add("training queries without a relevant document skipped", query.query_id)
        else:
            keys = tuple(corpus.key(doc_id) for doc_id in query.doc_ids)
            yield Entry(f"log/{query.query_id}", query.text, query.source or "log", keys)


def document_entries(documents: Iterable[Document], corpus: Corpus, least_text: int) -> Iterator[Entry]:
    """Queries made of documents: titles and sentences of 3 to 40 words that leave enough of the document."""
    for document in documents:
        title = " ".join(document.title.split())
        body = " ".join(document.body.split())
        sentences = _SENTENCE_END.split(" ".join(document.text.split()))
        texts = [("title", title)] if title else []
        texts += [("sentence", sentence) for sentence in dict.fromkeys(sentences) if not _same(sentence, title)]
        for number, (source, text) in enumerate(texts):
            rest = " ".join(body.replace(text, " ").split())
            if len(re.findall(r"\w+", text)) in _WORDS and has_text(rest, least_text):
                name = source if source == "title" else f"{source}-{number}"
                key = f"{corpus.key(document.doc_id)}#without-{name}"
                yield Entry(f"document/{document.doc_id}#{name}", text, source, (key,), "document", rest)


def _same(text: str, other: str) -> bool:
    return re.findall(r"\w+", text.casefold()) == re.findall(r"\w+", other.casefold())
