"""Encoding on a GPU: processes tokenise ahead, a block is copied while the one before is computed.

A thread queues the computing on a stream of its own, blocks ahead of the one that is handed out: the GPU has work
while vectors, which stay there, are compared and what is found is merged. A thread, since a driver takes some thousand
calls and then makes the caller wait, and a block needs more. Unlike those of `CpuEngine`, their last bits may
depend on what is encoded beside them. Nothing but streams is special to a GPU, so that the tests run it on a CPU.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ringtrue.data.ahead import Ahead
from ringtrue.retrieval.encoders import Floats
from ringtrue.retrieval.encoders.bert import BertNetwork
from ringtrue.retrieval.encoders.checkpoint import Checkpoint
from ringtrue.retrieval.encoders.plans import without_plans
from ringtrue.retrieval.encoders.tokeniser_pool import shared_pool
from ringtrue.retrieval.encoders.tokens import Tokeniser, Tokens, batches

T = TypeVar("T")

BUDGET = 262_144
_BLOCK = 262_144
_BYTES_A_TOKEN = 1 << 16  # of GPU memory, of which a batch takes about an eighth
_AHEAD = 2
_QUEUED = 1  # blocks that are computed or queued beside the one that is being queued
_PROCESSES = 8  # tokenise more than twice as fast as an H200 encodes, and take 100 MB each
_SPARE_CORES = 3  # for reading the log, for starting the GPU's work and for merging what it finds


class _Uploaded(NamedTuple):
    """A block on its way to the GPU; `there` says when it has arrived, unless it is there already."""

    ids: Tensor
    places: Tensor
    lengths: NDArray[np.int64]
    there: torch.cuda.Event | None


class _Computed(NamedTuple):
    """The vectors of a block; `there` says when they are computed, unless they are already."""

    vectors: Tensor
    there: torch.cuda.Event | None


class CudaEngine:
    """A BERT-shaped encoder on a GPU."""

    def __init__(
        self, checkpoint: Checkpoint, dtype: torch.dtype, budget: int | None = None, device: str = "cuda"
    ) -> None:
        """Load the network."""
        self.dim = checkpoint.hidden
        self._device = torch.device(device)
        self._network = BertNetwork(checkpoint, dtype, self._device)
        self._tokeniser = Tokeniser(checkpoint.folder / "tokenizer.json", checkpoint.max_length)
        self.block = _BLOCK
        self._budget = budget or _usual_budget(self._device)
        on_gpu = self._device.type == "cuda"
        self._copies = torch.cuda.Stream(self._device) if on_gpu else None
        self._computes = torch.cuda.Stream(self._device) if on_gpu else None

    def encode(self, texts: Sequence[str]) -> Floats:
        """The vectors of some texts, in their order, brought back to the host."""
        if len(texts) <= _BLOCK:
            return _on_host(self._handed_out(self._compute(self._upload(self._tokeniser(texts)))))
        blocks = (texts[start : start + _BLOCK] for start in range(0, len(texts), _BLOCK))
        return np.concatenate([_on_host(vectors) for vectors in self.stream(blocks)])

    def stream(self, blocks: Iterable[Sequence[str]]) -> Iterator[Tensor]:
        """Block by block; while one is used, the next ones are computed, one is copied and others are tokenised."""
        processes = max(1, min(_PROCESSES, (os.cpu_count() or 1) - _SPARE_CORES))
        with Ahead(shared_pool(self._tokeniser, processes).map(blocks), _AHEAD) as tokenised:
            uploaded = _one_early(map(self._upload, tokenised))
            with Ahead(map(self._compute, uploaded), _QUEUED) as computed:
                yield from map(self._handed_out, computed)

    def _upload(self, tokens: Tokens) -> _Uploaded:
        """Start copying a block from pinned memory, beside whatever the GPU computes."""
        ids, places = torch.from_numpy(tokens.ids), torch.from_numpy(tokens.places)
        if self._copies is None:
            return _Uploaded(ids, places, tokens.lengths, None)
        with torch.cuda.stream(self._copies):
            ids, places = (part.pin_memory().to(self._device, non_blocking=True) for part in (ids, places))
            there = torch.cuda.Event()
            there.record(self._copies)
        return _Uploaded(ids, places, tokens.lengths, there)

    def _compute(self, block: _Uploaded) -> _Computed:
        """Queue the work on a block."""
        if self._computes is None:
            return _Computed(self._vectors(block), None)
        assert block.there is not None
        with torch.cuda.stream(self._computes):
            self._computes.wait_event(block.there)
            for part in (block.ids, block.places):
                part.record_stream(self._computes)
            vectors = self._vectors(block)
            there = torch.cuda.Event()
            there.record(self._computes)
        return _Computed(vectors, there)

    def _vectors(self, block: _Uploaded) -> Tensor:
        with torch.inference_mode(), without_plans(self._device):
            rows = torch.empty((len(block.lengths), self.dim), device=self._device)
            for batch in batches(block.lengths, self._budget):
                rows[batch.rows] = self._network(block.ids[batch.ids].view(-1, batch.length))
            self._mend(block, rows)
            return rows[block.places]

    def _mend(self, block: _Uploaded, rows: Tensor) -> None:
        """Encode again what is not a number, or was spoilt by such a sequence beside it."""
        lost = ~rows.isfinite().all(1)
        if not bool(lost.any()):
            return
        for batch in batches(block.lengths, self._budget):
            places = lost[batch.rows].nonzero().squeeze(1)
            if len(places):
                ids = block.ids[batch.ids].view(-1, batch.length)[places]
                rows[batch.rows][places] = self._network(ids, apart=True)

    def _handed_out(self, block: _Computed) -> Tensor:
        """The vectors for the caller's stream, whose work on them begins when they are there."""
        if block.there is not None:
            using = torch.cuda.current_stream(self._device)
            using.wait_event(block.there)
            block.vectors.record_stream(using)
        return block.vectors


def _one_early(items: Iterator[T]) -> Iterator[T]:
    """The same items, each made before the one before it is handed out."""
    before = next(items, None)
    while before is not None:
        after = next(items, None)
        yield before
        before = after


def _usual_budget(device: torch.device) -> int:
    """As many tokens as keep the GPU busy, if its memory is large enough for them."""
    if device.type != "cuda":
        return BUDGET
    return min(BUDGET, int(torch.cuda.get_device_properties(device).total_memory) // _BYTES_A_TOKEN)


def _on_host(vectors: Tensor) -> Floats:
    return np.asarray(vectors.cpu().numpy())
