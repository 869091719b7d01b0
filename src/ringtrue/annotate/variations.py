"""Variations of queries: do they still ask for the same, and are they changes of the kind that they claim to be.

The two questions are those of Penha et al. (ECIR 2022). Rows for which a generator made nothing are no tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ringtrue.annotate.tasks import Answers, Choice, Question, Shown, Task
from ringtrue.data.formats.tables import write_csv
from ringtrue.data.notes import Notes
from ringtrue.errors import InputError
from ringtrue.robustness.labels import by_paper_names
from ringtrue.robustness.variations import Variation, read_variations

_MEANING = {
    "misspelling": "characters are wrong, as typed in haste",
    "naturality": "it is more or less like natural language, as by leaving words out",
    "ordering": "the words come in another order",
    "paraphrasing": "other words for the same",
}
_VALID = Question(
    "valid",
    "Does the variation still ask for the same?",
    (Choice("true", "Yes", "1", "the same documents are wanted"), Choice("false", "No", "2", "others are wanted")),
)


def _follows(category: str) -> Question:
    kind = category or "this kind"
    return Question(
        "follow_category",
        f"Is it a change of its kind ({kind})?",
        (Choice("true", "Yes", "q", _MEANING.get(category, "")), Choice("false", "No", "w", "another kind, or none")),
    )


@dataclass(frozen=True)
class Variations:
    """The variations of a file, by the paper's names."""

    variations: tuple[Variation, ...]

    name = "Is the variation valid?"
    endings = (".csv",)

    @classmethod
    def read(cls, path: str | Path) -> Variations:
        """The rows of `variations.csv` or of one of the study's files."""
        rows = tuple(by_paper_names(row) for row in read_variations(path, Notes()))
        if not any(row.variation for row in rows):
            raise InputError(f"{path} has no variation: nothing to label.")
        return cls(tuple(dict.fromkeys(rows)))

    @property
    def guide(self) -> Sequence[tuple[str, str]]:
        """The kinds of change, as the study defines them."""
        return tuple((kind.capitalize(), meaning) for kind, meaning in _MEANING.items())

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """One for each variation that there is."""
        return tuple(_task(row, row.variation) for row in self.variations if row.variation)

    def write(self, path: Path, answers: Mapping[str, Answers], annotator: str) -> None:
        """Write every row with this person's labels; rows without an answer have none."""
        with open(path, "w", encoding="utf-8", newline="") as file:
            write_csv(file, self._rows(answers, annotator))

    def _rows(self, answers: Mapping[str, Answers], annotator: str) -> Iterator[tuple[object, ...]]:
        yield (*Variation._fields, "valid", "follow_category", "annotator")
        for row in self.variations:
            given = answers.get(_key(row), {})
            yield (*row, given.get("valid", ""), given.get("follow_category", ""), annotator if given else "")


def _task(row: Variation, text: str) -> Task:
    return Task(
        key=_key(row),
        heading=f"Query {row.query_id}, {row.method}",
        texts=(Shown("Original query", row.original), Shown("Variation", text, True)),
        background=(),
        questions=(_VALID, _follows(row.category)),
        given={},
    )


def _key(row: Variation) -> str:
    return "\t".join((row.query_id, row.method, "" if row.seed is None else str(row.seed), row.variation or ""))
