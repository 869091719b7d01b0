"""Answers in one SQLite file, each on the disk before the next task is shown.

Answers belong to a person and to a task's key, so that they stay where the file of tasks grows or changes its order.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ringtrue.annotate.tasks import Answers
from ringtrue.errors import FormatError

_SCHEMA = """
create table if not exists answers (
    annotator text not null,
    task text not null,
    answers text not null,
    comment text not null default '',
    answered text not null default (datetime('now')),
    primary key (annotator, task)
);
create table if not exists work (name text primary key);
"""


@dataclass(frozen=True)
class Answered:
    """What one person answered to one task."""

    answers: Answers
    comment: str = ""


@dataclass(frozen=True)
class Store:
    """The answers of all people to the tasks of one file."""

    path: Path
    work: str

    def prepare(self) -> None:
        """Make the file, or make sure that it holds answers to the same questions."""
        with self._open() as data:
            data.executescript(_SCHEMA)
            names = {name for (name,) in data.execute("select name from work")}
            if names - {self.work}:
                raise FormatError(
                    f"it holds answers to “{min(names)}”, not to “{self.work}”; name another file by --store.",
                    self.path,
                )
            data.execute("insert or ignore into work values (?)", (self.work,))

    def save(self, annotator: str, task: str, answered: Answered) -> None:
        """Keep an answer, instead of an earlier one to the same task."""
        row = (annotator, task, json.dumps(dict(answered.answers)), answered.comment)
        with self._open() as data:
            data.execute("insert or replace into answers (annotator, task, answers, comment) values (?, ?, ?, ?)", row)

    def answered(self, annotator: str) -> dict[str, Answered]:
        """All that a person answered, by task."""
        with self._open() as data:
            rows = data.execute("select task, answers, comment from answers where annotator = ?", (annotator,))
            return {task: Answered(json.loads(answers), comment) for task, answers, comment in rows}

    def annotators(self) -> tuple[str, ...]:
        """Who answered anything, by name."""
        with self._open() as data:
            return tuple(name for (name,) in data.execute("select distinct annotator from answers order by 1"))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection of its own for each call, since pages are made in several threads."""
        try:
            data = sqlite3.connect(self.path, timeout=30)
            try:
                with data:
                    yield data
            finally:
                data.close()
        except sqlite3.DatabaseError as error:
            raise FormatError(
                f"cannot keep answers there ({error}); name another file by --store.", self.path
            ) from error
