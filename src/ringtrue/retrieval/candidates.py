"""The texts of the documents that a first stage found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ringtrue.errors import InputError

if TYPE_CHECKING:
    from ringtrue.data.collection import Collection


def texts_of(collection: Collection, doc_ids: Iterable[str]) -> dict[str, str]:
    """The texts of some documents, ascending by id, in one pass; one that the collection lacks is an error."""
    wanted = set(doc_ids)
    if not wanted:
        return {}
    found = {document.doc_id: document.body for document in collection.documents() if document.doc_id in wanted}
    missing = sorted(wanted - found.keys())
    if missing:
        raise InputError(f"{len(missing)} candidates are not in the collection, the first is {missing[0]!r}.")
    return dict(sorted(found.items()))
