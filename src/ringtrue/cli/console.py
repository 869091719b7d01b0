"""What commands print: data on stdout, talk on stderr."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import typer
from rich.console import Console
from rich.status import Status

from ringtrue.audit import Audit
from ringtrue.cli.output import NOTHING_KEPT, Interrupted
from ringtrue.report.json import as_json
from ringtrue.report.text import print_audits

ROWS = 12


class Talk:
    """Says on stderr what is being done: a spinner in a terminal, a line a step elsewhere."""

    def __init__(self, quiet: bool, kept: str = NOTHING_KEPT) -> None:
        """Stay silent where `quiet`; `kept` says what an interruption leaves behind."""
        self._kept = kept
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
            self.tell(message)

    def tell(self, message: str) -> None:
        """Say one thing that stays to be read, as where results are."""
        self._console.print(f"ringtrue: {message}", soft_wrap=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the spinner; an interruption ends in a line that says what is kept."""
        self._status.stop()
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            raise Interrupted(self._kept) from error


def print_result(audits: Sequence[Audit], *, json: bool, out: Path | None = None, evidence: bool = True) -> None:
    """Print audits as JSON, or as findings and tables whose long ones are cut; `out` is where they are whole."""
    if json:
        typer.echo(as_json(audits), nl=False)
    else:
        print_audits(audits, Console(highlight=False), rows=ROWS, out=out, evidence=evidence)
