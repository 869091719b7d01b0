"""Tokenising in processes of their own, for a GPU that encodes faster than one process can tokenise.

The tokenizer itself runs on all cores, but what it returns is made and cleared away under Python's lock, which holds a
process to some 300,000 texts a second. The processes run this module and talk through their standard streams, so
that, unlike with multiprocessing, the user's script need not guard its main part.
"""

from __future__ import annotations

import atexit
import os
import pickle
import queue
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import IO

from ringtrue.data.cells import Cells
from ringtrue.retrieval.encoders.marked import MarkedPieces
from ringtrue.retrieval.encoders.tokens import Tokeniser, Tokens

_SIZE = struct.Struct("<Q")


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
        """The tokens of each block in turn; one block more than there are processes is read ahead."""
        waiting: deque[Future[Tokens]] = deque()
        for block in blocks:
            waiting.append(self._threads.submit(self._ask, block))
            if len(waiting) > len(self._processes):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _ask(self, texts: Sequence[str]) -> Tokens:
        process = self._free.get()
        assert process.stdin is not None and process.stdout is not None
        try:
            _send(process.stdin, texts if isinstance(texts, Cells) else list(texts))
            tokens = _receive(process.stdout)
        finally:
            self._free.put(process)
        assert isinstance(tokens, Tokens)
        return tokens


@lru_cache(maxsize=2)
def shared_pool(tokeniser: Tokeniser, processes: int) -> TokeniserPool:
    """A pool for the rest of the process: starting one takes longer than encoding a hundred thousand texts."""
    pool = TokeniserPool(tokeniser, processes)
    atexit.register(pool.close)
    return pool


def _send(pipe: IO[bytes], value: object) -> None:
    data = pickle.dumps(value, protocol=5)
    pipe.write(_SIZE.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> object:
    head = pipe.read(_SIZE.size)
    if len(head) < _SIZE.size:
        raise EOFError("the other side is gone")
    return pickle.loads(pipe.read(_SIZE.unpack(head)[0]))


def _serve(path: str, max_length: str) -> None:
    """Tokenise what comes in until nothing comes any more."""
    tokeniser = MarkedPieces(Tokeniser(Path(path), int(max_length)))
    while True:
        try:
            texts = _receive(sys.stdin.buffer)
        except EOFError:
            return
        assert isinstance(texts, Cells | list)
        _send(sys.stdout.buffer, tokeniser(texts))


if __name__ == "__main__":
    _serve(*sys.argv[1:])
