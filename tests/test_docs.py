"""Links and command lines in the documentation: what they name is there. No command is run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from ringtrue.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "benchmarks" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTPUT = re.compile(r"<!-- output:.*?<!-- /output -->", re.DOTALL)
SHOWN = re.compile(r"<!-- output:([^|>]*?)(?:\|.*?)? -->")
INLINE = re.compile(r"`(ringtrue [a-z][^`]*)`")
ROOT_COMMAND = typer.main.get_command(app)


def command_lines(page: Path) -> list[str]:
    """All lines that call ringtrue: in blocks, between backticks, and of shown outputs."""
    text = page.read_text(encoding="utf-8")
    found = [f"ringtrue {arguments}" for arguments in SHOWN.findall(text)]
    text = OUTPUT.sub("", text)
    for block in FENCE.findall(text):
        found += [line.strip() for line in block.splitlines() if re.match(r"\s*ringtrue [a-z]", line)]
    return found + [" ".join(line.split()) for line in INLINE.findall(FENCE.sub("", text))]


CASES = [(page.relative_to(ROOT).as_posix(), line) for page in PAGES for line in dict.fromkeys(command_lines(page))]


def parse(line: str) -> None:
    """Walk the words down to a command, and check the names of its options; values are left alone."""
    words = shlex.split(line, comments=True)[1:]
    command = ROOT_COMMAND
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        assert words[0] in command.commands, f"{line}: no command {words[0]!r}"
        command = command.commands[words.pop(0)]
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)} | {"--help"}
    for word in words:
        if re.match(r"--?[a-z]", word):
            assert word.partition("=")[0] in known, f"{line}: no option {word}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_linked_files_exist(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        if "://" not in target and not target.startswith(("#", "mailto:")):
            assert (page.parent / target.partition("#")[0]).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize(("page", "line"), CASES, ids=[f"{page}: {line}" for page, line in CASES])
def test_command_lines_parse(page, line):
    parse(line)


def test_enough_was_found():
    assert len(CASES) > 40, "the patterns above no longer find the commands"


@pytest.mark.parametrize("line", ["ringtrue adit", "ringtrue leakage serch", "ringtrue audit --ecoder hashing"])
def test_wrong_lines_are_told(line):
    with pytest.raises(AssertionError):
        parse(line)
