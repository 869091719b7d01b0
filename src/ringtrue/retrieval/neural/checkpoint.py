"""Networks on disk: `ranker.json` with the configuration, `model.safetensors`, and the files a network asks for.

Nothing is unpickled: a checkpoint from a stranger can hold wrong numbers but no program.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ringtrue.errors import InputError
from ringtrue.retrieval.neural.models import MODELS
from ringtrue.retrieval.neural.network import Network

# isort: split
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

_FORMAT = 1
CONFIG, _WEIGHTS = "ranker.json", "model.safetensors"


def save_network(network: Network, folder: Path) -> None:
    """Write a network; the folder is made, files of the same name in it are replaced.

    The configuration comes first: it tells a folder that was written in part from one that holds a model of others.
    """
    folder.mkdir(parents=True, exist_ok=True)
    options = dataclasses.asdict(network.model)  # type: ignore[call-overload]
    text = json.dumps({"format": _FORMAT, "ranker": network.name, "options": options}, indent=2)
    (folder / CONFIG).write_text(text + "\n", encoding="utf-8", newline="\n")
    network.write_files(folder)
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in distinct_weights(network).items()}
    save_file(weights, folder / _WEIGHTS, metadata={"format": "pt"})  # without it transformers does not read the file


def load_network(folder: Path, name: str | None = None) -> Network:
    """Read a network in fp32 on the CPU, ready for scoring; with a name, it must be of this ranker."""
    config = _read_config(folder)
    found = str(config.get("ranker"))
    if name is not None and found != name:
        raise InputError(f"{folder} is a checkpoint of {found!r}, not of {name!r}; write {found}:checkpoint={folder}")
    try:
        model = MODELS.find(found)(**config["options"])
    except (KeyError, TypeError) as error:
        raise InputError(f"{folder / CONFIG}: its options are not those of {found!r} ({error}).") from error
    network = model.empty(folder)
    load_weights(network, folder)
    network.to(torch.float32).eval()
    return network


def load_weights(network: Network, folder: Path) -> None:
    """Read the weights of a folder into a network of the same shape, where it is."""
    try:
        weights = load_file(folder / _WEIGHTS)
        wanted = distinct_weights(network)
        _check_names(weights, wanted)
        with torch.no_grad():
            for name, tensor in wanted.items():
                tensor.copy_(_of_shape(weights[name], tensor, name))
    except (OSError, SafetensorError, ValueError) as error:
        raise InputError(f"{folder / _WEIGHTS} does not hold the weights of this {network.name!r}: {error}") from error


def distinct_weights(network: Network) -> dict[str, Tensor]:
    """All weights by name, one that is in several places once; where a network is its inner part, by names in that."""
    seen: set[tuple[int, torch.Size]] = set()
    found = {}
    for name, tensor in network.state_dict().items():
        place = (tensor.data_ptr(), tensor.shape)
        if place not in seen or not tensor.numel():
            seen.add(place)
            found[name.removeprefix(f"{network.inner}.")] = tensor
    return found


def _check_names(weights: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> None:
    for what, names in (("lacks", wanted.keys() - weights.keys()), ("has the unknown", weights.keys() - wanted.keys())):
        if names:
            raise ValueError(f"it {what} {min(names)!r}" + (f" and {len(names) - 1} more" if len(names) > 1 else ""))


def _of_shape(weight: Tensor, tensor: Tensor, name: str) -> Tensor:
    if weight.shape != tensor.shape:
        raise ValueError(f"{name!r} has the shape {tuple(weight.shape)}, not {tuple(tensor.shape)}")
    return weight


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG
    if not path.is_file():
        raise InputError(f"{folder} is not a checkpoint: it has no {CONFIG}; train one with `ringtrue train`.")
    try:
        config: object = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}.") from error
    if not isinstance(config, dict) or config.get("format") != _FORMAT:
        raise InputError(f"{path} is not in format {_FORMAT}; it was written by another version of ringtrue.")
    return config
