"""What a figure was measured on, how it is repeated, and where it is written."""

from __future__ import annotations

import gc
import json
import os
import platform
import resource
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ringtrue.provenance import version

RESULTS = Path(__file__).parent / "results"
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def describe(packages: Sequence[str]) -> dict[str, Any]:
    """The machine, its load and the versions that matter."""
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        **{name: version(name) for name in ("ringtrue", *packages)},
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def alternate(contenders: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median seconds of each contender; they take turns, so that a busy minute hits all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, work in contenders.items():
            gc.collect()
            start = time.perf_counter()
            work()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def peak_memory() -> float:
    """The process's largest resident size so far, in MB."""
    # what getrusage says begins with the size of the process that started this one
    told = _status("self").get("VmHWM")
    return int(told.split()[0]) / 1024 if told else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def peak_memory_of_children() -> float:
    """The largest resident sizes of all processes that this one started and that still run, in MB; Linux only."""
    own = str(os.getpid())
    all_of_them = (_status(path.name) for path in Path("/proc").glob("[0-9]*"))
    return sum(int(found["VmHWM"].split()[0]) / 1024 for found in all_of_them if found.get("PPid") == own)


def _status(process: str) -> dict[str, str]:
    """What Linux says of a process; nothing where there is none."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def write(name: str, content: Mapping[str, Any]) -> Path:
    """Put a result beside the others."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(f"{name}: {json.dumps({key: value for key, value in content.items() if key != 'machine'})}")
    return path
