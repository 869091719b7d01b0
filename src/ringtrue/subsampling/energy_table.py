"""What the stages of a command took, as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from ringtrue.audit import Cell, Column, Table
from ringtrue.subsampling.energy import NOT_MEASURABLE, Metered, extrapolate


def energy_table(stages: Sequence[Metered], corpus_documents: int) -> Table:
    """Each stage, and what it would take for the full corpus."""
    columns = (
        Column("stage", "Stage"),
        Column("documents", "Documents", 0),
        Column("seconds", "Seconds", 2),
        Column("energy", "Energy", help="processor, memory and graphics card, as far as they have counters"),
        Column("kwh", "kWh", 6),
        Column("kwh_per_doc", "kWh a document", 12),
        Column("full_kwh", "kWh, full corpus", 6, f"in proportion, for {corpus_documents:,} documents"),
    )
    rows = tuple(_row(stage, corpus_documents) for stage in stages)
    note = (
        f"Measured by tirex-tracker; counters are of the whole machine, whatever else runs on it. The full corpus has "
        f"{corpus_documents:,} documents; what it would take is in proportion to the documents."
    )
    if not any(stage.energy.joules is not None for stage in stages):
        note = f"Energy is {NOT_MEASURABLE}: it has no counters that can be read. Nothing is put in its place."
    return Table("energy", "Energy", columns, rows, note)


def _row(stage: Metered, corpus_documents: int) -> tuple[Cell, ...]:
    energy = stage.energy
    words = NOT_MEASURABLE if energy.joules is None else f"{energy.joules:.1f} J"
    each, full = (extrapolate(energy.kwh, max(stage.documents, 1), many) for many in (1, corpus_documents))
    return energy.stage, stage.documents, energy.seconds, words, energy.kwh, each, full


def energy_json(stages: Sequence[Metered]) -> str:
    """`energy.json`: the stages with their parts; what has no counter is null."""
    rows = [
        {**asdict(stage.energy), "joules": stage.energy.joules, "kwh": stage.energy.kwh, "documents": stage.documents}
        for stage in stages
    ]
    return json.dumps({"stages": rows}, indent=2) + "\n"
