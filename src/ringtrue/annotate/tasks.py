"""What people are asked: tasks, their questions, and what was answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

Answers = Mapping[str, str]
"""The value that was chosen for each question, by the question's name."""


class Choice(NamedTuple):
    """One answer; `key` is what to press for it."""

    value: str
    title: str
    key: str
    hint: str = ""


class Question(NamedTuple):
    """A question with its answers; `needless` names answers to others, as (name, value), with which it falls away."""

    name: str
    title: str
    choices: tuple[Choice, ...]
    needless: tuple[str, str] | None = None


class Shown(NamedTuple):
    """A text that people need to see, with its name; `marked` texts show the words that the first of them has too."""

    name: str
    text: str
    marked: bool = False


class Task(NamedTuple):
    """One thing to look at; `key` tells it from all others, whatever the order of the file."""

    key: str
    heading: str
    texts: tuple[Shown, ...]
    background: tuple[Shown, ...]
    questions: tuple[Question, ...]
    given: Answers


class Work(Protocol):
    """All tasks of a file, and how what was answered is written."""

    @property
    def name(self) -> str:
        """What is labelled, as a title."""

    @property
    def guide(self) -> Sequence[tuple[str, str]]:
        """What the answers mean: terms and their meaning."""

    @property
    def tasks(self) -> Sequence[Task]:
        """In the order of the file."""

    @property
    def endings(self) -> Sequence[str]:
        """The kinds of files that labels can be written to, the usual one first."""

    def write(self, path: Path, answers: Mapping[str, Answers], annotator: str) -> None:
        """Write the labels of one person in the format that the path ends with; `answers` are by key of the task."""


def missing(task: Task, answers: Answers) -> str | None:
    """The title of the first question that has no valid answer and needs one."""
    for question in task.questions:
        if is_needless(question, answers):
            continue
        if answers.get(question.name) not in [choice.value for choice in question.choices]:
            return question.title
    return None


def is_needless(question: Question, answers: Answers) -> bool:
    """Whether what was answered elsewhere settles a question."""
    return question.needless is not None and answers.get(question.needless[0]) == question.needless[1]


def sensible(task: Task, answers: Answers) -> dict[str, str]:
    """The answers to this task's questions, without those that are needless."""
    return {
        question.name: answers[question.name]
        for question in task.questions
        if question.name in answers and not is_needless(question, answers)
    }
