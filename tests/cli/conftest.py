from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from ringtrue.cli.app import main


class Done(NamedTuple):
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


Call = Callable[..., Done]


@pytest.fixture
def call(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Run `ringtrue` in this process, with its exit code, stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["ringtrue", *map(str, arguments)])
        out, err = io.StringIO(), io.StringIO()
        code = 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
            except SystemExit as stop:
                code = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
        return Done(code, out.getvalue(), err.getvalue())

    return run


@pytest.fixture
def process(own_cache: Path) -> Call:
    """Run `ringtrue` as a user does, in a process of its own; keyword arguments go into its environment."""

    def run(*arguments: object, **environment: str) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "ringtrue", *map(str, arguments)],
            capture_output=True,
            text=True,
            env={**os.environ, "COLUMNS": "100", **environment},
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run
