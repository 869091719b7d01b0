"""Measuring a network while it is trained, or once more when it is finished."""

from __future__ import annotations

import math
from collections.abc import Callable

from ringtrue import cache
from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import Precision
from ringtrue.retrieval.neural.network import Network

# isort: split
import torch

Validate = Callable[[Network], float]


def validation_key(validate: Validate | None) -> str:
    """A name for what is measured: the `fingerprint` that a validation gives, else the name of its function."""
    if validate is None:
        return ""
    own = getattr(validate, "fingerprint", None)
    kind = validate if hasattr(validate, "__qualname__") else type(validate)
    return cache.key(kind.__qualname__, own() if own is not None else "")


def measure(network: Network, validate: Validate, precision: Precision, step: int) -> float:
    """What a validation gives for a network as it is after an update."""
    network.eval()
    with torch.no_grad(), mixed(network.device, precision):
        value = float(validate(network))
    if math.isnan(value):
        raise InputError(f"the validation after step {step} gave no number (nan).")
    return value


def mixed(device: torch.device, precision: Precision) -> torch.autocast:
    """What a network computes in; its weights stay in fp32."""
    return torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16")
