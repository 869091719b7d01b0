"""The records that everything else is made of; field names are ir_measures' own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Document(NamedTuple):
    """A document or passage."""

    doc_id: str
    text: str
    title: str = ""

    @property
    def body(self) -> str:
        """Title and text as one string: what is indexed."""
        return f"{self.title} {self.text}" if self.title else self.text


class Query(NamedTuple):
    """A topic: what people type (`title`), what they mean, and other ways to type it."""

    query_id: str
    title: str
    description: str = ""
    narrative: str = ""
    variants: tuple[str, ...] = ()

    def texts(self, narrative: bool = False) -> Iterator[tuple[str, str]]:
        """Each non-empty text with the name of its field."""
        if self.title:
            yield "title", self.title
        if self.description:
            yield "description", self.description
        if narrative and self.narrative:
            yield "narrative", self.narrative
        for variant in self.variants:
            if variant:
                yield "variant", variant


class Qrel(NamedTuple):
    """A judgment; relevant where `relevance` is above 0."""

    query_id: str
    doc_id: str
    relevance: int


class ScoredDoc(NamedTuple):
    """One line of a run."""

    query_id: str
    doc_id: str
    score: float


class LogQuery(NamedTuple):
    """One line of a training log: a query, where it comes from, and the documents that it was trained on."""

    query_id: str
    text: str
    source: str = ""
    doc_ids: tuple[str, ...] = ()


class Positive(NamedTuple):
    """A training query and a document that it was trained on as relevant; `source` is None where none is told."""

    query_id: str
    doc_id: str
    source: str | None = None
