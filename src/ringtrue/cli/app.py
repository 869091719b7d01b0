"""The `ringtrue` command: its sub-commands, and how errors become messages and exit codes.

Modules of commands import the library inside their functions, so that help does not wait for it.
"""

from __future__ import annotations

import os
import sys

import typer

from ringtrue.cli import audit, doctor, leakage, resources, robustness, subsample
from ringtrue.errors import RingtrueError
from ringtrue.provenance import version

INTERRUPTED = 130

app = typer.Typer(
    name="ringtrue",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Does your retrieval evaluation ring true? Each command writes data to stdout and talks on stderr.",
    epilog="Start with: ringtrue audit   (no files needed: it audits the built-in collection)",
)
app.command("audit")(audit.audit)
app.command("doctor")(doctor.doctor)
app.add_typer(resources.app, name="data")
app.add_typer(leakage.app, name="leakage")
app.add_typer(robustness.app, name="robustness")
app.add_typer(subsample.app, name="subsample")


@app.callback(invoke_without_command=True)
def _root(show_version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    if show_version:
        typer.echo(f"ringtrue {version('ringtrue')}")
        raise typer.Exit


def main() -> None:
    """Run the command line; every error that a user can cause ends in one message."""
    try:
        app(prog_name="ringtrue")
    except RingtrueError as error:
        typer.echo(f"ringtrue: {error}", err=True)
        sys.exit(error.exit_code)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            # the reader of our output has gone, as with `| head`; do not fail again when stdout is flushed
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        place = f" {error.filename}" if error.filename else ""
        typer.echo(f"ringtrue: cannot read or write{place}: {error.strerror or error}.", err=True)
        sys.exit(RingtrueError.exit_code)
    except KeyboardInterrupt:
        typer.echo("ringtrue: interrupted; what was finished is kept.", err=True)
        sys.exit(INTERRUPTED)
