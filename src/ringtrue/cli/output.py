"""Where results go: the options of every command that makes a report, and checks of what they name.

A target that cannot be written is found before the work, not after it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ringtrue.cli.options import Json, Quiet, refuse
from ringtrue.errors import InputError

if TYPE_CHECKING:
    from ringtrue.audit import Audit, Evidence, Section
    from ringtrue.cli.console import Talk
    from ringtrue.data.notes import Note

FAILED = 1
PAGE = "report.html"
NOTHING_KEPT = "no result was written; indexes and vectors that were finished are kept for the next time"


class Interrupted(Exception):
    """The user stopped a command; the message says what is kept. Not a KeyboardInterrupt, which Typer would eat."""


class FailOn(StrEnum):
    """From which verdict on the exit code is 1."""

    NEVER = "never"
    WARN = "warn"
    FAIL = "fail"


_FAILING = {FailOn.NEVER: (), FailOn.WARN: ("WARN", "FAIL"), FailOn.FAIL: ("FAIL",)}


def check_folder(option: typer.CallbackParam, path: Path | None) -> Path | None:
    """A folder that can be written or made; its parent has to be there."""
    if path is not None:
        if path.exists() and not path.is_dir():
            raise InputError(f"{option.opts[0]} {path}: a file is in its place; name a folder.")
        _check_writable(option, path)
    return path


def check_target(option: typer.CallbackParam, path: Path | None) -> Path | None:
    """A file, or a folder for it where the name has no ending."""
    if path is None:
        return None
    return check_file(option, path) if _names_file(path) else check_folder(option, path)


def file_of(target: Path, name: str) -> Path:
    """The file that `check_target` let pass, or the one of this name in the folder, which is made."""
    if _names_file(target):
        return target
    target.mkdir(exist_ok=True)
    return target / name


def _names_file(path: Path) -> bool:
    return not path.is_dir() and (path.exists() or path.suffix != "")


def check_file(option: typer.CallbackParam, path: Path | None) -> Path | None:
    """A file that can be written; its folder has to be there."""
    if path is not None:
        if path.is_dir():
            raise InputError(f"{option.opts[0]} {path}: is a folder; name a file.")
        _check_writable(option, path)
    return path


def _check_writable(option: typer.CallbackParam, path: Path) -> None:
    place = path if path.exists() else path.absolute().parent
    if not place.is_dir() and not path.exists():
        raise InputError(f"{option.opts[0]} {path}: there is no folder {place}; make it first.")
    if not os.access(place, os.W_OK):
        raise InputError(f"{option.opts[0]} {path}: cannot write to {place}; name another place.")


Out = Annotated[
    Path | None,
    typer.Option(
        "--out", help="Folder for results as JSON, CSV and LaTeX, figures, and the page.", callback=check_folder
    ),
]
Page = Annotated[str, typer.Option("--page", help="Name of the page in the folder of --out.")]


@dataclass(frozen=True)
class Report:
    """What a command that makes tables and figures can do with them."""

    out: Out = None
    page: Page = PAGE
    json: Json = False
    quiet: Quiet = False

    def __post_init__(self) -> None:
        """Refuse a page that cannot be written."""
        if Path(self.page).name != self.page or not self.page.endswith((".html", ".htm")):
            raise InputError(f"--page {self.page!r} should be a name such as report.html; its folder is that of --out.")
        if self.out is None and self.page != PAGE:
            refuse("without --out", page=self.page)
        if self.out is not None and (self.out / self.page).is_dir():
            raise InputError(f"--page {self.page}: a folder of that name is in {self.out}.")

    def talk(self, kept: str = NOTHING_KEPT) -> Talk:
        """What says on stderr what is being done, and after an interruption what is kept."""
        from ringtrue.cli.console import Talk

        return Talk(self.quiet, kept)

    def show(
        self,
        audits: Sequence[Audit],
        title: str,
        *,
        also: Callable[[Path], None] | None = None,
        closing: str = "",
        evidence: bool = True,
        done: Callable[[], object] = lambda: None,
    ) -> None:
        """Print the result and fill the folder that `--out` names; `also` adds files to it, `closing` a last line.

        `done` is called once nothing of the result can be lost any more.
        """
        from ringtrue.cli.console import Talk, print_result
        from ringtrue.report.files import write_report

        if self.out is not None:
            write_report(audits, self.out, title=title, page=self.page)
            if also is not None:
                also(self.out)
        print_result(audits, json=self.json, out=self.out, evidence=evidence)
        if closing and not self.json:
            typer.echo(closing)
        if self.out is not None:
            Talk(self.quiet).tell(f"results are in {self.out}; open {self.out / self.page}")
        done()
        self._leave(audits)

    def _leave(self, audits: Sequence[Audit]) -> None:
        """Nothing more to do, unless a verdict decides the exit code."""


@dataclass(frozen=True)
class VerdictReport(Report):
    """The same for results with a verdict, which may decide the exit code."""

    fail_on: Annotated[FailOn, typer.Option("--fail-on", help="Exit with 1 from this verdict on.")] = FailOn.NEVER

    def _leave(self, audits: Sequence[Audit]) -> None:
        """Leave with the exit code that the gravest verdict and `--fail-on` ask for."""
        from ringtrue.audit import gravest

        if gravest(finding for audit in audits for finding in audit.findings) in _FAILING[self.fail_on]:
            raise typer.Exit(FAILED)


def as_audits(name: str, title: str, parts: Sequence[Section], notes: Sequence[Note] = ()) -> list[Evidence]:
    """Tables as something that reports can show; nothing where there are none."""
    from ringtrue.audit import Evidence
    from ringtrue.data.notes import notes_tables
    from ringtrue.provenance import stamp

    return [Evidence(name, title, (*parts, *notes_tables(notes)), stamp())] if parts else []
