"""What an experiment will cost, told before it starts: cells, pairs, and the time, from a short trial of each model."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ringtrue.errors import InputError
from ringtrue.jobs import cores, outcome, span
from ringtrue.leakage.experiment.cell import build, score_pairs, settings_of, triples_of
from ringtrue.leakage.experiment.layout import read_pairs, read_texts, read_triples
from ringtrue.leakage.experiment.plan import Cell, Plan

# isort: split
import torch

_TRIPLES, _PAIRS = 32, 64


class Rates(NamedTuple):
    """Seconds to build a network, to train one triple, and to score one pair."""

    build: float
    triple: float
    pair: float


class Cost(NamedTuple):
    """What is left to do; `by_cell` are the seconds that each cell takes one process."""

    cells: int
    triples: int
    pairs: int
    seconds: float | None = None
    by_cell: Mapping[str, float] = MappingProxyType({})

    def __str__(self) -> str:
        """In words."""
        words = f"{self.cells:,} cells, {2 * self.triples:,} instances to train on, {self.pairs:,} pairs to score"
        return words if self.seconds is None else f"{words}; about {span(self.seconds)} here"


def open_cells(folder: Path, plan: Plan) -> list[Cell]:
    """Those that are not done."""
    done = frozenset(outcome(folder).done)
    return [cell for cell in plan.cells() if cell.name not in done]


def count(folder: Path, plan: Plan) -> Cost:
    """What is left, without a trial."""
    cells = open_cells(folder, plan)
    epochs = int(plan.training.get("epochs", 1))
    pairs = len(read_pairs(folder)) * len(cells)
    return Cost(len(cells), epochs * sum(cell.size // 2 for cell in cells), pairs)


def estimate(folder: Path, plan: Plan, workers: int) -> Cost:
    """What is left, with the time that it takes so many processes, from a few triples and pairs of each model."""
    cells = open_cells(folder, plan)
    before = torch.get_num_threads()
    torch.set_num_threads(max(cores() // workers, 1))
    try:
        rates = {model: _tried(folder, plan, model) for model in dict.fromkeys(cell.model for cell in cells)}
    finally:
        torch.set_num_threads(before)
    pairs, epochs = len(read_pairs(folder)), int(plan.training.get("epochs", 1))
    by_cell = {
        cell.name: rates[cell.model].build
        + epochs * cell.size / 2 * rates[cell.model].triple
        + pairs * rates[cell.model].pair
        for cell in cells
    }
    seconds = sum(by_cell.values()) / max(min(workers, len(cells)), 1)
    return count(folder, plan)._replace(seconds=seconds, by_cell=by_cell)


def _tried(folder: Path, plan: Plan, model: str) -> Rates:
    """The same as `probe`; what fails names the model, since all of them are tried before any cell."""
    try:
        return probe(folder, plan, model)
    except InputError as error:
        raise InputError(f"a short trial of {model!r} failed, and so would its cells: {error}") from error


def probe(folder: Path, plan: Plan, model: str) -> Rates:
    """Time one model on a few triples and pairs, spread over all of them; the first of each is for warming up."""
    from ringtrue.retrieval.training.loop import train

    texts, pairs = read_texts(folder), read_pairs(folder)
    rows = read_triples(folder, "none", min(plan.sizes))
    start = time.perf_counter()
    network = build(model, texts, plan.seeds[0])
    built = time.perf_counter() - start
    settings = settings_of({**plan.training, "epochs": 1}, network, plan.seeds[0])
    train(network, triples_of(texts, _spread(rows, 2)), settings)
    start = time.perf_counter()
    some = _spread(rows, _TRIPLES)
    train(network, triples_of(texts, some), settings)
    trained = time.perf_counter() - start
    score_pairs(network, texts, _spread(pairs, 2))
    start = time.perf_counter()
    sample = _spread(pairs, _PAIRS)
    score_pairs(network, texts, sample)
    scored = time.perf_counter() - start
    return Rates(built, trained / len(some), scored / len(sample))


def _spread(rows: np.ndarray, number: int) -> np.ndarray:
    """So many rows, evenly from first to last."""
    places: Sequence[int] = np.unique(np.linspace(0, len(rows) - 1, number).astype(np.int64)).tolist()
    return rows[places]
