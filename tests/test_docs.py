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


def command_lines(page: Path) -> list[tuple[int, str]]:
    """All lines that call ringtrue, with their numbers: in blocks, between backticks, and of shown outputs."""
    text = page.read_text(encoding="utf-8")
    found = [(number(text, match), f"ringtrue {match[1]}") for match in SHOWN.finditer(text)]
    text = OUTPUT.sub(blank, text)
    for block in FENCE.finditer(text):
        for place, line in enumerate(block[1].splitlines(), start=number(text, block) + 1):
            if re.match(r"\s*ringtrue [a-z]", line):
                found.append((place, line.strip()))
    text = FENCE.sub(blank, text)
    return found + [(number(text, match), " ".join(match[1].split())) for match in INLINE.finditer(text)]


def number(text: str, match: re.Match[str]) -> int:
    """The line that a match starts on."""
    return text.count("\n", 0, match.start()) + 1


def blank(match: re.Match[str]) -> str:
    """Empty lines in place of a match, so that what follows keeps its number."""
    return "\n" * match[0].count("\n")


def first_lines(page: Path) -> dict[str, int]:
    """Each command line once, with the number of the line where it first stands."""
    lines: dict[str, int] = {}
    for place, line in command_lines(page):
        lines.setdefault(line, place)
    return lines


CASES = [
    (page.relative_to(ROOT).as_posix(), line, place) for page in PAGES for line, place in first_lines(page).items()
]


def parse(line: str, where: str) -> None:
    """Walk the words down to a command, and check the names of its options; values are left alone."""
    words = shlex.split(line, comments=True)[1:]
    command = ROOT_COMMAND
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        assert words[0] in command.commands, f"{where}: {line}: there is no command {words[0]!r}"
        command = command.commands[words.pop(0)]
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)} | {"--help"}
    for word in words:
        if re.match(r"--?[a-z]", word):
            assert word.partition("=")[0] in known, f"{where}: {line}: there is no option {word}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_linked_files_exist(page):
    text = FENCE.sub(blank, page.read_text(encoding="utf-8"))
    for link in LINK.finditer(text):
        target = link[1]
        if "://" not in target and not target.startswith(("#", "mailto:")):
            where = f"{page.relative_to(ROOT).as_posix()}, line {number(text, link)}"
            assert (page.parent / target.partition("#")[0]).exists(), f"{where}: links to {target}, which is not there"


@pytest.mark.parametrize(("page", "line", "place"), CASES, ids=[f"{page}: {line}" for page, line, _ in CASES])
def test_command_lines_parse(page, line, place):
    parse(line, f"{page}, line {place}")


def test_enough_was_found():
    assert len(CASES) > 40, "the patterns above no longer find the commands"


@pytest.mark.parametrize("line", ["ringtrue adit", "ringtrue leakage serch", "ringtrue audit --ecoder hashing"])
def test_wrong_lines_are_told(line):
    with pytest.raises(AssertionError, match=r"page\.md, line 7: ringtrue"):
        parse(line, "page.md, line 7")


def test_line_numbers_are_those_of_the_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# One\n```\nringtrue audit\n```\n<!-- output:doctor | 3 -->\n```\nringtrue shown\n```\n<!-- /output -->\n\n"
        "See `ringtrue leakage search`.\n"
    )
    assert sorted(command_lines(page)) == [
        (3, "ringtrue audit"),
        (5, "ringtrue doctor "),
        (11, "ringtrue leakage search"),
    ]
