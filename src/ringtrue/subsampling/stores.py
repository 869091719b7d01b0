"""Random access to the documents of ir_datasets corpora."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import ir_datasets

from ringtrue.data.formats.irds import IrdsSource
from ringtrue.data.notes import Notes
from ringtrue.data.records import Document
from ringtrue.errors import InputError

_SMALL = 0.1  # the share of a corpus up to which looking documents up is taken to be faster than reading it


def look_up(dataset_id: str, doc_ids: tuple[str, ...]) -> Iterator[Document]:
    """Those of the documents that the corpus has, in no order."""
    return _Chosen(dataset_id, doc_ids).documents(Notes())


def is_worthwhile(dataset_id: str, asked: int) -> bool:
    """Whether some documents are few beside the corpus, and the store does not have to be built by reading it all."""
    dataset = ir_datasets.load(dataset_id)
    count = dataset.docs_count() if hasattr(dataset, "docs_count") else None
    if not count or asked > _SMALL * count or not hasattr(dataset, "docs_store"):
        return False
    store = dataset.docs_store()
    return bool(store.built()) if hasattr(store, "built") else True


@dataclass(frozen=True)
class _Chosen(IrdsSource):
    """A dataset of which only some documents are read, through its store."""

    doc_ids: tuple[str, ...]

    def _iterate(self, method: str) -> Iterator[Any]:
        try:
            yield from ir_datasets.load(self.dataset_id).docs_store().get_many_iter(self.doc_ids)
        except Exception as error:  # a store raises whatever its files and archives raise
            raise InputError(f"the document store of irds:{self.dataset_id} cannot be read ({error}).") from error
