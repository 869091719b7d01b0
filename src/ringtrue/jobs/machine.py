"""What this machine lends a process: cores, GPUs, and how many workers they are good for."""

from __future__ import annotations

import os
from pathlib import Path

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def gpus() -> tuple[str, ...]:
    """The GPUs that this process may use, as CUDA names them."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return tuple(one.strip() for one in named.split(",") if one.strip() not in ("", "-1"))
    return tuple(str(place) for place, _ in enumerate(Path("/dev").glob("nvidia[0-9]*")))


def usual_workers() -> int:
    """One process a GPU, or without GPUs one a core."""
    return len(gpus()) or cores()


def share(number: int, count: int) -> dict[str, str]:
    """What worker `number` of `count` may use, as environment: some cores and a GPU; waiting threads must not spin."""
    threads = str(max(cores() // count, 1))
    environment = {**dict.fromkeys(_THREADS, threads), "OMP_WAIT_POLICY": "PASSIVE"}
    devices = gpus()
    if devices:
        environment["CUDA_VISIBLE_DEVICES"] = devices[number % len(devices)]
    return environment
