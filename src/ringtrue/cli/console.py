"""What commands print: data on stdout, talk on stderr."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import typer
from rich.console import Console
from rich.status import Status

from ringtrue.audit import Audit
from ringtrue.report.files import write_report
from ringtrue.report.json import as_json
from ringtrue.report.text import print_audits

ROWS = 12


class Talk:
    """Says on stderr what is being done: a spinner in a terminal, a line a step elsewhere."""

    def __init__(self, quiet: bool) -> None:
        """Stay silent where `quiet`."""
        self._console = Console(stderr=True, quiet=quiet, highlight=False, markup=False, emoji=False)
        self._status = Status("", console=self._console)

    def __enter__(self) -> Talk:
        """Start the spinner."""
        if self._console.is_terminal:
            self._status.start()
        return self

    def __call__(self, message: str) -> None:
        """Say one thing."""
        if self._console.is_terminal:
            self._status.update(message)
        else:
            self._console.print(f"ringtrue: {message}", soft_wrap=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the spinner."""
        self._status.stop()


def show(
    audits: Sequence[Audit],
    title: str,
    *,
    out: Path | None,
    page: str,
    json: bool,
    quiet: bool,
) -> None:
    """Print the audits as tables (long ones cut, and said so) or JSON, and write the folder that `--out` names."""
    written = write_report(audits, out, title=title, page=page) if out is not None else []
    if json:
        typer.echo(as_json(audits), nl=False)
    else:
        print_audits(audits, Console(highlight=False), rows=ROWS, out=out)
    if out is not None:
        Console(stderr=True, quiet=quiet, highlight=False, markup=False, emoji=False).print(
            f"ringtrue: {len(written)} files written to {out}; open {out / page}", soft_wrap=True
        )
