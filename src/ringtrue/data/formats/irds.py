"""Collections of ir_datasets, by id.

What cannot be downloaded here is an error that says so; ir_datasets itself would end in a traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ir_datasets

from ringtrue import cache
from ringtrue.data.cells import LogBlock, packed
from ringtrue.data.logs import as_log, with_positives
from ringtrue.data.notes import Notes
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Document, LogQuery, Positive, Qrel, Query
from ringtrue.errors import InputError, MissingModelError, RingtrueError, UnknownNameError
from ringtrue.provenance import version

if TYPE_CHECKING:
    from ringtrue.data.sources import Part

_DESCRIPTIONS = ("description", "desc", "need", "question")
_NARRATIVES = ("narrative", "guidelines", "context")
_NOT_TEXT = ("query_id", "doc_id", "url", "date", "type")
_TITLES = ("title", "headline", "page_title", "document_title")


@dataclass(frozen=True)
class IrdsSource:
    """The documents, queries and judgments of one ir_datasets id."""

    dataset_id: str

    @property
    def parts(self) -> frozenset[Part]:
        """Which parts the dataset has; needs no download."""
        dataset = _load(self.dataset_id)
        has: dict[Part, bool] = {
            "documents": dataset.has_docs(),
            "queries": dataset.has_queries(),
            "qrels": dataset.has_qrels(),
        }
        return frozenset(part for part, there in has.items() if there)

    def check(self) -> None:
        """Raise for an id that ir_datasets does not have."""
        _load(self.dataset_id)

    def documents(self, notes: Notes) -> Iterator[Document]:
        """Title and text of each document, from whatever fields the dataset has."""
        for record in self._iterate("docs_iter"):
            title = next((text for name in _TITLES if (text := _string(record, name))), "")
            text = _default_text(record)
            yield Document(record.doc_id, text.removeprefix(title).strip(), title)

    def queries(self, notes: Notes) -> tuple[Query, ...]:
        """All queries; where there is a keyword query beside a question, it is the title."""
        return tuple(_query(record) for record in self._iterate("queries_iter"))

    def qrels(self, notes: Notes) -> Qrels:
        """All judgments; of several for one pair (as of subtopics) the highest grade counts."""
        grades: dict[tuple[str, str], int] = {}
        for record in self._iterate("qrels_iter"):
            key = (record.query_id, record.doc_id)
            relevance = int(record.relevance)
            if grades.setdefault(key, relevance) != relevance:
                notes.add("judgments that differ for one pair, the highest kept", f"{self.dataset_id}, topic {key[0]}")
                grades[key] = max(grades[key], relevance)
        return Qrels.from_records(Qrel(*key, relevance) for key, relevance in grades.items())

    def log(self, notes: Notes) -> Iterator[LogQuery]:
        """The queries as a training log, with the documents judged relevant."""
        log = self._bare_log()
        return with_positives(log, self.qrels(notes)) if "qrels" in self.parts else log

    def log_blocks(self, notes: Notes, size: int) -> Iterator[LogBlock]:
        """The same queries in columns."""
        return packed(self._bare_log(), size)

    def positives(self, notes: Notes) -> Iterator[Positive]:
        """The documents judged relevant, in the judgments' order: some training sets have more than fit in memory."""
        if "qrels" in self.parts:
            for record in self._iterate("qrels_iter"):
                if record.relevance > 0:
                    yield Positive(record.query_id, record.doc_id)

    def fingerprint(self, part: Part) -> str:
        """The id and ir_datasets' version, and the content where that can change. Documents are shared by many ids."""
        name = _first_with_documents_of(self.dataset_id) if part == "documents" else self.dataset_id
        return cache.key("irds", name, part, version("ir_datasets"), *content_keys(name))

    def _bare_log(self) -> Iterator[LogQuery]:
        return as_log(map(_query, self._iterate("queries_iter")), self.dataset_id)

    def _iterate(self, method: str) -> Iterator[Any]:
        """The records of one part; whatever ir_datasets raises on the way becomes a clear error."""
        dataset = _load(self.dataset_id)
        try:
            yield from getattr(dataset, method)()
        except Exception as error:  # ir_datasets raises whatever its downloads, parsers and archives raise
            raise _unavailable(self.dataset_id, error) from error


def _load(dataset_id: str) -> Any:  # noqa: ANN401
    """The dataset of an id, or the nearest ids."""
    try:
        return ir_datasets.load(dataset_id)
    except KeyError as error:
        known = list(ir_datasets.registry)
        near = difflib.get_close_matches(dataset_id, known, n=3, cutoff=0.5)
        families = [name for name in known if "/" not in name]
        raise UnknownNameError("ir_datasets id", dataset_id, near or families) from error


def content_keys(dataset_id: str) -> tuple[str, ...]:
    """A key for what a registered sample holds; none for ir_datasets' own data, which does not change under an id."""
    dataset = _load(dataset_id)
    return (dataset.content_key(),) if hasattr(dataset, "content_key") else ()


def _first_with_documents_of(dataset_id: str) -> str:
    """The shortest beginning of an id that has the same documents: the corpus, of which the others are tasks."""
    handler, parts = _load(dataset_id).docs_handler(), dataset_id.split("/")
    beginnings = ["/".join(parts[:end]) for end in range(1, len(parts))]
    for name in (name for name in beginnings if name in ir_datasets.registry):
        found = _load(name)
        if found.has_docs() and found.docs_handler() is handler:
            return name
    return dataset_id


def _unavailable(dataset_id: str, error: Exception) -> RingtrueError:
    """What to do when a dataset cannot be had: fetch it by hand, connect, or look at what is broken."""
    page = f"https://ir-datasets.com/{dataset_id.partition('/')[0]}.html"
    if isinstance(error, FileNotFoundError):
        return MissingModelError(f"irds:{dataset_id} needs files that must be fetched by hand; see {page} ({error}).")
    if isinstance(error, OSError | RuntimeError):
        return MissingModelError(
            f"irds:{dataset_id} is not on this machine and cannot be downloaded ({_short(error)}); connect to the "
            "network, or copy ir_datasets' folder (IR_DATASETS_HOME) from a machine that has it."
        )
    return InputError(f"ir_datasets cannot read {dataset_id} ({_short(error)}); see {page}.")


def _short(error: Exception) -> str:
    """The kind of an error and the beginning of its text."""
    text = str(error)
    return f"{type(error).__name__}: {text[:120]}{'…' if len(text) > 120 else ''}"


def _query(record: Any) -> Query:  # noqa: ANN401
    """A query from whatever fields it has; `query` beside `text` is a keyword query beside a question."""
    keywords = _string(record, "query")
    title = keywords or _default_text(record)
    description = next((text for name in _DESCRIPTIONS if (text := _string(record, name))), "")
    narrative = next((text for name in _NARRATIVES if (text := _string(record, name))), "")
    if keywords and not description:
        description = _string(record, "text")
    return Query(record.query_id, title, description, narrative)


def _default_text(record: Any) -> str:  # noqa: ANN401
    """The dataset's own idea of a record's text, else all its fields that hold text."""
    if hasattr(record, "default_text"):
        return str(record.default_text()).strip()
    texts = (_string(record, name) for name in record._fields if name not in _NOT_TEXT)
    return " ".join(filter(None, texts))


def _string(record: Any, name: str) -> str:  # noqa: ANN401
    """A field's text, folded; empty where there is no such field."""
    value = getattr(record, name, "")
    return " ".join(value.split()) if isinstance(value, str) else ""
