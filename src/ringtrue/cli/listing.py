"""The list of commands in help: each with its whole first sentence, where Typer would cut it."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


class Listing(TyperGroup):
    """A group of commands whose help lists them in full."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write a line or two for each command, in the order in which they are defined."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, (one.short_help or one.help or "").split("\n\n")[0]) for name, one in found if one is not None]
        with formatter.section("Commands"):
            formatter.write_dl([(name, " ".join(words.split()).rstrip(".")) for name, words in rows])
