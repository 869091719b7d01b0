"""Varied queries as topic files for systems elsewhere, and their runs read back.

One TSV file of query id and text for each method, `original.tsv` for the queries themselves; the n-th variations of a
query are in `METHOD-n.tsv`. A system's runs lie in one folder and have the names of these files.
"""

from __future__ import annotations

import re
from pathlib import Path

from ringtrue.data.runs import RunSet, run_files, run_name
from ringtrue.errors import InputError, UnknownNameError
from ringtrue.robustness.ranking import Ranked, Slot, Task

ORIGINAL = "original"
_UNSAFE = re.compile(r"[^\w.=-]+")


def file_stem(slot: Slot) -> str:
    """A slot's file name without its ending."""
    stem = _UNSAFE.sub("_", slot.method)
    return stem if slot.number == 1 else f"{stem}-{slot.number}"


def write_topics(task: Task, folder: Path) -> list[Path]:
    """Write one file for each slot that has variations, and one for the queries."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {ORIGINAL: task.titles, **{stem: task.texts[slot] for stem, slot in _stems(task).items()}}
    written = []
    for stem, queries in texts.items():
        path = folder / f"{stem}.tsv"
        lines = (f"{query_id}\t{' '.join(text.split())}\n" for query_id, text in queries.items())
        path.write_text("".join(lines), encoding="utf-8", newline="\n")
        written.append(path)
    return written


def read_ranked(folder: str | Path, task: Task) -> Ranked:
    """A system's runs: one for the queries and one for each slot that has variations.

    A query that a run lacks was answered with nothing. A run that is missing is an error, and so is one too many.
    """
    stems = _stems(task)
    files = {run_name(path.name): path for path in run_files(folder)}
    strangers = [name for name in files if name not in stems and name != ORIGINAL]
    if strangers:
        raise UnknownNameError(f"method of the run in {folder}:", strangers[0], [ORIGINAL, *stems])
    missing = [name for name in (ORIGINAL, *stems) if name not in files]
    if missing:
        raise InputError(f"{folder}: no run for {', '.join(missing)}; a run is named after its file of topics.")
    runs = RunSet.read([files[name] for name in (ORIGINAL, *stems)])
    varied = {slot: runs.run(place) for place, slot in enumerate(stems.values(), start=1)}
    return Ranked(Path(folder).resolve().name, runs.run(0), varied)


def _stems(task: Task) -> dict[str, Slot]:
    """The slots that have variations, by file name."""
    found: dict[str, Slot] = {}
    for slot, texts in task.texts.items():
        if texts:
            stem = file_stem(slot)
            if stem in found or stem == ORIGINAL:
                raise InputError(f"two methods would be written to {stem}.tsv; rename one of them.")
            found[stem] = slot
    return found
