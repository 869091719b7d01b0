"""Claims: who is at which job, kept by locks that end with their process."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


@contextmanager
def claim(folder: Path, name: str) -> Iterator[IO[str] | None]:
    """The claim of a job, None where another has it: a lock, which the system takes back when a process ends."""
    (folder / "claims").mkdir(exist_ok=True)
    with open(folder / "claims" / name, "a+", encoding="utf-8") as file:
        file.seek(0)
        yield file if try_lock(file) else None


def drop_claim(folder: Path, name: str) -> None:
    """Forget who was at a job, unless somebody is."""
    with claim(folder, name) as file:
        if file is not None:
            file.truncate(0)


def claimed_by(folder: Path, process: int) -> list[str]:
    """The jobs that a process of this machine has signed."""
    claims = sorted((folder / "claims").glob("*"))
    return [path.name for path in claims if path.read_text(encoding="utf-8") == signature(process)]


def signature(process: int) -> str:
    """How a process of this machine signs what it claims."""
    return f"{socket.gethostname()} {process}"


def try_lock(file: IO[str]) -> bool:
    """Lock a file for this process until it is closed or the process ends; False where another has it."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
