from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from types import ModuleType

import pytest

from ringtrue import cache
from ringtrue.data.load import load
from ringtrue.errors import InputError, MissingExtraError
from ringtrue.retrieval.pipeline import parse_ranker
from ringtrue.subsampling.energy import NOT_MEASURABLE, Meter, Metered, StageEnergy, extrapolate, measured
from ringtrue.subsampling.energy_table import energy_json, energy_table
from ringtrue.subsampling.mimic import kwh_per_document, mimic


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


def test_a_table_of_stages_with_the_full_corpus():
    stages = [Metered(StageEnergy("index", 2.0, cpu_joules=7200.0), 100), Metered(StageEnergy("search", 1.0), 100)]
    table = energy_table(stages, 1_000_000)
    assert table.rows[0] == (
        "index",
        100,
        2.0,
        "7200.0 J",
        pytest.approx(0.002),
        pytest.approx(2e-5),
        pytest.approx(20),
    )
    assert table.rows[1] == ("search", 100, 1.0, NOT_MEASURABLE, None, None, None)
    assert "1,000,000 documents" in table.note and NOT_MEASURABLE not in table.note
    assert NOT_MEASURABLE in energy_table(stages[1:], 10).note
    first, second = json.loads(energy_json(stages))["stages"]
    assert (first["kwh"], first["ram_joules"], second["joules"]) == (pytest.approx(0.002), None, None)


def test_what_rankers_take_is_measured_from_an_index_made_anew(counters, own_cache):
    counters |= {FakeMeasure.CPU_ENERGY_SYSTEM_JOULES: b"36"}
    lighthouse = load("builtin:lighthouse")
    ids = [document.doc_id for document in lighthouse.documents()][:50]
    mimic(lighthouse, ["bm25"], [("fifty", ids)])
    kept = {path for path in own_cache.rglob("*") if path.is_file()}
    meter = Meter()
    mimic(lighthouse, ["bm25", "biencoder:hashing"], [("fifty", ids)], meter=meter)
    assert [(stage.energy.stage, stage.documents) for stage in meter.stages] == [
        (f"{stage}: {ranker} on {what}", documents)
        for ranker in ("bm25", "biencoder:hashing")
        for what, documents in (("everything", 336), ("fifty", 50))
        for stage in ("index", "search")
    ]
    assert {path for path in own_cache.rglob("*") if path.is_file()} == kept, "what is measured is not kept"
    assert kwh_per_document(parse_ranker("bm25"), lighthouse, 100) == pytest.approx(2 * 36 / 3.6e6 / 100)


def test_a_rate_is_never_invented(counters):
    with pytest.raises(InputError, match="bm25 is not measurable on this machine"):
        kwh_per_document(parse_ranker("bm25"), load("builtin:lighthouse"), 20)


def test_a_cold_cache_is_forgotten(own_cache):
    def make(folder: Path) -> None:
        (folder / "file").write_text("x")

    warm = cache.entry("kind", "name", make)
    with cache.cold():
        cold = cache.entry("kind", "name", make)
        assert cold != warm and cache.entry("kind", "name", make) == cold
    assert not cold.exists() and cache.entry("kind", "name", make) == warm


def test_files_of_stages_are_numbered_and_replaced(tmp_path: Path):
    pytest.importorskip("tirex_tracker", reason="measuring needs the extra 'energy'")
    for _ in range(2):
        meter = Meter(tmp_path / "energy")
        for name in ("index: bm25 >> rm3", "search"):
            with meter.stage(name, 5):
                pass
    assert sorted(path.name for path in (tmp_path / "energy").iterdir()) == [
        "01-index-bm25-rm3.ir_metadata.yml", "02-search.ir_metadata.yml"
    ]  # fmt: skip
    with pytest.raises(ZeroDivisionError), Meter(tmp_path / "failed").stage("x", 5):
        _ = 1 / 0
    assert not (tmp_path / "failed").exists()
