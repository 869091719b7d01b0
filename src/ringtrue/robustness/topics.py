"""Varied queries as topic files for systems elsewhere, and their runs read back.

One TSV file of query id and text for each method, `original.tsv` for the queries themselves; the n-th variations of a
query are in `METHOD-n.tsv`. A system's runs lie in one folder and have the names of these files. The files hold every
variation, since which of them are valid is decided when the runs come back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ringtrue.data.notes import Notes
from ringtrue.data.records import Query
from ringtrue.data.runs import Run, RunSet, run_files, run_name
from ringtrue.errors import InputError, UnknownNameError
from ringtrue.robustness.ranking import Ranked
from ringtrue.robustness.task import Slot, Task, make_task
from ringtrue.robustness.validity import Basis, check
from ringtrue.robustness.variations import Variation

ORIGINAL = "original"
_UNSAFE = re.compile(r"[^\w.=-]+")


def file_stem(slot: Slot) -> str:
    """A slot's file name without its ending."""
    stem = _UNSAFE.sub("_", slot.method)
    return stem if slot.number == 1 else f"{stem}-{slot.number}"


def everything(queries: Sequence[Query], variations: Sequence[Variation]) -> Task:
    """A task of all variations, valid or not, of all queries, judged or not."""
    changed = [one._replace(valid=one.basis not in (Basis.MISSING, Basis.COPY)) for one in check(variations)]
    return make_task(queries, [query.query_id for query in queries], changed)


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


def read_ranked(folder: str | Path, task: Task, notes: Notes) -> Ranked:
    """A system's runs: one for the queries and one for each slot that has valid variations.

    A query that a run lacks was answered with nothing, and is counted. A run that is missing is an error, and so is one
    that no method is named after.
    """
    stems = _stems(task)
    files = {run_name(path.name): path for path in run_files(folder)}
    known = {ORIGINAL, *stems, *map(file_stem, task.slots)}
    strangers = [name for name in files if name not in known]
    if strangers:
        raise UnknownNameError(f"method of the run in {folder}:", strangers[0], known)
    missing = [name for name in (ORIGINAL, *stems) if name not in files]
    if missing:
        raise InputError(f"{folder}: no run for {', '.join(missing)}; a run is named after its file of topics.")
    runs = RunSet.read([files[name] for name in (ORIGINAL, *stems)])
    varied = {slot: Run(slot.method, {}) for slot in task.slots}
    varied |= {slot: runs.run(place) for place, slot in enumerate(stems.values(), start=1)}
    ranked = Ranked(Path(folder).resolve().name, runs.run(0), varied)
    for name, run, texts in ((ORIGINAL, ranked.original, task.titles), *_answers(ranked, task, stems)):
        lacking = [query_id for query_id in texts if not run.ranking(query_id)]
        if lacking:
            notes.add("queries without a document in runs made elsewhere", f"{files[name]}, {lacking[0]}", len(lacking))
    return ranked


def _answers(ranked: Ranked, task: Task, stems: Mapping[str, Slot]) -> Iterator[tuple[str, Run, Mapping[str, str]]]:
    """Each run with what was asked."""
    return ((name, ranked.varied[slot], task.texts[slot]) for name, slot in stems.items())


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
