"""One training between its start, or its resuming, and its end: updates, and what is due after each of them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np

from ringtrue.errors import InputError
from ringtrue.retrieval.encoders.plans import without_plans
from ringtrue.retrieval.neural.network import Network
from ringtrue.retrieval.neural.scoring import ran_out
from ringtrue.retrieval.training.batching import count_updates, lengths_of, updates_from
from ringtrue.retrieval.training.clock import Clock
from ringtrue.retrieval.training.feed import Update, feed
from ringtrue.retrieval.training.memory import free
from ringtrue.retrieval.training.meter import Meter
from ringtrue.retrieval.training.optimizer import clip_gradients, full_rate, make_optimizer, set_rate
from ringtrue.retrieval.training.result import Progress, Validation
from ringtrue.retrieval.training.settings import Settings
from ringtrue.retrieval.training.snapshot import State, copy_weights, read_snapshot, write_snapshot
from ringtrue.retrieval.training.triples import Triples, usable
from ringtrue.retrieval.training.validation import Validate, measure, mixed

# isort: split
import torch
from torch import Tensor

_FETCH_EVERY = {"cpu": 1}  # updates: reading a figure is free there, while another device would have to wait
_FETCH_ELSEWHERE = 50
_RECENT = 50
_TIDY_EVERY = 32  # updates: rarer it takes more memory, more often it takes time

Report = Callable[[Progress], None]


class Session:
    """A network on its way; `state` says how far it is."""

    def __init__(self, network: Network, triples: Triples, settings: Settings) -> None:
        """Tokenise, and put everything in its first state."""
        numbers, notes = usable(triples)
        self.network, self.settings, self.numbers = network, settings, numbers
        self.rows = triples.rows[numbers]
        self.prepared = network.prepare(triples.queries, triples.documents)
        self.lengths = lengths_of(network, self.prepared, self.rows)
        self.size = settings.batch * settings.accumulate
        self.steps = settings.epochs * count_updates(len(self.rows), self.size)
        self.rate = full_rate(network, settings.learning_rate)
        self.optimizer = make_optimizer(network, self.rate, settings.weight_decay)
        self.state = State(batch=settings.batch, notes=[*network.notes, *notes])
        self.meter = Meter(triples, self.steps, _FETCH_EVERY.get(network.device.type, _FETCH_ELSEWHERE))
        self.keeper: Keeper | None = None

    def keep_in(self, folder: Path, key: str) -> None:
        """Keep the state in a folder on the way, and begin with what is in it."""
        self.state = read_snapshot(folder, key, self.network, self.optimizer) or self.state
        self.keeper = Keeper(folder, key, self.settings)

    def run(self, validate: Validate | None, progress: Report | None) -> None:
        """All updates that are left."""
        device = self.network.device
        clock = Clock(self.state.seconds, self.state.step, self.steps)
        with without_plans(device), torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            while self.state.step < self.steps:
                self.network.train()
                with closing(self._updates()) as updates:
                    while self.state.step < self.steps and self._advance(updates):
                        self._look_after(clock, validate, progress)
                if self.state.step < self.steps:
                    self._halve()
        self.network.eval()

    def _updates(self) -> Generator[Update]:
        """What is left to be computed, in batches of the present size."""
        settings, state = self.settings, self.state
        ahead = updates_from(state.step, self.lengths, self.size, settings.seed, settings.epochs)
        return feed(self.network, self.prepared, self.rows, ahead, state.batch)

    def _advance(self, updates: Iterator[Update]) -> bool:
        """One update of the weights; False where memory is too small for its batches or for what it computes."""
        try:
            update = next(updates)
            loss = self._gradients(update)
            length = clip_gradients(self.optimizer, self.settings.clip)
            set_rate(self.optimizer, self.rate * self.settings.share_of_rate(update.step, self.steps))
            self.optimizer.step()
        except (RuntimeError, MemoryError) as error:
            if not ran_out(error):
                raise
            return False
        self.optimizer.zero_grad(set_to_none=True)
        self.meter.add(update.step, self.numbers[update.triples], loss, length)
        self.state.step = update.step + 1
        return True

    def _gradients(self, update: Update) -> Tensor:
        """Add up the gradients of an update's batches and give its mean loss."""
        network, device = self.network, self.network.device
        torch.manual_seed(_seed_of(self.settings.seed, update.step))
        total = torch.zeros((), device=device)
        for share, batch in update.batches:
            with mixed(device, self.settings.precision):
                loss = network.loss(batch) * share
            loss.backward()
            total += loss.detach()
        return total

    def _halve(self) -> None:
        """Go on with half as many triples at once; an update still has as many. A second time is an error."""
        batch = self.state.batch
        if batch == 1:
            raise InputError(
                f"training: out of memory with a single triple in a batch at step {self.state.step + 1}; cut texts "
                "shorter, or train a smaller model."
            )
        if batch < self.settings.batch:
            raise InputError(
                f"training: out of memory with {batch} triples in a batch at step {self.state.step + 1}; "
                f"set batch to less than {batch} and accumulate to more, or cut texts shorter."
            )
        self.optimizer.zero_grad(set_to_none=True)
        free(self.network.device)
        self.state.batch = (batch + 1) // 2
        self.state.notes.append(
            f"out of memory with {batch} triples in a batch at step {self.state.step + 1}: "
            f"from there on {self.state.batch} in a batch, and twice as many batches in an update"
        )

    def _look_after(self, clock: Clock, validate: Validate | None, progress: Report | None) -> None:
        """What is due after an update: reading losses, validating, keeping the state."""
        step, last = self.state.step, self.state.step == self.steps
        every = self.settings.validate_every
        validating = validate is not None and (last or (every is not None and step % every == 0))
        keeping = self.keeper is not None and not last and self.keeper.is_due(step)
        if self.meter.full or last or validating or keeping:
            self._read_losses(clock, progress)
        if validate is not None and validating:
            with clock.pause():
                self._validate(validate)
        if self.keeper is not None and keeping:
            with clock.pause():
                self.keeper.keep(self.network, self.optimizer, self.state)
        if self.network.device.type == "cpu" and step % _TIDY_EVERY == 0:
            free(self.network.device)

    def _read_losses(self, clock: Clock, progress: Report | None) -> None:
        self.state.losses += self.meter.fetch()
        self.state.seconds = clock.seconds
        if progress is not None:
            step, recent = self.state.step, self.state.losses[-_RECENT:]
            progress(Progress(step, self.steps, sum(recent) / len(recent), self.state.seconds, clock.left(step)))

    def _validate(self, validate: Validate) -> None:
        """Measure, and remember the weights where they are to be chosen by it; of equals the later wins."""
        best = max((point.value for point in self.state.validations), default=-math.inf)
        value = measure(self.network, validate, self.settings.precision, self.state.step)
        self.network.train()
        self.state.validations.append(Validation(self.state.step, value))
        if self.settings.select == "best" and value >= best:
            self.state.best = copy_weights(self.network)


class Keeper:
    """Keeps the state every so many seconds or updates."""

    def __init__(self, folder: Path, key: str, settings: Settings) -> None:
        """`key` says what is trained."""
        self._folder, self._key, self._settings = folder, key, settings
        self._last = time.monotonic()

    def is_due(self, step: int) -> bool:
        """Whether it is time."""
        steps = self._settings.keep_steps
        return (steps is not None and step % steps == 0) or time.monotonic() - self._last > self._settings.keep_every

    def keep(self, network: Network, optimizer: torch.optim.AdamW, state: State) -> None:
        """Write everything."""
        write_snapshot(self._folder, self._key, network, optimizer, state)
        self._last = time.monotonic()


def _seed_of(seed: int, step: int) -> int:
    """What dropout draws from in an update: as it depends on nothing else, a resumed training draws the same."""
    return int(np.random.SeedSequence((seed, step)).generate_state(1, np.uint64)[0] >> np.uint64(1))
