"""Encoding on a CPU: each worker takes whole batches and computes them with one thread.

Splitting every product over the cores instead, as torch does by itself, makes them wait for each other a hundred times
a batch, and on a busy machine they wait for whoever is not running.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from ringtrue.retrieval.encoders import BLOCK, Floats
from ringtrue.retrieval.encoders.bert import BertNetwork
from ringtrue.retrieval.encoders.checkpoint import Checkpoint
from ringtrue.retrieval.encoders.tokens import Batch, Tokeniser, Tokens, batches

BUDGET = 2048
_LANES = 32  # the widest vector instructions take as many numbers at once


class CpuEngine:
    """A BERT-shaped encoder on the CPU.

    A text gets the same vector, to the bit, whatever is encoded beside it: batches are filled up, by repeating a
    sequence, until no operation ends in the middle of a vector instruction and falls back to another routine.
    """

    def __init__(self, checkpoint: Checkpoint, dtype: torch.dtype, budget: int | None = None) -> None:
        """Load the network."""
        self.dim, self.block = checkpoint.hidden, BLOCK
        self._network = BertNetwork(checkpoint, dtype, torch.device("cpu"))
        self._tokeniser = Tokeniser(checkpoint.folder / "tokenizer.json", checkpoint.max_length)
        self._budget = budget or BUDGET
        self._multiple = _LANES // math.gcd(checkpoint.heads, _LANES)

    def encode(self, texts: Sequence[str]) -> Floats:
        """The vectors of some texts, in their order."""
        tokens = self._tokeniser(texts)
        rows = np.empty((len(tokens.lengths), self.dim), np.float32)

        def work(batch: Batch) -> None:
            rows[batch.rows] = self._network(self._filled(tokens, batch))[: batch.rows.stop - batch.rows.start].numpy()

        # the longest first: what is left at the end is small and no worker waits long for another
        for _ in workers().map(work, reversed(list(batches(tokens.lengths, self._budget, self._multiple)))):
            pass
        return rows[tokens.places]

    def stream(self, blocks: Iterable[Sequence[str]]) -> Iterator[Floats]:
        """Block by block; all cores are at work already."""
        return map(self.encode, blocks)

    def _filled(self, tokens: Tokens, batch: Batch) -> Tensor:
        ids = torch.from_numpy(tokens.ids[batch.ids]).view(-1, batch.length)
        missing = -len(ids) % self._multiple
        return torch.cat((ids, ids[-1:].expand(missing, -1))) if missing else ids


@lru_cache(maxsize=1)
def workers() -> ThreadPoolExecutor:
    """As many threads as torch would use, each of which runs torch's operations alone."""
    count = torch.get_num_threads()
    ready = threading.Barrier(count + 1)

    def start(_: int) -> None:
        torch.get_num_threads()  # at its first call a thread takes the setting of all, whatever came before
        torch.set_num_threads(1)
        ready.wait()

    pool = ThreadPoolExecutor(count, thread_name_prefix="encode")
    started = pool.map(start, range(count))
    ready.wait()
    list(started)
    torch.set_num_threads(count)  # the workers keep their own setting; this is for threads that come after them
    return pool
