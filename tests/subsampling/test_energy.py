from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from types import ModuleType

import pytest

from ringtrue.errors import InputError, MissingExtraError
from ringtrue.subsampling.energy import NOT_MEASURABLE, StageEnergy, extrapolate, measured


class FakeMeasure(IntEnum):
    CPU_ENERGY_SYSTEM_JOULES = 8
    RAM_ENERGY_SYSTEM_JOULES = 24
    GPU_ENERGY_SYSTEM_JOULES = 33
    GIT_ARCHIVE_PATH = 47


@dataclass
class FakeEntry:
    value: bytes


@pytest.fixture
def counters(monkeypatch: pytest.MonkeyPatch) -> dict[FakeMeasure, bytes]:
    """A tracker for a machine with the counters that a test puts in."""
    values: dict[FakeMeasure, bytes] = {}
    asked: dict[str, object] = {}

    class Handle:
        def stop(self) -> dict[FakeMeasure, FakeEntry]:
            return {measure: FakeEntry(value) for measure, value in values.items()}

    def start_tracking(**options: object) -> Handle:
        asked.update(options)
        assert FakeMeasure.GIT_ARCHIVE_PATH not in options["measures"]  # type: ignore[operator]
        return Handle()

    module = ModuleType("tirex_tracker")
    module.Measure, module.start_tracking = FakeMeasure, start_tracking  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tirex_tracker", module)
    return values


def test_counters_are_added(counters):
    counters |= {
        FakeMeasure.CPU_ENERGY_SYSTEM_JOULES: b"1500.5",
        FakeMeasure.RAM_ENERGY_SYSTEM_JOULES: b"null",
        FakeMeasure.GPU_ENERGY_SYSTEM_JOULES: b"2099.5",
    }
    with measured("index") as stage:
        pass
    found = stage.energy
    assert (found.cpu_joules, found.ram_joules, found.gpu_joules) == (1500.5, None, 2099.5)
    assert found.joules == 3600.0
    assert found.kwh == pytest.approx(0.001)
    assert str(found).startswith("index: 3600.0 J, ")


@pytest.mark.parametrize("value", [b"null", b"", b"{}"])
def test_no_counter_is_no_energy(counters, value):
    counters |= dict.fromkeys(list(FakeMeasure)[:3], value)
    with measured("index") as stage:
        pass
    assert stage.energy.joules is None
    assert stage.energy.kwh is None
    assert NOT_MEASURABLE in str(stage.energy)


def test_an_error_in_a_stage_comes_through_and_the_stage_has_ended(counters):
    with pytest.raises(ZeroDivisionError), measured("index") as stage:
        _ = 1 / 0
    assert stage.energy.seconds >= 0


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "tirex_tracker", None)
    with pytest.raises(MissingExtraError, match=r"ringtrue\[energy\]"), measured("index"):
        pass


def test_extrapolation_is_linear():
    assert extrapolate(0.5, 1000, 10_000) == pytest.approx(5.0)
    assert extrapolate(None, 1000, 10_000) is None
    with pytest.raises(InputError, match="0 documents"):
        extrapolate(0.5, 0, 10_000)


def test_the_real_tracker(tmp_path: Path):
    pytest.importorskip("tirex_tracker", reason="measuring needs the extra 'energy'")
    path = tmp_path / "new" / "index.yml"
    with measured("index", export=path, description="an index") as stage:
        sum(range(200_000))
    assert stage.energy.seconds > 0
    assert stage.energy.joules is None or stage.energy.joules >= 0
    text = path.read_text()
    assert "name: index" in text
    assert "schema version" in text
    assert "null J" not in text
    assert "archive" not in text
    assert [one.name for one in path.parent.iterdir()] == ["index.yml"], "nothing else is left behind"
    with pytest.raises(InputError, match="there already"), measured("index", export=path):
        pass


def test_parts_that_are_known_are_enough():
    assert StageEnergy("x", 1.0, gpu_joules=3.0).joules == 3.0
    assert StageEnergy("x", 1.0, cpu_joules=0.0).joules == 0.0
