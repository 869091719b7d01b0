"""An unfinished training on disk: one safetensors file with weights, optimizer and position, replaced as a whole.

Order and dropout follow from the seed and the number of the update, so no state of a random generator is kept.
Nothing is pickled.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ringtrue.errors import InputError
from ringtrue.retrieval.neural.network import Network
from ringtrue.retrieval.training.optimizer import restore, tensors_of
from ringtrue.retrieval.training.result import Validation

# isort: split
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch.optim import AdamW

_FILE = "training.safetensors"
_FORMAT = "1"


@dataclass
class State:
    """Where a training is: updates done, triples that go through the network at once, and what was seen so far."""

    batch: int
    step: int = 0
    seconds: float = 0.0
    losses: list[float] = field(default_factory=list)
    validations: list[Validation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    best: dict[str, Tensor] = field(default_factory=dict)


def write_snapshot(folder: Path, key: str, network: Network, optimizer: AdamW, state: State) -> None:
    """Replace the file, so that a kill at any moment leaves the old one or the new one."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {
        **_named("weights", network.state_dict()),
        **_named("optimizer", tensors_of(optimizer)),
        **_named("best", state.best),
        "losses": torch.tensor(state.losses, dtype=torch.float64),
    }
    position = {
        "batch": state.batch,
        "step": state.step,
        "seconds": state.seconds,
        "validations": state.validations,
        "notes": state.notes,
    }
    draft = folder / f".{_FILE}.part"
    save_file(tensors, draft, {"format": _FORMAT, "key": key, "position": json.dumps(position)})
    with open(draft, "rb") as file:
        os.fsync(file.fileno())
    os.replace(draft, folder / _FILE)


def read_snapshot(folder: Path, key: str, network: Network, optimizer: AdamW) -> State | None:
    """Go back to where a training was, None where there is nothing; one of something else is an error."""
    path = folder / _FILE
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            about = file.metadata() or {}
            if about.get("format") != _FORMAT or about.get("key") != key:
                raise InputError(
                    f"{folder} holds an unfinished training with other triples, validation, model or settings; "
                    f"name another folder, or delete {path.name} in it."
                )
            tensors = {name: file.get_tensor(name) for name in file.keys()}
        position = json.loads(about["position"])
        network.load_state_dict(_part("weights", tensors))
        restore(optimizer, _part("optimizer", tensors))
    except (SafetensorError, KeyError, ValueError, RuntimeError) as error:
        raise InputError(f"{path} is broken ({error}); delete it to train from the start.") from error
    return State(
        batch=position["batch"],
        step=position["step"],
        seconds=position["seconds"],
        losses=tensors["losses"].tolist(),
        validations=[Validation(*point) for point in position["validations"]],
        notes=position["notes"],
        best=_part("best", tensors),
    )


def delete_snapshot(folder: Path) -> None:
    """A finished training needs none."""
    for name in (_FILE, f".{_FILE}.part"):
        (folder / name).unlink(missing_ok=True)


def copy_weights(network: Network) -> dict[str, Tensor]:
    """The weights as they are now, on the CPU."""
    return {name: tensor.detach().to("cpu", copy=True) for name, tensor in network.state_dict().items()}


def _named(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Copies, since the format takes no two tensors that share memory, as tied weights do."""
    return {f"{prefix}.{name}": tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in tensors.items()}


def _part(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(f"{prefix}."): one for name, one in tensors.items() if name.startswith(f"{prefix}.")}
