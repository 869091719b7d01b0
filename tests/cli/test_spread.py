from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from ringtrue.cli.spread import spread


@dataclass(frozen=True)
class Place:
    """A set with a default."""

    shelf: Annotated[str, typer.Option("--shelf", help="Which shelf.")] = "top"
    row: Annotated[int, typer.Option("--row", "-r")] = 1


@dataclass(frozen=True)
class Exact(Place):
    """A set that adds an option to another."""

    depth: Annotated[float, typer.Option("--depth")] = 0.5


def run(command, *arguments):
    app = typer.Typer(rich_markup_mode=None)
    app.command()(command)
    return CliRunner().invoke(app, arguments)


def test_a_set_becomes_one_option_a_field():
    @spread
    def put(*, thing: str, place: Exact, often: Annotated[bool, typer.Option("--often")] = False) -> None:
        """Put a thing somewhere."""
        typer.echo(f"{thing} {place} {often}")

    assert run(put, "book").stdout == "book Exact(shelf='top', row=1, depth=0.5) False\n"
    given = run(put, "book", "-r", "3", "--often", "--shelf", "low", "--depth", "2")
    assert given.stdout == "book Exact(shelf='low', row=3, depth=2.0) True\n"
    assert run(put, "book", "--row", "many").exit_code == 2
    shown = run(put, "--help").stdout
    assert "Put a thing somewhere." in shown and "Which shelf." in shown and "place" not in shown.lower().split()


def test_a_command_without_sets_stays_as_it_is():
    @spread
    def say(*, word: str) -> None:
        """Say a word."""
        typer.echo(word)

    assert run(say, "hello").stdout == "hello\n"
