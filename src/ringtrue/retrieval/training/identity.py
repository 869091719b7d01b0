"""What a training is known by: all that decides its weights, by content and not by the names of files.

A network counts with its first weights and the files that it writes, such as its tokenizer: where the word vectors or
the backbone behind a path have changed, it is another training.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from ringtrue import cache
from ringtrue.retrieval.neural.checkpoint import distinct_weights
from ringtrue.retrieval.neural.network import Network
from ringtrue.retrieval.training.settings import Settings
from ringtrue.retrieval.training.triples import Triples
from ringtrue.retrieval.training.validation import Validate, validation_key

# isort: split
import torch
from torch import Tensor

_NOT_DECISIVE = ("keep_every", "keep_steps")


def training_key(network: Network, triples: Triples, settings: Settings, validate: Validate | None) -> str:
    """A name for all that decides the weights; a validation does where it chooses among them."""
    decisive = {name: value for name, value in asdict(settings).items() if name not in _NOT_DECISIVE}
    chooser = validation_key(validate) if settings.select == "best" else ""
    given = network_key(network), triples.fingerprint(), sorted(decisive.items()), chooser
    return cache.key(network.name, network.model, *given)


def network_key(network: Network) -> str:
    """A name for the weights, for which of them learn, and for how texts are read."""
    digest = hashlib.blake2b(digest_size=16)
    for name, weight in distinct_weights(network).items():
        digest.update(repr((name, tuple(weight.shape), weight.dtype)).encode())
        digest.update(_bytes(weight))
    learned = [name for name, weight in network.named_parameters() if weight.requires_grad]
    with TemporaryDirectory(prefix="ringtrue-") as place:
        network.write_files(Path(place))
        files = sorted(path for path in Path(place).rglob("*") if path.is_file())
        names = [path.relative_to(place).as_posix() for path in files]
        return cache.key(digest.hexdigest(), learned, names, cache.content_key(files))


def _bytes(weight: Tensor) -> memoryview:
    flat = weight.detach().cpu().contiguous().flatten()
    return memoryview(flat.view(torch.uint8).numpy())
