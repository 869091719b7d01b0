"""Scoring many pairs: each distinct one once, in batches of similar length under a token budget.

Pairs are taken in blocks by document, so that tokenising one block overlaps with computing the one before; the first
are small, so that computing begins soon. On a GPU threads of their own make the batches, in pinned memory; nothing
waits for the GPU until all is queued, and scores are copied back once. On a CPU each worker makes and computes whole
batches with one thread.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtrue.data.ahead import Ahead
from ringtrue.errors import InputError
from ringtrue.retrieval.encoders.cpu import workers
from ringtrue.retrieval.encoders.plans import without_plans
from ringtrue.retrieval.neural.network import Network, PairRows, Prepared

# isort: split
import torch
from torch import Tensor

HOST = "host_"
"""Tensors of a batch whose name begins with it stay on the CPU: the network reads their values before it computes."""

_FIRST_BLOCK = 1_024  # computing has to wait for it
_BLOCK = 16_384
_COLLATORS = 4  # one thread makes batches more slowly than a fast GPU scores them with a small network
_AHEAD = 2 * _COLLATORS
_CPU_BUDGET = 4_096
_GPU_BUDGET = 262_144
_BYTES_A_TOKEN = 1 << 19  # of GPU memory: a wide model with plain attention over 512 tokens needs about as much
_NO_MEMORY = ("out of memory", "can't allocate memory", "not enough memory")

Ints = NDArray[np.int64]


class NotFiniteError(InputError):
    """A network gave something that is no number; `row` is the place of the pair."""

    def __init__(self, pair: str, value: float, row: int) -> None:
        """Name the pair."""
        super().__init__(
            f"the network gives the score {value} to {pair}: its weights are broken, or too large for the precision; "
            "try precision=fp32, or train it again."
        )
        self.row = row
        self.value = value


def score(
    network: Network,
    queries: Sequence[str],
    documents: Sequence[str],
    pairs: PairRows,
    *,
    budget: int | None = None,
) -> NDArray[np.float32]:
    """One score a pair of a query's and a document's number; the network stays where it is.

    Where memory runs out, half the budget of tokens is tried once, with a warning.
    """
    if not len(pairs):
        return np.empty(0, np.float32)
    distinct = _Distinct.of(queries, documents, pairs)
    tokens = budget or usual_budget(network.device)
    with _scoring(network):
        try:
            found = _scores(network, distinct, tokens)
        except (RuntimeError, MemoryError) as error:
            if not ran_out(error):
                raise
            found = _with_less(network, distinct, tokens, _in_words(error))
    scores = found[distinct.places]
    _check_finite(scores, queries, documents, pairs)
    return scores


def usual_budget(device: torch.device) -> int:
    """How many tokens a batch has on a device."""
    if device.type != "cuda":
        return _CPU_BUDGET
    return min(_GPU_BUDGET, int(torch.cuda.get_device_properties(device).total_memory) // _BYTES_A_TOKEN)


def batches(lengths: Ints, budget: int) -> Iterator[Ints]:
    """Numbers of pairs, those of similar length together; the longest first: no worker waits long at the end."""
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        size = max(1, budget // max(int(lengths[order[start]]), 1))
        yield order[start : start + size]
        start += size


class _Distinct(NamedTuple):
    """Texts and pairs without repetition, pairs by document; `places` leads from given pairs to them."""

    queries: list[str]
    documents: list[str]
    pairs: PairRows
    places: Ints

    @classmethod
    def of(cls, queries: Sequence[str], documents: Sequence[str], pairs: PairRows) -> _Distinct:
        """Find them."""
        query_texts, query_of = _numbered(queries)
        document_texts, document_of = _numbered(documents)
        keys = document_of[pairs[:, 1]] * len(query_texts) + query_of[pairs[:, 0]]
        kept, places = np.unique(keys, return_inverse=True)
        rows = np.column_stack((kept % len(query_texts), kept // len(query_texts)))
        return cls(query_texts, document_texts, rows, places)

    def blocks(self) -> Iterator[tuple[slice, list[str], list[str], PairRows]]:
        """Some pairs at a time, each time more, with the texts that they need."""
        start, size = 0, _FIRST_BLOCK
        while start < len(self.pairs):
            rows = slice(start, min(start + size, len(self.pairs)))
            start, size = rows.stop, min(2 * size, _BLOCK)
            queries, query_of = np.unique(self.pairs[rows, 0], return_inverse=True)
            documents, document_of = np.unique(self.pairs[rows, 1], return_inverse=True)
            yield (
                rows,
                [self.queries[number] for number in queries.tolist()],
                [self.documents[number] for number in documents.tolist()],
                np.column_stack((query_of, document_of)),
            )


class _Part(NamedTuple):
    """One batch to be: some pairs of a block, and where their scores go."""

    prepared: Prepared
    pairs: PairRows
    rows: Ints


def _parts(network: Network, distinct: _Distinct, budget: int) -> Iterator[_Part]:
    for rows, queries, documents, pairs in distinct.blocks():
        prepared = network.prepare(queries, documents)
        for chosen in batches(network.lengths(prepared, pairs), budget):
            yield _Part(prepared, pairs[chosen], chosen + rows.start)


def _scores(network: Network, distinct: _Distinct, budget: int) -> NDArray[np.float32]:
    """The score of each distinct pair."""
    way = _on_gpu if network.device.type == "cuda" else _on_cpu
    return way(network, distinct, budget)


def _on_cpu(network: Network, distinct: _Distinct, budget: int) -> NDArray[np.float32]:
    found = np.empty(len(distinct.pairs), np.float32)

    def work(part: _Part) -> None:
        with torch.inference_mode():
            scores = network(network.collate(part.prepared, part.pairs))
            found[part.rows] = network.report(scores).float().numpy()

    for _ in workers().map(work, _parts(network, distinct, budget)):
        pass
    return found


def _on_gpu(network: Network, distinct: _Distinct, budget: int) -> NDArray[np.float32]:
    """Queue all batches; some are made ahead, and the GPU is further behind."""
    device = network.device

    def collate(part: _Part) -> tuple[Tensor, dict[str, Tensor]]:
        batch = network.collate(part.prepared, part.pairs)
        pinned = {name: tensor if name.startswith(HOST) else _pinned(tensor) for name, tensor in batch.items()}
        return _pinned(torch.from_numpy(part.rows)), pinned

    def move(batch: dict[str, Tensor]) -> dict[str, Tensor]:
        return {
            name: tensor if name.startswith(HOST) else tensor.to(device, non_blocking=True)
            for name, tensor in batch.items()
        }

    with torch.inference_mode(), without_plans(device), ThreadPoolExecutor(_COLLATORS, "collate") as pool:
        found = torch.empty(len(distinct.pairs), dtype=torch.float32, device=device)
        made = (pool.submit(collate, part) for part in _parts(network, distinct, budget))
        with Ahead(made, _AHEAD) as waiting:
            for rows, batch in (future.result() for future in waiting):
                found[rows.to(device, non_blocking=True)] = network.report(network(move(batch))).float()
        return np.asarray(found.cpu().numpy())


def _pinned(tensor: Tensor) -> Tensor:
    return tensor.pin_memory() if torch.cuda.is_available() else tensor


def _with_less(network: Network, distinct: _Distinct, budget: int, message: str) -> NDArray[np.float32]:
    """Try again with half the budget."""
    less = max(1, budget // 2)
    warnings.warn(f"memory ran out with {budget:,} tokens a batch; trying {less:,}.", RuntimeWarning, stacklevel=3)
    if network.device.type == "cuda":
        torch.cuda.empty_cache()
    try:
        return _scores(network, distinct, less)
    except (RuntimeError, MemoryError) as error:
        if not ran_out(error):
            raise
        raise InputError(
            f"memory runs out with {budget:,} tokens a batch and with half of them ({message}); "
            "free some, or take device=cpu, a smaller model or precision=bf16."
        ) from error


def ran_out(error: RuntimeError | MemoryError) -> bool:
    """Whether an error means that memory was too small; torch has a class of its own for this on a GPU only."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return any(words in str(error).lower() for words in _NO_MEMORY)


def _in_words(error: RuntimeError | MemoryError) -> str:
    """The first line of what it says; Python's own says nothing."""
    return next(iter(str(error).splitlines()), type(error).__name__)


@contextmanager
def _scoring(network: Network) -> Iterator[None]:
    """Switch off what only training needs, and on again."""
    training = network.training
    network.eval()
    try:
        yield
    finally:
        network.train(training)


def _numbered(texts: Sequence[str]) -> tuple[list[str], Ints]:
    """Distinct texts, and for each given one its number among them."""
    first: dict[str, int] = {}
    numbers = np.fromiter((first.setdefault(text, len(first)) for text in texts), np.int64, len(texts))
    return list(first), numbers


def _check_finite(
    scores: NDArray[np.float32], queries: Sequence[str], documents: Sequence[str], pairs: PairRows
) -> None:
    if not np.isfinite(scores).all():
        row = int(np.flatnonzero(~np.isfinite(scores))[0])
        query, document = queries[pairs[row, 0]], documents[pairs[row, 1]]
        raise NotFiniteError(f"query {query[:80]!r} with document {document[:80]!r}", float(scores[row]), row)
