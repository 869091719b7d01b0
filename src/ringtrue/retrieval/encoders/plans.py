"""Which kernels compute attention on a GPU."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel


def without_plans(device: torch.device) -> AbstractContextManager[Any]:
    """Leave out cuDNN's attention: it makes a plan for each new shape, some 50 ms, and here every batch has its own."""
    if device.type != "cuda":
        return nullcontext()
    kernels: AbstractContextManager[Any] = sdpa_kernel(
        [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
    )
    return kernels
