"""Groups of commands: help lists each with its whole first sentence, and no option is given twice in vain."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from typer.core import TyperGroup

from ringtrue.errors import InputError


class Listing(TyperGroup):
    """A group of commands whose help lists them in full."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write a line or two for each command, in the order in which they are defined."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, (one.short_help or one.help or "").split("\n\n")[0]) for name, one in found if one is not None]
        with formatter.section("Commands"):
            formatter.write_dl([(name, " ".join(words.split()).rstrip(".")) for name, words in rows])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401
        """Find a command; what it takes once it would else keep the last of, and drop the others without a word."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not isinstance(command, TyperGroup):
            _check_once(command, rest)
        return name, command, rest


def _check_once(command: Any, args: Sequence[str]) -> None:  # noqa: ANN401
    """An option with a value comes once, unless it may be repeated."""
    given = [arg.partition("=")[0] for arg in takewhile(lambda arg: arg != "--", args)]
    for option in command.params:
        once = option.param_type_name == "option" and not (option.is_flag or option.multiple)
        if once and sum(arg in option.opts for arg in given) > 1:
            raise InputError(f"{option.opts[0]} is given more than once, and would count once; give one.")
