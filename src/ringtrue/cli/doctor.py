"""`ringtrue doctor`: what is installed, what is missing, and what this machine has."""

from __future__ import annotations

import typer

from ringtrue.cli.options import Json


def doctor(json: Json = False) -> None:
    """Say what is installed and what is missing."""
    from ringtrue.cli.checkup import examine, print_checkup

    found = examine()
    if json:
        import json as encoder
        from dataclasses import asdict

        typer.echo(encoder.dumps([asdict(check) for check in found], indent=2))
    else:
        print_checkup(found)
