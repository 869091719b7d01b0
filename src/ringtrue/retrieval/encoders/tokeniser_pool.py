"""Tokenising in processes of their own, for a GPU that encodes faster than one process can tokenise.

The tokenizer itself runs on all cores, but what it returns is made and cleared away under Python's lock, which holds a
process to some 300,000 texts a second. The processes run this module and talk through their standard streams, so
that, unlike with multiprocessing, the user's script need not guard its main part. A block is cut into pieces for them:
what a process needs for a piece is soon more than the piece, and there are many processes.
"""

from __future__ import annotations

import atexit
import os
import queue
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import IO, TypeVar

import numpy as np
from numpy.typing import NDArray

from ringtrue.data.cells import Cells
from ringtrue.retrieval.encoders.marked import MarkedPieces
from ringtrue.retrieval.encoders.tokens import Tokeniser, Tokens, joined

N = TypeVar("N", bound=np.integer)

_SIZE = struct.Struct("<Q")
_PIECE = 16_384
_AHEAD = 2  # pieces a process, beside the block that is handed out


class TokeniserPool:
    """Tokenises blocks ahead of time, until it is closed."""

    def __init__(self, tokeniser: Tokeniser, processes: int) -> None:
        """Start the processes."""
        command = [sys.executable, "-m", __name__, str(tokeniser.path), str(tokeniser.max_length)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TOKENIZERS_PARALLELISM": "false"}
        pipe = subprocess.PIPE
        self._processes = [
            subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe) for _ in range(processes)
        ]
        self._free: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()
        for process in self._processes:
            self._free.put(process)
        self._threads = ThreadPoolExecutor(processes, thread_name_prefix="tokenise")

    def close(self) -> None:
        """End the processes; what they were still working on is dropped."""
        for process in self._processes:
            process.kill()
        self._threads.shutdown(cancel_futures=True)
        for process in self._processes:
            process.communicate()

    def map(self, blocks: Iterable[Sequence[str]]) -> Iterator[Tokens]:
        """The tokens of each block in turn; no more is read ahead than keeps the processes busy."""
        waiting: deque[list[Future[Tokens]]] = deque()
        behind_first = 0
        for block in blocks:
            pieces = [block[start : start + _PIECE] for start in range(0, max(len(block), 1), _PIECE)]
            behind_first += len(pieces) if waiting else 0
            waiting.append([self._threads.submit(self._ask, piece) for piece in pieces])
            while behind_first >= _AHEAD * len(self._processes):
                yield _joined(waiting.popleft())
                behind_first -= len(waiting[0])
        while waiting:
            yield _joined(waiting.popleft())

    def _ask(self, texts: Sequence[str]) -> Tokens:
        process = self._free.get()
        assert process.stdin is not None and process.stdout is not None
        try:
            _ask_for(process.stdin, texts if isinstance(texts, Cells) else Cells.of(texts))
            answer = process.stdout
            return Tokens(_receive(answer, np.int32), _receive(answer, np.int64), _receive(answer, np.int64))
        finally:
            self._free.put(process)


def _joined(pieces: Sequence[Future[Tokens]]) -> Tokens:
    return joined([piece.result() for piece in pieces])


@lru_cache(maxsize=2)
def shared_pool(tokeniser: Tokeniser, processes: int) -> TokeniserPool:
    """A pool for the rest of the process: starting one takes longer than encoding a hundred thousand texts."""
    pool = TokeniserPool(tokeniser, processes)
    atexit.register(pool.close)
    return pool


def _ask_for(pipe: IO[bytes], texts: Cells) -> None:
    for part in texts.stretch():
        _send(pipe, part)
    pipe.flush()


def _send(pipe: IO[bytes], values: memoryview | NDArray[np.integer]) -> None:
    pipe.write(_SIZE.pack(values.nbytes))
    pipe.write(np.ascontiguousarray(values).data if isinstance(values, np.ndarray) else values)


def _receive(pipe: IO[bytes], dtype: type[N]) -> NDArray[N]:
    """What was sent, read into the place where it stays."""
    head = pipe.read(_SIZE.size)
    if len(head) == _SIZE.size:
        values = np.empty(_SIZE.unpack(head)[0], np.uint8)
        if pipe.readinto(values.data) == len(values):  # type: ignore[attr-defined]
            return values.view(dtype)
    raise EOFError("the other side is gone")


def _serve(path: str, max_length: str) -> None:
    """Tokenise what comes in until nothing comes any more."""
    tokeniser = MarkedPieces(Tokeniser(Path(path), int(max_length)))
    given, answers = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            data = _receive(given, np.uint8).tobytes()
        except EOFError:
            return
        for values in tokeniser(Cells(data, _receive(given, np.int64), _receive(given, np.int64))):
            _send(answers, values)
        answers.flush()


if __name__ == "__main__":
    _serve(*sys.argv[1:])
