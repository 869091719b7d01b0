"""The `ringtrue` command: its sub-commands, and how errors become messages and exit codes.

Modules of commands import the library inside their functions, so that help does not wait for it.
"""

from __future__ import annotations

import os
import sys

import typer

from ringtrue.cli import annotate, audit, doctor, leakage, resources, robustness, subsample, train
from ringtrue.cli.listing import Listing
from ringtrue.cli.output import NOTHING_KEPT, Interrupted
from ringtrue.cli.spread import spread
from ringtrue.errors import MissingExtraError, RingtrueError
from ringtrue.provenance import version

INTERRUPTED = 130

app = typer.Typer(
    name="ringtrue",
    cls=Listing,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Does your retrieval evaluation ring true? Audits runs, judgments and training queries, and says with "
    "evidence whether their numbers mean anything. Results go to stdout, progress to stderr.",
    epilog="Start with: ringtrue audit   (no files needed: it audits the built-in collection)",
)
app.command("audit", short_help="Ask all questions at once; needs no files to try it.")(spread(audit.audit))
app.command("annotate")(annotate.annotate)
app.command("doctor")(doctor.doctor)
app.command("train")(spread(train.train))
app.add_typer(resources.app, name="data")
app.add_typer(leakage.app, name="leakage")
app.add_typer(robustness.app, name="robustness")
app.add_typer(subsample.app, name="subsample")


@app.callback(invoke_without_command=True)
def _root(show_version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    if show_version:
        typer.echo(f"ringtrue {version('ringtrue')}")
        raise typer.Exit


_NEURAL = {"model2vec", "safetensors", "sentence_transformers", "tokenizers", "torch", "transformers"}


def main() -> None:
    """Run the command line; every error that a user can cause ends in one message."""
    try:
        app(prog_name="ringtrue")
    except RingtrueError as error:
        typer.echo(f"ringtrue: {error}", err=True)
        sys.exit(error.exit_code)
    except ModuleNotFoundError as error:
        if error.name not in _NEURAL:
            raise
        missing = MissingExtraError("this command", "neural")
        typer.echo(f"ringtrue: {missing}", err=True)
        sys.exit(missing.exit_code)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            # the reader of our output has gone, as with `| head`; do not fail again when stdout is flushed
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        place = f" {error.filename}" if error.filename else ""
        typer.echo(f"ringtrue: cannot read or write{place}: {error.strerror or error}.", err=True)
        sys.exit(RingtrueError.exit_code)
    except (Interrupted, KeyboardInterrupt) as stop:
        typer.echo(f"ringtrue: interrupted; {str(stop) or NOTHING_KEPT}.", err=True)
        sys.exit(INTERRUPTED)
    except SystemExit as stop:
        if stop.code == INTERRUPTED:  # Typer has eaten an interruption
            typer.echo(f"ringtrue: interrupted; {NOTHING_KEPT}.", err=True)
        raise
