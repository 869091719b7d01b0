"""Teaching a T5 to write the title of a topic from its description, for T5DescToTitle.

The study trains t5-base for 10 epochs on 1,322 topics of TREC and NTCIR tracks, without a seed and on some topics
twice; here each pair counts once and the seed decides everything. No part is held out: how good the variations are is
for `validity` to say.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ringtrue.data.records import Query
from ringtrue.errors import InputError
from ringtrue.robustness.models import Device, Loaded, load_model
from ringtrue.robustness.text import key

_IGNORED = -100  # what torch's loss passes over


class Pair(NamedTuple):
    """What the model is given and what it should write."""

    description: str
    title: str


@dataclass(frozen=True)
class Training:
    """How to train; the defaults are the study's."""

    prefix: str = "summarize:"
    epochs: int = 10
    learning_rate: float = 2e-5
    weight_decay: float = 0.01
    batch: int = 32
    longest_description: int = 128
    longest_title: int = 64
    seed: int = 42
    device: Device = "auto"


class Trained(NamedTuple):
    """Where the model is, what it learned from, and the mean loss of each epoch."""

    folder: Path
    pairs: int
    losses: tuple[float, ...]


def title_pairs(queries: Iterable[Query]) -> tuple[Pair, ...]:
    """The distinct pairs of topics that have both a description and another title, in order."""
    texts = ((" ".join(query.description.split()), " ".join(query.title.split())) for query in queries)
    pairs = (Pair(*both) for both in texts if key(both[0]) and key(both[1]) and key(both[0]) != key(both[1]))
    return tuple(dict.fromkeys(pairs))


def finetune(
    pairs: Sequence[Pair],
    model: str,
    folder: Path,
    training: Training | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> Trained:
    """Train `model` (a folder, or a name on the hub such as google-t5/t5-base) and save it, with its tokenizer.

    `progress` is called with the number and the loss of every epoch. The folder is one for T5DescToTitle's `model`.
    """
    if not pairs:
        raise InputError("no topic has a title and a description; give collections whose topics have both.")
    settings = training or Training()
    source = load_model(model, "text to text", "T5DescToTitle", settings.device, fresh=True)
    losses = tuple(_train(source, _encoded(source, pairs, settings), settings, progress))
    source.model.eval().save_pretrained(folder)
    source.tokenizer.save_pretrained(folder)
    return Trained(folder, len(pairs), losses)


def _encoded(source: Loaded, pairs: Sequence[Pair], settings: Training) -> list[tuple[list[int], list[int]]]:
    """Descriptions behind the prompt, and titles, as tokens; what is too long is cut, as in the study."""

    def tokens(text: str, longest: int) -> list[int]:
        return list(source.tokenizer(text, max_length=longest, truncation=True)["input_ids"])

    return [
        (
            tokens(f"{settings.prefix} {pair.description}", settings.longest_description),
            tokens(pair.title, settings.longest_title),
        )
        for pair in pairs
    ]


def _train(
    source: Loaded,
    examples: Sequence[tuple[list[int], list[int]]],
    settings: Training,
    progress: Callable[[int, float], None] | None,
) -> Iterator[float]:
    """AdamW with a learning rate that falls to zero; gives the mean loss of each epoch."""
    import torch

    source.model.train()
    optimizer = torch.optim.AdamW(_groups(source, settings.weight_decay), lr=settings.learning_rate)
    batches = -(-len(examples) // settings.batch)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, settings.epochs * batches)
    order, rng = list(range(len(examples))), random.Random(settings.seed)
    with torch.random.fork_rng():
        torch.manual_seed(settings.seed)  # dropout
        for epoch in range(1, settings.epochs + 1):
            rng.shuffle(order)
            total = 0.0
            for start in range(0, len(order), settings.batch):
                chosen = [examples[place] for place in order[start : start + settings.batch]]
                loss = _step(source, chosen, optimizer)
                schedule.step()
                total += loss * len(chosen)
            if progress is not None:
                progress(epoch, total / len(examples))
            yield total / len(examples)


def _groups(source: Loaded, weight_decay: float) -> list[dict[str, Any]]:
    """Weights decay, scales and biases do not."""
    named = [value for _, value in source.model.named_parameters() if value.requires_grad]
    return [
        {"params": [value for value in named if value.ndim > 1], "weight_decay": weight_decay},
        {"params": [value for value in named if value.ndim < 2], "weight_decay": 0.0},
    ]


def _step(source: Loaded, examples: Sequence[tuple[list[int], list[int]]], optimizer: Any) -> float:  # noqa: ANN401
    """One batch: forwards, backwards, with gradients cut at norm 1."""
    import torch

    def padded(rows: Sequence[list[int]], value: int) -> torch.Tensor:
        width = max(map(len, rows))
        return torch.tensor([row + [value] * (width - len(row)) for row in rows], device=source.device)

    given = [given for given, _ in examples]
    loss = source.model(
        input_ids=padded(given, source.tokenizer.pad_token_id or 0),
        attention_mask=padded([[1] * len(row) for row in given], 0),
        labels=padded([wanted for _, wanted in examples], _IGNORED),
    ).loss
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(source.model.parameters(), 1.0)
    optimizer.step()
    return float(loss.detach())
