"""How much memory a training takes, and telling when there was too little."""

from __future__ import annotations

import sys

import torch

_TOO_LITTLE = ("out of memory", "can't allocate memory", "not enough memory")


def reset_peak(device: torch.device) -> None:
    """Let the count of a GPU begin anew."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def peak_memory(device: torch.device) -> int | None:
    """On a GPU the most bytes that tensors took since the count began, elsewhere the process's largest size."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    try:
        import resource
    except ImportError:  # Windows
        return None
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else largest * 1024


def ran_out(error: RuntimeError) -> bool:
    """Whether an error of torch means that memory was too small, on whatever device."""
    return isinstance(error, torch.cuda.OutOfMemoryError) or any(words in str(error).lower() for words in _TOO_LITTLE)


def free(device: torch.device) -> None:
    """Give back what torch holds without using it."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
