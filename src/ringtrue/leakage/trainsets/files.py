"""Training sets on disk.

    queries.jsonl     query_id, text
    documents.jsonl   doc_id, text
    sets/NAME.jsonl   one triple a line: query_id, positive, negative, origin, source, topic_id
    sets/NAME.json    the set's account, and NAME.txt the same for people
    trainsets.json    the account of all

The same sets give the same bytes. Sets that were in the folder before are replaced as a whole: theirs would name texts
that are gone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ringtrue import cache
from ringtrue.data.notes import Note
from ringtrue.errors import FormatError, InputError
from ringtrue.leakage.trainsets.account import describe, in_words
from ringtrue.leakage.trainsets.records import KINDS, Nearest, Settings, Trainset, Trainsets, Triple

FORMAT = 1
_ACCOUNT = "trainsets.json"
_SET_FILE = re.compile(rf"({'|'.join(KINDS)})-[0-9]+\.(jsonl|json|txt)")


def write_trainsets(folder: Path, made: Trainsets) -> None:
    """Write all sets, their texts and their accounts."""
    _clear(folder)
    (folder / "sets").mkdir(parents=True, exist_ok=True)
    _write_lines(folder / "queries.jsonl", ({"query_id": key, "text": text} for key, text in made.queries.items()))
    _write_lines(folder / "documents.jsonl", ({"doc_id": key, "text": text} for key, text in made.documents.items()))
    for one in made.sets:
        _write_lines(folder / "sets" / f"{one.name}.jsonl", (triple._asdict() for triple in one.triples))
        _write_json(folder / "sets" / f"{one.name}.json", describe(one, made))
        (folder / "sets" / f"{one.name}.txt").write_text(in_words(one, made), encoding="utf-8", newline="\n")
    _write_json(folder / _ACCOUNT, {**_account(made), "fingerprint": fingerprint(made)})


def _clear(folder: Path) -> None:
    """Take out the sets that are there; the account goes first and comes last, so that no half is taken for a whole."""
    (folder / _ACCOUNT).unlink(missing_ok=True)
    for path in (folder / "sets").glob("*"):
        if _SET_FILE.fullmatch(path.name):
            path.unlink()


def read_trainsets(folder: Path) -> Trainsets:
    """Read what was written; texts or triples that were changed since are an error."""
    path = folder / _ACCOUNT
    if not path.is_file():
        raise InputError(
            f"{folder} holds no training sets: it has no {_ACCOUNT}; make them: ringtrue leakage trainsets"
        )
    try:
        account = json.loads(path.read_text(encoding="utf-8"))
        if account["format"] != FORMAT:
            raise FormatError(f"format {account['format']} is not {FORMAT}.", path)
        made = _from_account(account, folder)
        expected = account["fingerprint"]
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(f"not what `leakage trainsets` writes ({error!r}).", path) from error
    if fingerprint(made) != expected:
        raise InputError(f"{folder}: texts or triples were changed after the sets were made; make them again.")
    return made


def fingerprint(made: Trainsets) -> str:
    """A key for triples and texts."""
    sets = [(one.kind, one.instances, one.triples) for one in made.sets]
    return cache.key(sorted(made.queries.items()), sorted(made.documents.items()), sets)


def _account(made: Trainsets) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "sets": [{"kind": one.kind, "instances": one.instances} for one in made.sets],
        "settings": asdict(made.settings),
        **{name: getattr(made, name) for name in _PLAIN},
        "nearest": [one._asdict() for one in made.nearest],
        "notes": [note._asdict() for note in made.notes],
        "inputs": dict(made.inputs),
    }


_PLAIN = ("rest", "encoder", "threshold", "checked", "near", "leak_rule", "leaks_known", "prefix")


def _from_account(account: Mapping[str, Any], folder: Path) -> Trainsets:
    settings: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in account["settings"].items()
    }
    sets = []
    for one in account["sets"]:
        lines = _read_lines(folder / "sets" / f"{one['kind']}-{one['instances']}.jsonl")
        sets.append(Trainset(one["kind"], one["instances"], tuple(Triple(**line) for line in lines)))
    return Trainsets(
        sets=tuple(sets),
        queries={line["query_id"]: line["text"] for line in _read_lines(folder / "queries.jsonl")},
        documents={line["doc_id"]: line["text"] for line in _read_lines(folder / "documents.jsonl")},
        settings=Settings(**settings),
        **{name: account[name] for name in _PLAIN},
        nearest=tuple(Nearest(**one) for one in account["nearest"]),
        notes=tuple(Note(**one) for one in account["notes"]),
        inputs=account["inputs"],
    )


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        raise InputError(f"{path} is missing; make the training sets again.")
    with open(path, encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
