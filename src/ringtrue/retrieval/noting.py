"""What rankers leave out or tolerate, in the account of their collection."""

from __future__ import annotations

from collections.abc import Collection as Several
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ringtrue.data.collection import Collection


def note_once(collection: Collection, what: str, ids: Several[str], kind: str) -> None:
    """Count ids, at their first appearance only: rankings are often made again for other forms of the same queries."""
    if ids and all(note.what != what for note in collection.notes):
        collection.notes.add(what, f"{collection.name}, {kind} {min(ids)}", len(ids))
