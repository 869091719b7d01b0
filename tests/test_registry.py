from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from ringtrue.errors import InputError, MissingExtraError, UnknownNameError
from ringtrue.registry import Registry


@dataclass(frozen=True)
class Knob:
    depth: int = 10
    weight: float = 0.5
    loud: bool = False
    mode: Literal["soft", "hard"] = "soft"
    place: Path | None = None
    label: str = ""


@dataclass(frozen=True)
class Strict:
    run: str


KNOBS: Registry[object] = Registry(
    "knob",
    {
        "knob": f"{__name__}:Knob",
        "strict": f"{__name__}:Strict",
        "heavy": "a_package_that_is_not_there.module:Thing",
        "broken": "ringtrue.no_such_module:Thing",
    },
    extras={"heavy": "neural", "broken": "neural"},
)


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or __import__(__name__))


@pytest.mark.parametrize(
    ("spec", "made"),
    [
        ("knob", Knob()),
        ("knob:7", Knob(depth=7)),
        ("knob:depth=7,weight=.25", Knob(7, 0.25)),
        ("knob: loud=yes , mode=hard", Knob(loud=True, mode="hard")),
        ("knob:place=a/b", Knob(place=Path("a/b"))),
        ("knob:place=none", Knob(place=None)),
        ("knob:label=x=y", Knob(label="x=y")),
        ("strict:smith.bm25", Strict("smith.bm25")),
        ("strict:sbert:NAME;precision=bf16", Strict("sbert:NAME;precision=bf16")),
    ],
)
def test_specs_become_components(spec, made):
    assert KNOBS.parse(spec) == made


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("knop", UnknownNameError, "unknown knob 'knop'; did you mean knob"),
        ("zzz", UnknownNameError, "known: broken, heavy, knob, strict"),
        ("knob:deth=3", UnknownNameError, "option of knob 'knob': 'deth'; did you mean depth"),
        ("knob:depth=many", InputError, "depth should be a whole number, not 'many'"),
        ("knob:weight=heavy", InputError, "weight should be a number"),
        ("knob:loud=perhaps", InputError, "loud should be true or false"),
        ("knob:mode=middling", UnknownNameError, "known: hard, soft|did you mean"),
        ("knob:depth=1,7", InputError, "'7' should be key=value"),
        ("strict", InputError, "incomplete: .*'run'"),
        ("heavy", MissingExtraError, r"pip install 'ringtrue\[neural\]'"),
    ],
)
def test_mistakes_get_one_clear_message(spec, error, message):
    with pytest.raises(error, match=message):
        KNOBS.parse(spec)


def test_a_module_of_ours_that_is_missing_is_a_bug_and_not_a_missing_extra():
    with pytest.raises(ModuleNotFoundError):
        KNOBS.parse("broken")


def test_names_are_sorted():
    assert KNOBS.names() == ("broken", "heavy", "knob", "strict")
