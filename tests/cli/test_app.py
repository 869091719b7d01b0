"""The command line as a whole: help, documentation, doctor."""

from __future__ import annotations

import importlib.util
import json
import tomllib
from pathlib import Path

import pytest
import typer

from ringtrue.cli.app import app, main

ROOT = Path(__file__).resolve().parents[2]


def commands(command: object, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if hasattr(command, "commands"):
        return [found for name, child in command.commands.items() for found in commands(child, (*path, name))]
    return [path]


ALL = commands(typer.main.get_command(app))


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_has_help_and_is_documented(call, path):
    done = call(*path, "--help")
    assert done.returncode == 0 and "--help" in done.stdout
    reference = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert f"## ringtrue {' '.join(path)}\n" in reference


def test_a_mistyped_command_exits_with_2(call):
    done = call("adit")
    assert done.returncode == 2 and "No such command" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "option"),
    [(("audit", "--train", "a.tsv", "--train=b.tsv"), "--train"), (("leakage", "search", "--k", 1, "--k", 2), "--k")],
)
def test_what_is_taken_once_is_refused_twice(call, arguments, option):
    done = call(*arguments)
    assert done.returncode == 2 and f"{option} is given more than once" in done.stderr


def test_version(call):
    assert call("--version").stdout.startswith("ringtrue 0.")


def test_doctor_says_what_is_there(call):
    done = call("doctor")
    assert done.returncode == 0 and "builtin:lighthouse" in done.stdout
    checks = json.loads(call("doctor", "--json").stdout)
    found = {(check["area"], check["name"]): check for check in checks}
    assert found["data", "builtin:lighthouse"]["detail"] == "336 documents, 50 topics"
    assert found["package", "numpy"]["state"] == "ok"
    assert all(check["state"] in ("ok", "missing", "broken") and check["detail"] for check in checks)


def test_doctor_is_truthful_about_extras(call, monkeypatch):
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    lines = [f'{line}; extra == "{extra}"' for extra, some in declared.items() for line in some]
    monkeypatch.setattr(
        "importlib.metadata.requires", lambda name: ["numpy>=999", *lines, 'no-such>=1; extra == "warc"']
    )
    checks = {(one["area"], one["name"]): one for one in json.loads(call("doctor", "--json").stdout)}
    extras = {name: one for (area, name), one in checks.items() if area == "extra"}
    assert set(extras) == set(declared) - {"all", "dev", "bench"}
    assert extras["warc"]["state"] == "missing" and "no-such" in extras["warc"]["detail"]
    assert checks["package", "numpy"]["state"] == "broken" and "too old" in checks["package", "numpy"]["detail"]
    monkeypatch.setattr("importlib.metadata.requires", lambda name: [])
    checks = json.loads(call("doctor", "--json").stdout)
    assert all(one["state"] == "missing" for one in checks if one["area"] == "extra")


def test_the_command_reference_is_up_to_date():
    spec = importlib.util.spec_from_file_location("build", ROOT / "docs" / "build.py")
    assert spec and spec.loader
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    assert build.PAGE.read_text(encoding="utf-8") == build.render(), "run: make docs"


def test_a_command_without_its_extra_names_it(monkeypatch, capsys):
    def fail(**_options):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr("ringtrue.cli.app.app", fail)
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 3 and "pip install 'ringtrue[neural]'" in capsys.readouterr().err
