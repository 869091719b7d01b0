"""An account of what a reader tolerated, so that nothing is dropped or mended in silence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ringtrue.audit import Column, Table

_COLUMNS = (Column("what", "What"), Column("times", "Times"), Column("first", "First seen in"))


class Note(NamedTuple):
    """One kind of thing that was tolerated, how often, and where it was seen first."""

    what: str
    times: int
    first: str

    def __str__(self) -> str:
        """What, how often, and where first."""
        return f"{self.what}: {self.times:,} (first: {self.first})"


class Notes:
    """Counts by kind, in order of first appearance; readers add, results show."""

    def __init__(self) -> None:
        """Start with nothing tolerated."""
        self._notes: dict[str, Note] = {}

    def add(self, what: str, where: str, times: int = 1) -> None:
        """Count `what` (a phrase such as "blank lines skipped"); `where` is kept from the first time."""
        note = self._notes.get(what, Note(what, 0, where))
        self._notes[what] = note._replace(times=note.times + times)

    def update(self, other: Notes) -> None:
        """Take over all that another account holds."""
        for note in other:
            self.add(note.what, note.first, note.times)

    def __iter__(self) -> Iterator[Note]:
        """The notes in order of first appearance."""
        return iter(self._notes.values())

    def __len__(self) -> int:
        """How many kinds of things were tolerated."""
        return len(self._notes)

    def __repr__(self) -> str:
        """Show the counts."""
        return f"Notes({', '.join(f'{note.times} {note.what}' for note in self)})"


def notes_tables(
    notes: Iterable[Note], title: str = "Tolerated in the input", name: str = "tolerated"
) -> tuple[Table, ...]:
    """The notes for reports; nothing where the input was clean."""
    rows = tuple(notes)
    return (Table(name, title, _COLUMNS, rows),) if rows else ()
