"""Searching the files of a corpus in several processes, each file by one of them.

A file is a job of `ringtrue.jobs`; what was found in it lies in its part, as without processes, so that an extraction
can go on with another number of them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ringtrue.errors import InputError
from ringtrue.jobs import Job, Task, cores, outcome, result_of, work_through, write_jobs
from ringtrue.subsampling.corpora import file_piece
from ringtrue.subsampling.parts import search_piece
from ringtrue.subsampling.pieces import FilePiece, Piece, Wanted

_ASKED = "asked.json"
_FOUND = "found.json"
_WORTH = 1 << 28  # bytes of compressed archive that a process searches in about a second


@dataclass(frozen=True)
class Crew:
    """Processes and the folder that they work through; `tell` gets the files that are done, records and documents."""

    folder: Path
    workers: int
    every: float
    tell: Callable[[int, int, int], None]

    def search(self, pieces: Sequence[Piece], parts: Sequence[Path], wanted: Wanted) -> None:
        """Search all files, largest first so that none is left over at the end; the first failure is raised."""
        files = [
            (piece.path.stat().st_size, part, piece)
            for piece, part in zip(pieces, parts, strict=True)
            if isinstance(piece, FilePiece)
        ]
        if len(files) < 2:
            return
        self.folder.mkdir(exist_ok=True)
        asked = {"doc_ids": sorted(wanted), "every": self.every}
        (self.folder / _ASKED).write_text(json.dumps(asked), encoding="utf-8")
        files.sort(key=lambda file: (-file[0], file[1]))
        write_jobs(self.folder, [self._job(piece, part) for _, part, piece in files])
        told: list[int] = []
        ended = work_through(self.folder, workers=self.workers, say=lambda message: self._tell(told))
        if ended.failed:
            raise InputError(ended.failed[0].error)
        if len(ended.done) < ended.total:
            raise InputError(f"another process is still searching for {self.folder}; try again when it has ended.")

    def _job(self, piece: FilePiece, part: Path) -> Job:
        arguments = {
            "path": str(piece.path.absolute()),
            "main_content": getattr(piece, "main_content", False),
            "part": str(part.absolute()),
        }
        return Job(part.stem, f"{__name__}:search_file", arguments)

    def _tell(self, told: list[int]) -> None:
        """Add up what the files that are done say, where there are more of them than were `told` of."""
        done = outcome(self.folder).done
        if len(done) in told:
            return
        told.append(len(done))
        counts = [_counts(result_of(self.folder, name) / _FOUND) for name in done]
        self.tell(len(counts), sum(read for read, _ in counts), sum(found for _, found in counts))


def worthwhile_workers(pieces: Sequence[Piece]) -> int:
    """One process a core, but none for less than a second of work: it takes one as long to start."""
    sizes = [piece.path.stat().st_size for piece in pieces if isinstance(piece, FilePiece)]
    return max(min(cores(), len(sizes), sum(sizes) // _WORTH), 1)


def search_file(task: Task) -> None:
    """Search one file, in a process of a crew."""
    given, counts, parent = task.arguments, [(0, 0)], os.getppid()
    piece = file_piece(Path(given["path"]), given["main_content"])
    wanted, every = _asked(task.base / _ASKED)

    def tell(read: int, found: int) -> None:
        counts.append((read, found))
        if os.getppid() != parent:
            raise InputError("the process that began this search has ended; begin it again.")

    search_piece(piece, wanted, Path(given["part"]), every=every, tell=tell)
    (task.out / _FOUND).write_text(json.dumps(counts[-1]), encoding="utf-8")


@cache
def _asked(path: Path) -> tuple[Wanted, float]:
    given = json.loads(path.read_text(encoding="utf-8"))
    return frozenset(given["doc_ids"]), given["every"]


@cache
def _counts(path: Path) -> tuple[int, int]:
    read, found = json.loads(path.read_text(encoding="utf-8"))
    return read, found
