"""What was found in each piece of a corpus, kept so that a killed search goes on where it was.

A part is a file of JSON Lines: documents as BEIR writes them, and after some of them a line that says how far the
search had come. Whatever follows the last such line is cut off before the search goes on, so that the file in the
end holds the same documents however often it was interrupted.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ringtrue.data.notes import Note
from ringtrue.data.records import Document
from ringtrue.errors import InputError
from ringtrue.jobs import try_lock
from ringtrue.subsampling.pieces import Piece, Place, Wanted

_MARK = b'{"searched":'
_LOOK_SECONDS = 0.1


def search_piece(piece: Piece, wanted: Wanted, path: Path, *, every: float, tell: Callable[[int, int], None]) -> Place:
    """Search a piece to its end and say where that is.

    A search that is known to have ended is not repeated. How far it came is written down `every` so many seconds;
    then, and at the end, `tell` gets the records read and the documents found so far.
    """
    with alone(path.with_suffix(".lock"), piece.name):
        return _search(piece, wanted, path, every, tell)


@contextmanager
def alone(path: Path, what: str) -> Iterator[None]:
    """Hold a file that only one process can hold, as long as it lives; an error where another has it."""
    with open(path, "a", encoding="utf-8") as file:
        if not try_lock(file):
            raise InputError(f"another process is at work on {what} ({path}); wait until it has ended, then try again.")
        yield


def wait_for(paths: Iterable[Path], seconds: float) -> None:
    """Wait until no process holds one of some files, but no longer than that."""
    end = time.monotonic() + seconds
    for path in paths:
        while _is_held(path) and time.monotonic() < end:
            time.sleep(_LOOK_SECONDS)


def _is_held(path: Path) -> bool:
    with open(path, "a", encoding="utf-8") as file:
        return not try_lock(file)


def _search(piece: Piece, wanted: Wanted, path: Path, every: float, tell: Callable[[int, int], None]) -> Place:
    place, ended, found = _resume(path, _mark_of(piece))
    if ended:
        return place
    with open(path, "ab") as part:
        written = time.monotonic()
        for step in piece.search(wanted, place):
            place = step.place
            found += len(step.found)
            part.writelines(map(_line, step.found))
            if time.monotonic() - written >= every:
                _mark(part, piece, place, ended=False)
                written = time.monotonic()
                tell(place.read, found)
        _mark(part, piece, place, ended=True)
        tell(place.read, found)
    return place


def read_so_far(path: Path) -> int:
    """How many records of a piece were read, as far as that was written down."""
    read = 0
    with open(path, "rb") as part:
        for line in part:
            if line.startswith(_MARK) and line.endswith(b"\n"):
                read = json.loads(line)["read"]
    return int(read)


def read_part_by_id(path: Path) -> Iterator[tuple[bytes, Document]]:
    """The documents of a part in the order of their ids, each with its line; only the ids are held."""
    places: list[tuple[str, int]] = []
    with open(path, "rb") as part:
        at = 0
        for line in part:
            if not line.startswith(_MARK):
                places.append((json.loads(line)["_id"], at))
            at += len(line)
        for _, at in sorted(places):
            part.seek(at)
            yield _read(part.readline())


def read_part(path: Path) -> Iterator[tuple[bytes, Document]]:
    """The documents of a part, each with its line."""
    with open(path, "rb") as part:
        for line in part:
            if not line.startswith(_MARK):
                yield _read(line)


def _read(line: bytes) -> tuple[bytes, Document]:
    row = json.loads(line)
    return line, Document(row["_id"], row["text"], row["title"])


def _mark_of(piece: Piece) -> list[str]:
    """What has to be the same for a search to go on: the piece, and the way in which it is searched."""
    return [type(piece).__name__, *piece.identity()]


def _resume(path: Path, mark: list[str]) -> tuple[Place, bool, int]:
    """Where the search of a piece goes on, whether it has ended, and the documents found; the rest is cut off.

    Nothing stays where the piece has changed since.
    """
    place, ended, found, size = Place(), False, 0, 0
    if not path.exists():
        return place, ended, found
    with open(path, "r+b") as part:
        documents = end = 0
        for line in part:
            end += len(line)
            if not line.startswith(_MARK):
                documents += 1
            elif line.endswith(b"\n") and (row := json.loads(line))["piece"] == mark:
                place = Place(row["searched"], row["read"], tuple(Note(*note) for note in row["notes"]))
                ended, found, size = row["ended"], documents, end
        part.truncate(size)
    return place, ended, found


def _mark(part: BinaryIO, piece: Piece, place: Place, *, ended: bool) -> None:
    """Write down how far the search came, on the disk itself: the machine may fail as well as the process."""
    row = {
        "searched": place.at,
        "read": place.read,
        "ended": ended,
        "notes": [list(note) for note in place.notes],
        "piece": _mark_of(piece),
    }
    part.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
    part.flush()
    os.fsync(part.fileno())


def _line(document: Document) -> bytes:
    row = {"_id": document.doc_id, "title": document.title, "text": document.text}
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"
