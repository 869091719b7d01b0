"""Options that every command has, in one place."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

Out = Annotated[
    Path | None,
    typer.Option("--out", help="Folder for results as JSON, CSV and LaTeX, figures, and the page.", file_okay=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on stderr but errors.")]
Page = Annotated[str, typer.Option("--page", help="Name of the page in the folder of --out.")]
Collection = Annotated[
    str | None, typer.Option("--collection", help="irds:ID, a folder, a file or builtin:lighthouse (the default).")
]
Runs = Annotated[Path | None, typer.Option("--runs", help="A folder of run files, or one file.")]
QrelsFile = Annotated[Path | None, typer.Option("--qrels", help="Judgments.")]
Groups = Annotated[
    str | None,
    typer.Option(
        "--groups", help="CSV or TSV with a run and a group or team column, JSON with prefixes, or the word tags."
    ),
]
MeasureName = Annotated[str | None, typer.Option("--measure", help="An ir_measures name.  [default: nDCG@10]")]
TieRule = Annotated[str | None, typer.Option("--ties", help="Tie rule: asc, desc or trec.  [default: asc]")]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Seed of everything random.  [default: 42]")]


class FailOn(StrEnum):
    """From which verdict on the exit code is 1."""

    NEVER = "never"
    WARN = "warn"
    FAIL = "fail"
