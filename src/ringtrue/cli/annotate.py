"""`ringtrue annotate`: the page on which people label."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ringtrue.cli.options import Quiet, refuse
from ringtrue.cli.output import check_file, check_folder

HOST, PORT = "127.0.0.1", 8360


def annotate(
    *,
    file: Annotated[Path, typer.Argument(help="Pairs from `leakage sample`, or variations from `robustness vary`.")],
    more: Annotated[
        list[Path] | None,
        typer.Argument(help="More people's labels of the same pairs: what they say differently is to be decided."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for the labels, a file for each person.", callback=check_folder),
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Write the labels given so far, and stop.")] = False,
    store: Annotated[
        Path | None,
        typer.Option("--store", help="Where answers are kept.  [default: beside FILE]", callback=check_file),
    ] = None,
    similarity: Annotated[bool, typer.Option(help="Show what the search said; it sways people.")] = False,
    host: Annotated[str, typer.Option("--host", help="Address to serve; 0.0.0.0 lets others in.")] = HOST,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes any that is free.")] = PORT,
    quiet: Quiet = False,
) -> None:
    """Label on a page: which candidates are leaks, or which variations are valid; Ctrl-C writes the labels."""
    from ringtrue.annotate.serve import is_local, require_packages, serve
    from ringtrue.annotate.session import Session
    from ringtrue.cli.console import Talk

    if write:
        refuse("with --write, which serves nothing", host=None if host == HOST else host)
    else:
        require_packages()  # before a file for answers is made
    talk = Talk(quiet)
    session = Session.open(file, *(more or ()), store=store, similarity=similarity)

    def ready(address: str) -> None:
        talk.tell(f"open {address} to label {len(session.work.tasks):,} tasks of {session.file}; Ctrl-C ends it")
        if not is_local(host):
            talk.tell("whoever reaches this machine can read and label; there is no password")

    if not write:
        serve(session, host, port, ready)
    folder = file.absolute().parent if out is None else out
    folder.mkdir(exist_ok=True)
    for path in session.write_all(folder):
        typer.echo(path)
    if not session.store.annotators():
        talk.tell("nobody has answered anything yet; nothing was written")
