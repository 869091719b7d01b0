"""Write docs/commands.md from the command line itself, and the outputs that README and docs show.

`make docs` calls it. A text between `<!-- output:ARGUMENTS -->` and `<!-- /output -->` is what `ringtrue ARGUMENTS`
prints, cut after `| LINES`, or the last lines where the number is negative.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from ringtrue.cli.app import app

PAGE = Path(__file__).parent / "commands.md"
HEAD = """# Commands

Made from `--help` by `make docs`. Every command writes data to stdout and talks on stderr.

| exit code | means |
|---|---|
| 0 | done |
| 1 | the verdict is as bad as `--fail-on` names |
| 2 | bad input or usage; one message says what, where and what to do |
| 3 | a package, model or resource has to be installed first; the message has the line |
| 130 | interrupted; what was finished is kept |
"""


def commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:  # noqa: ANN401
    """All commands below one, in order of name."""
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name in sorted(command.commands):
        yield from commands(command.commands[name], (*path, name))


def options(command: Any) -> Iterator[str]:  # noqa: ANN401
    """A row for each argument and option but `--help`."""
    for parameter in command.params:
        names = ", ".join(f"`{name}`" for name in parameter.opts if name.startswith("-")) or f"`{parameter.name}`"
        words = (getattr(parameter, "help", None) or "").replace("|", "\\|")
        default = parameter.default
        if default not in (None, False, ()) and not callable(default) and "default" not in words:
            words += f" [default: {getattr(default, 'value', default)}]"
        if names != "`--help`":
            yield f"| {names} | {words} |"


def render() -> str:
    """The page."""
    parts = [HEAD]
    for path, command in commands(typer.main.get_command(app), ("ringtrue",)):
        rows = list(options(command))
        table = "\n| option | what |\n|---|---|\n" + "\n".join(rows) + "\n" if rows else ""
        parts.append(f"\n## {' '.join(path)}\n\n{(command.help or '').strip()}\n{table}")
    return "".join(parts)


def refresh(text: str) -> str:
    """The text with each shown output made again."""

    def again(found: re.Match[str]) -> str:
        arguments, _, lines = found[1].partition("|")
        command = [sys.executable, "-m", "ringtrue", *arguments.split()]
        environment = {**os.environ, "COLUMNS": "100"}
        printed = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
        kept, count = printed.rstrip().splitlines(), int(lines.strip() or 0)
        kept = kept[count:] if count < 0 else kept[: count or None]
        body = "\n".join(line.rstrip() for line in kept)
        return f"<!-- output:{found[1]} -->\n```\n{body}\n```\n<!-- /output -->"

    return re.sub(r"<!-- output:(.*?) -->.*?<!-- /output -->", again, text, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    for page in (PAGE.parents[1] / "README.md", *sorted(PAGE.parent.glob("*.md"))):
        page.write_text(refresh(page.read_text(encoding="utf-8")), encoding="utf-8")
