"""AdamW (Loshchilov and Hutter, ICLR 2019) over what a network can learn, and its state as plain tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ringtrue.errors import InputError
from ringtrue.retrieval.neural.network import Network

# isort: split
import torch
from torch import Tensor
from torch.optim import AdamW

_RATE = 1e-3  # of a model that names none


def full_rate(network: Network, asked: float | None) -> float:
    """The learning rate that was asked for, else the model's own."""
    return asked if asked is not None else float(getattr(network.model, "learning_rate", None) or _RATE)


def make_optimizer(network: Network, rate: float, weight_decay: float) -> AdamW:
    """Matrices decay, scales and biases do not.

    The state is there from the start: where memory ran out while it was made, half of the weights would be updated.
    """
    learned = [weight for weight in network.parameters() if weight.requires_grad]
    if not learned:
        raise InputError(f"network {network.name!r} has no weights that can be trained.")
    groups = [
        {"params": [weight for weight in learned if weight.ndim > 1], "weight_decay": weight_decay},
        {"params": [weight for weight in learned if weight.ndim < 2], "weight_decay": 0.0},
    ]
    optimizer = AdamW([group for group in groups if group["params"]], lr=rate, fused=True)
    restore(optimizer, _at_rest([weight for group in optimizer.param_groups for weight in group["params"]]))
    return optimizer


def _at_rest(weights: Sequence[Tensor]) -> dict[str, Tensor]:
    """The state before the first update."""
    state = {}
    for number, weight in enumerate(weights):
        state[f"{number}.step"] = torch.zeros((), device=weight.device)
        state[f"{number}.exp_avg"] = torch.zeros_like(weight, requires_grad=False)
        state[f"{number}.exp_avg_sq"] = torch.zeros_like(weight, requires_grad=False)
    return state


def set_rate(optimizer: AdamW, rate: float) -> None:
    """The learning rate of the next update."""
    for group in optimizer.param_groups:
        group["lr"] = rate


def clip_gradients(optimizer: AdamW, longest: float | None) -> Tensor:
    """Shorten all gradients together where they are longer than this; gives their length before, on the device."""
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    return torch.nn.utils.clip_grad_norm_(weights, float("inf") if longest is None else longest)


def tensors_of(optimizer: AdamW) -> dict[str, Tensor]:
    """The state as tensors named after the number of their weight: `3.exp_avg`."""
    state: Mapping[int, Mapping[str, Tensor]] = optimizer.state_dict()["state"]
    return {f"{number}.{name}": tensor for number, values in state.items() for name, tensor in values.items()}


def restore(optimizer: AdamW, tensors: Mapping[str, Tensor]) -> None:
    """Take over the state of another optimizer of the same network."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        number, _, name = key.partition(".")
        state.setdefault(int(number), {})[name] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
