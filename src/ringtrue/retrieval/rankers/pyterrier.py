"""PyTerrier pipelines as rankers (Macdonald and Tonellotto, ICTIR 2020).

`pyterrier:module:attribute`, or `pyterrier:file.py:attribute`, names a transformer, or a function that is given the
collection and returns one, for instance over an index that it makes of `collection.documents()`; either is made once a
process. In Python `Transformed(transformer)` wraps one that is at hand. A first stage gets a frame with the columns
qid and query; behind another ranker a pipeline gets that ranker's documents as well, with docno, text, score and rank,
as PyTerrier's re-rankers expect. Left out: features, and other columns that a pipeline returns.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar

import pandas as pd
import pyterrier as pt

from ringtrue.data.runs import Run
from ringtrue.errors import InputError, RingtrueError
from ringtrue.retrieval.candidates import texts_of
from ringtrue.retrieval.pipeline import Composable

if TYPE_CHECKING:
    from ringtrue.data.collection import Collection
    from ringtrue.data.records import Query

_FIRST_RANK = 0  # PyTerrier's own
_RESULTS = ("qid", "docno", "score")


@dataclass(frozen=True, repr=False)
class PyTerrier(Composable):
    """The transformer that `pipeline` names, as `module:attribute` or `file.py:attribute`.

    `escape` makes blanks of all but letters and digits in queries: Terrier's query language stumbles over the rest, and
    the study did the same. `adds` is for pipelines that expand queries: behind another ranker they may return documents
    that were no candidates.
    """

    pipeline: str = ""
    escape: bool = True
    adds: bool = False

    family: ClassVar[str] = "pyterrier"

    def rank(self, collection: Collection, queries: Sequence[Query], candidates: Run | None = None) -> Run:
        """Let the pipeline rank."""
        transformer = _made(self.pipeline, collection)
        return Transformed(transformer, repr(self), self.escape, self.adds).rank(collection, queries, candidates)

    def __repr__(self) -> str:
        """As it is written, without the name of the first option."""
        named = super().__repr__()
        return named if "=" in self.pipeline else named.replace("pipeline=", "", 1)


@dataclass(frozen=True, repr=False, eq=False)
class Transformed(Composable):
    """A transformer that is at hand; `name` is for reports, where PyTerrier's own would not tell two apart."""

    transformer: pt.Transformer
    name: str = ""
    escape: bool = True
    adds: bool = False

    family: ClassVar[str] = "pyterrier"

    def rank(self, collection: Collection, queries: Sequence[Query], candidates: Run | None = None) -> Run:
        """Hand queries, and candidates where there are any, to the transformer, and take a run from it."""
        asked = {query.query_id: plain(query.title) if self.escape else query.title for query in queries}
        asked = {query_id: text for query_id, text in asked.items() if text.strip()}
        frame = _topics(asked) if candidates is None else _documents(collection, asked, candidates)
        if frame.empty:
            return Run(repr(self), {})
        results: dict[str, list[tuple[str, float]]] = {}
        for query_id, doc_id, score in self._rows(self.transformer.transform(frame)):
            results.setdefault(query_id, []).append((doc_id, score))
        self._check(results, asked, None if self.adds else candidates)
        return Run.from_results(repr(self), results)

    def _rows(self, found: pd.DataFrame) -> Iterator[tuple[str, str, float]]:
        """What the transformer returned, line by line."""
        missing = [name for name in _RESULTS if name not in found.columns]
        if missing:
            raise InputError(
                f"ranker {self!r} returns no column {missing[0]}, but {', '.join(map(str, found.columns))}; "
                f"the last step of a pipeline must give {', '.join(_RESULTS)}."
            )
        for query_id, doc_id, score in zip(found["qid"], found["docno"], found["score"], strict=True):
            if not math.isfinite(score):
                raise InputError(f"ranker {self!r}: document {doc_id!r} of query {query_id!r} has the score {score}.")
            yield str(query_id), str(doc_id), float(score)

    def _check(self, results: dict[str, list[tuple[str, float]]], asked: dict[str, str], allowed: Run | None) -> None:
        """Refuse queries that were not asked, documents that are there twice, and those that were no candidates."""
        for query_id, pairs in results.items():
            if query_id not in asked:
                raise InputError(f"ranker {self!r} returns documents for {query_id!r}, which was no query.")
            docs = [doc_id for doc_id, _ in pairs]
            most, times = Counter(docs).most_common(1)[0]
            if times > 1:
                raise InputError(f"ranker {self!r} returns document {most!r} of query {query_id!r} {times} times.")
            if allowed is not None:
                known = {line.doc_id for line in allowed.ranking(query_id)}
                strange = next((doc_id for doc_id in docs if doc_id not in known), None)
                if strange is not None:
                    raise InputError(
                        f"ranker {self!r} returns document {strange!r} for query {query_id!r}, which was no candidate; "
                        "if it expands queries, set adds=true."
                    )

    def __repr__(self) -> str:
        """The given name, or PyTerrier's."""
        return self.name or repr(self.transformer)


def plain(text: str) -> str:
    """Letters, digits and the marks on them; all else becomes a blank, and blanks become one."""
    kept = (character if unicodedata.category(character)[0] in "LMN" else " " for character in text)
    return " ".join("".join(kept).split())


def _topics(asked: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame(list(asked.items()), columns=["qid", "query"])


def _documents(collection: Collection, asked: dict[str, str], candidates: Run) -> pd.DataFrame:
    """One row for each candidate, with its text."""
    texts = texts_of(collection, (line.doc_id for query_id in asked for line in candidates.ranking(query_id)))
    rows = [
        (query_id, text, line.doc_id, texts[line.doc_id], line.score, rank)
        for query_id, text in asked.items()
        for rank, line in enumerate(candidates.ranking(query_id), start=_FIRST_RANK)
    ]
    return pd.DataFrame(rows, columns=["qid", "query", "docno", "text", "score", "rank"])


@lru_cache(maxsize=8)
def _made(pipeline: str, collection: Collection) -> pt.Transformer:
    """The transformer, made of the collection where it is a function of one."""
    found = _attribute(pipeline)
    if not isinstance(found, pt.Transformer) and callable(found):
        found = found(collection)
    if not isinstance(found, pt.Transformer):
        raise InputError(
            f"{pipeline!r} is {type(found).__name__}; it should be a PyTerrier transformer, or a function that is "
            "given the collection and returns one."
        )
    return found


def _attribute(pipeline: str) -> object:
    """What stands behind `module:attribute`."""
    place, colon, name = pipeline.rpartition(":")
    if not colon or not place or not name:
        raise InputError(
            f"ranker 'pyterrier' needs a pipeline, not {pipeline!r}: write pyterrier:MODULE:ATTRIBUTE or "
            "pyterrier:FILE.py:ATTRIBUTE."
        )
    module = _module(place)
    if not hasattr(module, name):
        raise InputError(f"{place} has no attribute {name!r}, which should be a PyTerrier transformer.")
    return getattr(module, name)


def _module(place: str) -> ModuleType:
    """Import a module by its name or file; whatever goes wrong in it is the user's to mend."""
    try:
        return _from_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    except RingtrueError:
        raise
    except Exception as error:
        hint = "" if place.endswith(".py") else f"; a file in this folder is named as {place}.py:ATTRIBUTE"
        raise InputError(f"cannot import {place}: {type(error).__name__}: {error}{hint}") from error


def _from_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None, "a file that ends in .py has a loader"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
