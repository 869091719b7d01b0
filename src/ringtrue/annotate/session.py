"""One file being labelled: its tasks, where answers are kept, how far each person came, and files of labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ringtrue.annotate.adjudication import Adjudication
from ringtrue.annotate.leaks import Leaks
from ringtrue.annotate.store import Store
from ringtrue.annotate.tasks import Work
from ringtrue.annotate.variations import Variations
from ringtrue.data.formats.streams import check_file
from ringtrue.data.formats.tables import first_cells
from ringtrue.errors import InputError

_NAME = re.compile(r"[\w][\w.-]{0,39}")


class Progress(NamedTuple):
    """How many of the tasks a person answered."""

    annotator: str
    done: int
    tasks: int


@dataclass(frozen=True)
class Session:
    """Tasks with the answers to them; `file` is what files of labels are named after."""

    file: Path
    work: Work
    store: Store

    @classmethod
    def open(cls, *paths: str | Path, store: str | Path | None = None, similarity: bool = False) -> Session:
        """Read the tasks of a file, or what is to be decided between people's labels, a file each.

        Answers are kept beside the first file where no other place is named.
        """
        place = Path(paths[0])
        work = _work(place, similarity) if len(paths) == 1 else Adjudication.read(paths, similarity=similarity)
        name = place.name if len(paths) == 1 else f"{place.stem}-adjudicated{place.suffix}"
        kept = Store(Path(store) if store else place.with_name(f"{name}.answers.sqlite"), work.name)
        kept.prepare()
        return cls(place.with_name(name), work, kept)

    def progress(self) -> tuple[Progress, ...]:
        """How far everybody came with these tasks."""
        return tuple(Progress(name, len(self.done(name)), len(self.work.tasks)) for name in self.store.annotators())

    def done(self, annotator: str) -> frozenset[int]:
        """The numbers, from 1, of the tasks that a person answered."""
        keys = self.store.answered(annotator).keys()
        return frozenset(number for number, task in enumerate(self.work.tasks, start=1) if task.key in keys)

    def next(self, annotator: str, after: int = 0) -> int | None:
        """The next task without an answer after a number, else the first one; None where all are answered."""
        done = self.done(annotator)
        left = [number for number in range(1, len(self.work.tasks) + 1) if number not in done]
        return next((number for number in left if number > after), left[0] if left else None)

    def write(self, annotator: str, path: Path) -> None:
        """Write a person's labels in the format that the path ends with."""
        if path.suffix not in self.work.endings:
            raise InputError(f"{path}: labels are written as {', '.join(self.work.endings)}; end the name with one.")
        answers = {key: answered.answers for key, answered in self.store.answered(annotator).items()}
        draft = path.with_name(f".{path.name}{path.suffix}")  # the name's ending chooses the format
        self.work.write(draft, answers, annotator)
        draft.replace(path)

    def write_all(self, folder: Path) -> Iterator[Path]:
        """Write everybody's labels, a file each."""
        stem = self.file.name.split(".")[0]
        for annotator in self.store.annotators():
            path = folder / f"{stem}-by-{annotator}{self._ending()}"
            self.write(annotator, path)
            yield path

    def _ending(self) -> str:
        return self.file.suffix if self.file.suffix in self.work.endings else self.work.endings[0]


def check_name(name: str) -> str:
    """A name that can be part of a file's name and of an address."""
    if not _NAME.fullmatch(name):
        raise InputError(f"the name {name!r} should be letters, digits, dots, hyphens and underscores, 40 at most.")
    return name


def _work(path: Path, similarity: bool) -> Work:
    """The tasks of a file, told by its content."""
    if "variation" in {name.strip('"') for name in first_cells(check_file(path), ",")}:
        return Variations.read(path)
    return Leaks.read(path, similarity=similarity)
