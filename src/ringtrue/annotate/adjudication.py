"""Pairs that people labelled differently, to be decided; what all said alike stands, and so do pairs without labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ringtrue.annotate.leaks import Leaks
from ringtrue.annotate.tasks import Answers, Shown, Task
from ringtrue.errors import InputError
from ringtrue.leakage.exchange import write_labels
from ringtrue.leakage.labels import LabelledPair


@dataclass(frozen=True)
class Adjudication:
    """The labels of several people, a file each, for the same pairs; a pair that somebody left out is undecided."""

    people: Mapping[str, Leaks]

    name = "Where people disagree: is the training query a leak of the topic?"
    endings = Leaks.endings

    @classmethod
    def read(cls, paths: Sequence[str | Path], *, similarity: bool = False) -> Adjudication:
        """The files of two people or more, who go by the files' names."""
        people = {Path(path).stem: Leaks.read(path, similarity=similarity) for path in paths}
        if len(people) < len(paths):
            raise InputError(
                f"two of the {len(paths)} files have one name; people are told apart by their files' names."
            )
        found = cls(people)
        if not found.tasks:
            labelled = sum(map(found._is_labelled, found._pairs))
            said = f"agree on all {labelled:,} pairs that they labelled" if labelled else "labelled no pair"
            raise InputError(f"{', '.join(people)} {said}; there is nothing to decide.")
        return found

    @property
    def guide(self) -> Sequence[tuple[str, str]]:
        """The types, as the study defines them."""
        return next(iter(self.people.values())).guide

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """The pairs that are not labelled alike by all, with what each said."""
        return tuple(self._task(key) for key in self._pairs if self._is_open(key))

    def write(self, path: Path, answers: Mapping[str, Answers], annotator: str) -> None:
        """Write every pair: with the labels that all gave, which may be none, or those of this decision."""
        rows = [
            self._leaks(key).labelled(pair, answers.get(key, {})) if self._is_open(key) else pair
            for key, pair in self._pairs.items()
        ]
        write_labels(path, rows)

    @cached_property
    def _pairs(self) -> dict[str, LabelledPair]:
        """Every pair by its key, as the first who has it gave it."""
        found: dict[str, LabelledPair] = {}
        for leaks in self.people.values():
            for key, pair in leaks.by_key.items():
                found.setdefault(key, pair)
        return found

    def _said(self, key: str) -> dict[str, tuple[str, ...]]:
        """The labels that each person gave, none where the pair is not in the file."""
        return {name: leaks.by_key[key].labels if key in leaks.by_key else () for name, leaks in self.people.items()}

    def _is_open(self, key: str) -> bool:
        return len({frozenset(labels) for labels in self._said(key).values()}) > 1

    def _is_labelled(self, key: str) -> bool:
        return any(self._said(key).values())

    def _leaks(self, key: str) -> Leaks:
        """The first file that has the pair."""
        return next(leaks for leaks in self.people.values() if key in leaks.by_key)

    def _task(self, key: str) -> Task:
        task = self._leaks(key).task(self._pairs[key])
        said = tuple(Shown(name, ", ".join(labels) or "no label") for name, labels in self._said(key).items())
        return task._replace(background=(*said, *task.background), given={})
