"""A report as a folder: the page, `result.json`, and each table and figure in files of its own.

Each file is written beside its place and moved there, so that a killed process leaves whole files only. Files of an
earlier report that this one does not name stay as they are.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from ringtrue.audit import Audit, Cell, Figure, Table
from ringtrue.data.formats.tables import write_csv
from ringtrue.errors import InputError
from ringtrue.report.chapters import chapters
from ringtrue.report.figures import as_svg
from ringtrue.report.html import TITLE, as_html
from ringtrue.report.json import as_json
from ringtrue.report.latex import as_latex


def write_report(audits: Iterable[Audit], out: Path, title: str = TITLE, page: str = "report.html") -> list[Path]:
    """Write all files of a report into `out` and name them, the page last."""
    asked = tuple(audits)
    contents = {"result.json": as_json(asked)}
    for chapter in chapters(asked):
        for part in chapter.parts:
            if isinstance(part.section, Table):
                contents[f"{part.stem}.csv"] = as_csv(part.section)
                contents[f"{part.stem}.tex"] = as_latex(part.section, label=f"tab:{part.stem}")
            elif isinstance(part.section, Figure):
                contents[f"{part.stem}.svg"] = as_svg(part.section)
    contents[page] = as_html(asked, title, linked=True)
    try:
        out.mkdir(parents=True, exist_ok=True)
        return [_write(out / name, text) for name, text in contents.items()]
    except OSError as error:
        raise InputError(f"cannot write the report to {out}: {error.strerror}; name another folder.") from error


def as_csv(table: Table) -> str:
    """A table's raw values under its columns' names; an empty cell is no value."""
    text = io.StringIO(newline="")
    names = [column.name for column in table.columns]
    write_csv(text, chain((names,), ([_raw(cell) for cell in row] for row in table.rows)))
    return text.getvalue()


def _raw(cell: Cell) -> str | int | float | None:
    """A cell as other programs read it."""
    return str(cell).lower() if isinstance(cell, bool) else cell


def _write(path: Path, text: str) -> Path:
    """Write one file so that it is there whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        draft.write_text(text, encoding="utf-8", newline="\n")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return path
