"""Audits on a console: readable in 80 columns, in a pipe and without colour.

No row is cut unless `rows` or `evidence` asks for it, and then what is missing is counted. A table too wide for the
console is printed in blocks of columns, as `grids` lays them out.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text as Words

from ringtrue.audit import Audit, Figure, Finding, Table, Text, Verdict
from ringtrue.provenance import Provenance
from ringtrue.report.cells import MISSING, cell_text, interval_words, number, setting
from ringtrue.report.chapters import Chapter, Part, chapters, overall
from ringtrue.report.grids import grids
from ringtrue.report.strips import figure_rows

_STYLES = {
    Verdict.PASS: "bold #ffffff on green4",
    Verdict.UNKNOWN: "bold #ffffff on grey37",
    Verdict.WARN: "bold black on orange1",
    Verdict.FAIL: "bold #ffffff on red3",
}
_MEASURE = 100


def print_audit(audit: Audit, console: Console, *, rows: int | None = None, out: Path | None = None) -> None:
    """Print one audit; `rows` cuts tables, and `out` names the folder that holds them whole."""
    for chapter in chapters([audit]):
        _print_chapter(chapter, console, rows, out)


def print_audits(
    audits: Iterable[Audit],
    console: Console,
    *,
    rows: int | None = None,
    out: Path | None = None,
    evidence: bool = True,
) -> None:
    """Print audits one after the other, and their verdicts together where there are several.

    Without `evidence` there are findings only, and a word on how much there is behind them.
    """
    parts = chapters(audits)
    for chapter in parts:
        if evidence:
            _print_chapter(chapter, console, rows, out)
        else:
            _print_findings(chapter, console, out)
    if len(parts) != 1:
        _print_overview(parts, console)


def as_text(audits: Iterable[Audit], width: int = 100, *, rows: int | None = None, out: Path | None = None) -> str:
    """What `print_audits` prints, without colour, as a string."""
    file = io.StringIO()
    console = Console(file=file, width=width, color_system=None, legacy_windows=False, force_terminal=False)
    print_audits(audits, console, rows=rows, out=out)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def _print_findings(chapter: Chapter, console: Console, out: Path | None) -> None:
    """One audit's verdict and findings."""
    _print_head(chapter, console)
    sections = [part.section for part in chapter.parts]
    kinds = {
        "table": sum(isinstance(one, Table) for one in sections),
        "figure": sum(isinstance(one, Figure) for one in sections),
    }
    counts = " and ".join(f"{count} {kind}{'s' * (count > 1)}" for kind, count in kinds.items() if count)
    where = f"in {out}" if out else "(--tables prints them, --out DIR writes them)"
    console.print(Words(f"\nEvidence: {counts} {where}\n" if counts else "", "dim"))


def _print_chapter(chapter: Chapter, console: Console, rows: int | None, out: Path | None) -> None:
    """One audit, from its verdict to its provenance."""
    _print_head(chapter, console)
    for part in chapter.parts:
        console.print()
        _print_part(part, console, rows, out)
    console.print()
    console.print(Words(_made_from(chapter.provenance), "dim"))
    console.print()


def _print_head(chapter: Chapter, console: Console) -> None:
    """The question with its verdict and the findings that gave it."""
    console.rule(style="dim", characters="-" if console.options.ascii_only else "─")
    if chapter.findings:
        console.print(Words.assemble(_badge(chapter.verdict, console), "  ", (chapter.title, "bold")))
        console.print()
        console.print(_findings(chapter.findings, console))
    else:
        console.print(Words(chapter.title, "bold"))


def _print_overview(parts: tuple[Chapter, ...], console: Console) -> None:
    """All verdicts together."""
    grid = Grid.grid(padding=(0, 2))
    grid.add_row(_badge(overall(parts), console), Words("all questions asked", "bold"))
    for chapter in parts:
        grid.add_row(_badge(chapter.verdict, console) if chapter.findings else Words(""), Words(chapter.title))
    console.rule(style="dim", characters="-" if console.options.ascii_only else "─")
    console.print(grid)


def _badge(verdict: Verdict, console: Console) -> Words:
    """A verdict on its colour, or in brackets where there is none."""
    if console.color_system is None:
        return Words(f"[{verdict}]")
    return Words(f" {verdict} ", _STYLES[verdict])


def _findings(findings: tuple[Finding, ...], console: Console) -> Grid | Words:
    """Each finding with what was seen and its rule."""
    if not findings:
        return Words("No rule was applied: what was given cannot answer this question.", "italic")
    grid = Grid.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(max_width=_MEASURE)
    for place, finding in enumerate(findings):
        if place:
            grid.add_row()
        heading = Words(finding.name, "bold")
        if finding.figure is not None:
            heading.append(f": {number(finding.figure)}")
        if finding.interval is not None:
            heading.append(f" ({interval_words(finding.interval)})", "not bold")
        grid.add_row(_badge(finding.verdict, console), heading)
        grid.add_row("", Words(finding.seen))
        grid.add_row("", Words.assemble(("Rule: ", "dim bold"), (finding.rule, "dim")))
    return grid


def _print_part(part: Part, console: Console, rows: int | None, out: Path | None) -> None:
    """One section under its title."""
    section = part.section
    console.print(Words(section.title, "bold underline" if console.color_system else ""))
    if isinstance(section, Text):
        console.print(Words(section.body), width=min(console.width, _MEASURE))
        return
    if isinstance(section, Figure):
        _print_figure(section, part.stem, console, rows, out)
    else:
        _print_table(section, f"{part.stem}.csv", console, rows, out)
    legend = _legend(section) if isinstance(section, Table) and section.rows else ""
    for words in filter(None, (section.note, legend)):
        console.print(Words(words, "dim"), width=min(console.width, _MEASURE))


def _legend(table: Table) -> str:
    """What the columns are whose headers do not say it all."""
    told = [f"{column.header}: {column.help}" for column in table.columns if column.help]
    return f"{'; '.join(told)}." if told else ""


def _print_figure(figure: Figure, stem: str, console: Console, rows: int | None, out: Path | None) -> None:
    """A figure in characters."""
    drawn = figure_rows(figure, console.width, console.options.ascii_only)
    if drawn.rows:
        _print_table(drawn, f"{stem}.svg", console, rows, out)
    else:
        console.print(Words("There is nothing to draw.", "italic"))


def _print_table(table: Table, file: str, console: Console, rows: int | None, out: Path | None) -> None:
    """A table, whole or cut to `rows` with a word on the rest, which lies in `file`."""
    if not table.rows:
        console.print(Words("There are no rows.", "italic"))
        return
    chosen = table.rows if rows is None else table.rows[:rows]
    texts = [[cell_text(cell, column) for cell, column in zip(row, table.columns, strict=True)] for row in chosen]
    if console.options.ascii_only:
        texts = [[text.replace(MISSING, "-") for text in row] for row in texts]
    for place, grid in enumerate(grids(table, texts, console.width)):
        if place:
            console.print()
        console.print(grid)
    if len(chosen) < len(table.rows):
        left = len(table.rows) - len(chosen)
        where = f"in {out / file}" if out else "(--out DIR writes them all)"
        dots = "..." if console.options.ascii_only else "…"
        console.print(Words(f"{dots} and {left:,} more {'row' if left == 1 else 'rows'} {where}", "dim"))


def _made_from(provenance: Provenance) -> str:
    """Versions and settings in one line."""
    settings = ", ".join(f"{name}={setting(value)}" for name, value in sorted(provenance.settings.items()))
    made = f"ringtrue {provenance.ringtrue}, Python {provenance.python}"
    return f"{made}; {settings}" if settings else made
