"""How much memory a training takes, and giving back what it does not need."""

from __future__ import annotations

import ctypes
import sys

import torch


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


def free(device: torch.device) -> None:
    """Give back what is held without being used.

    On a CPU that is what glibc keeps between blocks in use: batches of ever other lengths leave ever more of it.
    """
    if device.type == "cuda":
        torch.cuda.empty_cache()
    elif sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # other C libraries have none
        if trim is not None:
            trim(0)
