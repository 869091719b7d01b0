"""Extracted samples by name, for ir_datasets and whatever is built on it.

Samples lie where they were extracted to; the cache folder holds one small file for each name that says where. A sample
that is extracted anew, or moved and registered again, is found under its name at once.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import ir_datasets
from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries, TrecQrel
from ir_datasets.indices import PickleLz4FullStore

from ringtrue import cache
from ringtrue.data.formats.detect import read_queries
from ringtrue.errors import InputError, UnknownNameError

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)*", re.ASCII)
_ENDING = ".json"
_FILES = ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")


class UnknownSampleError(UnknownNameError, KeyError):
    """No sample of that name; a KeyError as well, which is what ir_datasets expects of unknown names."""

    __str__ = Exception.__str__


class SampleDoc(NamedTuple):
    """A document as ir_datasets has it."""

    doc_id: str
    title: str
    text: str

    def default_text(self) -> str:
        """Title and text."""
        return f"{self.title} {self.text}" if self.title else self.text


class SampleQuery(NamedTuple):
    """A topic as ir_datasets has it; `text` is its title."""

    query_id: str
    text: str
    description: str
    narrative: str

    def default_text(self) -> str:
        """The title."""
        return self.text


def check_name(name: str) -> None:
    """Raise for a name that a sample cannot have."""
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r} cannot name a sample; use letters, digits, '.', '-', '_', and '/' between them.")


def register(name: str, folder: str | Path) -> str:
    """Give the sample in a folder a name; the id for ir_datasets is returned."""
    place = Path(folder).resolve()
    check_name(name)
    if not (place / "corpus.jsonl").is_file():
        raise InputError(f"{place} holds no extracted sample (no corpus.jsonl); extract one first.")
    entry = _entry(name)
    entry.parent.mkdir(parents=True, exist_ok=True)
    draft = entry.with_name(f".{entry.name}.{os.getpid()}")
    draft.write_text(json.dumps({"folder": str(place)}, ensure_ascii=False) + "\n", encoding="utf-8")
    draft.replace(entry)
    return f"ringtrue/{name}"


def unregister(name: str) -> None:
    """Forget a name; the sample itself stays."""
    if not _entry(name).is_file():
        raise UnknownSampleError("sample", name, samples())
    _entry(name).unlink()


def samples() -> dict[str, Path]:
    """All names, ascending, and where their samples should lie."""
    home = cache.folder() / "samples"
    entries = sorted(path for path in home.rglob(f"*{_ENDING}") if not path.name.startswith("."))
    names = [path.relative_to(home).as_posix().removesuffix(_ENDING) for path in entries]
    return {name: _folder(name) for name in sorted(names)}


def sample_folder(name: str) -> Path:
    """Where a sample lies; a name that nobody gave is an error, and so is a folder that is gone."""
    if not _NAME.fullmatch(name) or not _entry(name).is_file():
        raise UnknownSampleError("sample", name, samples())
    folder = _folder(name)
    if not (folder / "corpus.jsonl").is_file():
        raise InputError(
            f"the sample ringtrue/{name} was in {folder} and is not there any more; extract it again, or register the "
            "folder that it was moved to."
        )
    return folder


def dataset(name: str) -> ir_datasets.Dataset:
    """The sample as a dataset of ir_datasets; its folder is looked up anew at every use."""
    folder = sample_folder(name)
    parts: list[Any] = [_Docs(name)]
    if (folder / "queries.jsonl").is_file():
        parts.append(_Queries(name))
    if (folder / "qrels").is_dir():
        parts.append(_Qrels(name))
    return ir_datasets.Dataset(*parts)


class _Docs(BaseDocs):
    def __init__(self, name: str) -> None:
        self._name = name

    def _read(self) -> Iterator[SampleDoc]:
        with open(sample_folder(self._name) / "corpus.jsonl", encoding="utf-8", newline="\n") as file:
            for line in file:
                row = json.loads(line)
                yield SampleDoc(row["_id"], row["title"], row["text"])

    docs_iter = ir_datasets.util.use_docstore(_read)  # gives slices as well

    def docs_cls(self) -> type[SampleDoc]:
        return SampleDoc

    def docs_store(self, field: str = "doc_id", options: Any = ir_datasets.indices.DEFAULT_DOCSTORE_OPTIONS) -> Any:  # noqa: ANN401
        """A store in the cache under a key for the documents, so that it is never that of an earlier extraction."""
        file = sample_folder(self._name) / "corpus.jsonl"
        status = file.stat()
        key = cache.key(str(file), status.st_size, status.st_mtime_ns)
        return PickleLz4FullStore(
            path=str(cache.folder() / "docstores" / key),
            init_iter_fn=self._read,
            data_cls=SampleDoc,
            lookup_field=field,
            index_fields=["doc_id"],
            options=options,
        )

    def content_key(self) -> str:
        """A key for all that the sample holds now: under one name there may be another tomorrow."""
        folder = sample_folder(self._name)
        files = [path for name in _FILES if (path := folder / name).is_file()]
        return _content_key(tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in files))

    def docs_count(self) -> int:
        with open(sample_folder(self._name) / "corpus.jsonl", "rb") as file:
            return sum(1 for _ in file)

    def docs_namespace(self) -> str:
        return f"ringtrue/{self._name}"


class _Queries(BaseQueries):
    def __init__(self, name: str) -> None:
        self._name = name

    def queries_iter(self) -> Iterator[SampleQuery]:
        for query in read_queries(sample_folder(self._name) / "queries.jsonl"):
            yield SampleQuery(query.query_id, query.title, query.description, query.narrative)

    def queries_cls(self) -> type[SampleQuery]:
        return SampleQuery

    def queries_namespace(self) -> str:
        return f"ringtrue/{self._name}"


class _Qrels(BaseQrels):
    def __init__(self, name: str) -> None:
        self._name = name

    def qrels_iter(self) -> Iterator[TrecQrel]:
        with open(self.qrels_path(), encoding="utf-8", newline="\n") as file:
            next(file)
            for line in file:
                query_id, doc_id, relevance = line.rstrip("\n").split("\t")
                yield TrecQrel(query_id, doc_id, int(relevance), "0")

    def qrels_path(self) -> str:
        return str(sample_folder(self._name) / "qrels" / "test.tsv")

    def qrels_cls(self) -> type[TrecQrel]:
        return TrecQrel  # type: ignore[no-any-return]

    def qrels_defs(self) -> dict[int, str]:
        return {}


@lru_cache(maxsize=16)
def _content_key(files: tuple[tuple[Path, int, int], ...]) -> str:
    return cache.key(*(path.name for path, _, _ in files), cache.content_key(path for path, _, _ in files))


def _entry(name: str) -> Path:
    return cache.folder() / "samples" / f"{name}{_ENDING}"


def _folder(name: str) -> Path:
    return Path(json.loads(_entry(name).read_text(encoding="utf-8"))["folder"])
