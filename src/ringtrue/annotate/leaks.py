"""Pairs of a topic and a training query: is the query a leak, and what kind of reformulation.

The labels are those of Fröbe et al. (SPIRE 2022): how the query relates to the topic's title, and how to the text of
the topic that came nearest. Where that text is the title the second question is not asked; it has the same answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ringtrue.annotate.tasks import Answers, Choice, Question, Shown, Task
from ringtrue.errors import InputError
from ringtrue.leakage.exchange import read_labels, write_labels
from ringtrue.leakage.labels import DIFFERENT, LabelledPair, Scope, relation

_TYPES = {
    "identical": "the same but for inflection and word order",
    "generalization": "fewer words: it asks for more than the topic",
    "specialization": "more words: it asks for a part of the topic",
    "reformulation": "other words for the same, such as synonyms",
}
_NONE = Choice(DIFFERENT, "Different topic", "d", "whoever asks this does not want what the topic wants")
_KEYS = {"title": "1234", "variant": "qwer"}
_LABEL_OF_DIFFERENT = "Different Topic"


def _choices(scope: Scope) -> tuple[Choice, ...]:
    return tuple(
        Choice(kind, kind.capitalize(), key, hint)
        for (kind, hint), key in zip(_TYPES.items(), _KEYS[scope], strict=True)
    )


_TITLE = Question("title", "How does the query relate to the title?", (*_choices("title"), _NONE))
_VARIANT = Question(
    "variant", "And to the nearest text of the topic?", _choices("variant"), needless=("title", DIFFERENT)
)


@dataclass(frozen=True)
class Leaks:
    """The pairs of a file, each once."""

    pairs: tuple[LabelledPair, ...]
    similarity: bool = False

    name = "Is the training query a leak of the topic?"
    endings = (".jsonl", ".json", ".csv")

    @classmethod
    def read(cls, path: str | Path, *, similarity: bool = False) -> Leaks:
        """The pairs of a file in any of the formats of labels; `similarity` shows what the search said."""
        pairs = read_labels(path)
        seen: set[tuple[str, str]] = set()
        for pair in pairs:
            if (pair.topic_id, pair.query_id) in seen:
                raise InputError(
                    f"{path}: topic {pair.topic_id!r} and query {pair.query_id!r} come twice; "
                    "give a file that has each pair once, such as one that `leakage sample` wrote."
                )
            seen.add((pair.topic_id, pair.query_id))
        return cls(pairs, similarity)

    @property
    def guide(self) -> Sequence[tuple[str, str]]:
        """The types, as the study defines them."""
        return (*((kind.capitalize(), hint) for kind, hint in _TYPES.items()), (_NONE.title, _NONE.hint))

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """One for each pair."""
        return tuple(self.task(pair) for pair in self.pairs)

    @cached_property
    def by_key(self) -> Mapping[str, LabelledPair]:
        """The pairs by the keys of their tasks."""
        return {_key(pair): pair for pair in self.pairs}

    def write(self, path: Path, answers: Mapping[str, Answers], annotator: str) -> None:
        """Write every pair with this person's labels; pairs without an answer have none."""
        write_labels(path, [self.labelled(pair, answers.get(key, {})) for key, pair in self.by_key.items()])

    def labelled(self, pair: LabelledPair, answers: Answers) -> LabelledPair:
        """The pair with the labels that answers stand for."""
        return pair._replace(labels=_labels(pair, answers))

    def task(self, pair: LabelledPair) -> Task:
        """What is asked of a pair."""
        nearest = () if _is_title(pair) else (Shown("Nearest text of the topic", pair.text, True),)
        near = (Shown("Similarity", f"{pair.similarity:.4f}"),) if self.similarity and pair.similarity else ()
        return Task(
            key=_key(pair),
            heading=f"Topic {pair.topic_id}",
            texts=(Shown("Training query", pair.query), Shown("Title", pair.title or pair.text, True), *nearest),
            background=(*_background(pair), *near),
            questions=(_TITLE,) if _is_title(pair) else (_TITLE, _VARIANT),
            given=_given(pair),
        )


def _key(pair: LabelledPair) -> str:
    return f"{pair.topic_id}\t{pair.query_id}"


def _is_title(pair: LabelledPair) -> bool:
    """Whether the nearest text is the title, or nothing is known of one of them."""
    words, title = (text.lower().split() for text in (pair.text, pair.title))
    return not words or not title or words == title


def _background(pair: LabelledPair) -> tuple[Shown, ...]:
    """What the row tells of the topic beside its title."""
    row = json.loads(pair.row) if pair.row else {}
    found = ((name, row.get(name)) for name in ("description", "narrative"))
    return tuple(Shown(name.capitalize(), text) for name, text in found if isinstance(text, str) and text.strip())


def _given(pair: LabelledPair) -> dict[str, str]:
    """What the file's labels answer."""
    scopes: tuple[Scope, ...] = ("title", "variant")
    found = ((scope, relation(pair.labels, scope)) for scope in scopes)
    return {scope: kind for scope, kind in found if kind is not None and (scope == "title" or kind != DIFFERENT)}


def _labels(pair: LabelledPair, answers: Answers) -> tuple[str, ...]:
    """The labels that answers stand for."""
    title = answers.get("title")
    if title is None:
        return ()
    if title == DIFFERENT:
        return (_LABEL_OF_DIFFERENT,)
    variant = answers.get("variant", title if _is_title(pair) else None)
    return (f"Title-{title.capitalize()}", *((f"Variant-{variant.capitalize()}",) if variant else ()))
