from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ringtrue.audit import Table
from ringtrue.data.collection import Collection
from ringtrue.errors import FormatError, InputError
from ringtrue.leakage.trainsets.account import account_of, in_words
from ringtrue.leakage.trainsets.build import build_trainsets
from ringtrue.leakage.trainsets.files import read_trainsets, write_trainsets
from ringtrue.leakage.trainsets.records import Settings, Trainsets


@pytest.fixture
def made(world: Collection) -> Trainsets:
    settings = Settings(kinds=("none", "test"), sizes=(16, 32), encoder="hashing")
    return build_trainsets(world, world, settings=settings)


def _bytes(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_what_is_written_is_read_back_and_the_same_bytes_come_again(
    made: Trainsets, world: Collection, tmp_path: Path
) -> None:
    write_trainsets(tmp_path / "a", made)
    assert read_trainsets(tmp_path / "a") == made
    again = build_trainsets(world, world, settings=made.settings)
    write_trainsets(tmp_path / "b", again)
    assert _bytes(tmp_path / "a") == _bytes(tmp_path / "b")


def test_every_set_has_its_account(made: Trainsets, tmp_path: Path) -> None:
    write_trainsets(tmp_path, made)
    account = json.loads((tmp_path / "sets" / "test-32.json").read_text())
    lines = (tmp_path / "sets" / "test-32.jsonl").read_text().splitlines()
    assert account["instances"] == 2 * account["queries"] == 2 * len(lines) == 32
    assert sum(account["by_origin"].values()) == 16
    words = (tmp_path / "sets" / "test-32.txt").read_text()
    assert words == in_words(made.find("test", 32), made)
    assert "Test topics: 8 times, 4 topics." in words
    assert "No query of the rest is above 0.66" in words


def test_tables(made: Trainsets) -> None:
    parts = {part.name: part for part in account_of(made).sections()}
    sets = parts["sets"]
    assert isinstance(sets, Table)
    assert [row[:3] for row in sets.rows] == [
        ("No leakage", 16, 8), ("No leakage", 32, 16), ("Test leakage", 16, 8), ("Test leakage", 32, 16),
    ]  # fmt: skip
    assert {"sources", "making", "nearest", "skipped"} <= parts.keys()


def test_sets_that_were_there_before_are_replaced_as_a_whole(made: Trainsets, tmp_path: Path) -> None:
    write_trainsets(tmp_path / "new", made)
    write_trainsets(tmp_path / "used", replace(made, sets=(*made.sets, replace(made.sets[0], instances=64))))
    (tmp_path / "used" / "sets" / "mine.txt").write_text("a note of somebody")
    assert (tmp_path / "used" / "sets" / "none-64.jsonl").is_file()
    write_trainsets(tmp_path / "used", made)
    assert _bytes(tmp_path / "used").keys() == {*_bytes(tmp_path / "new"), "sets/mine.txt"}


def test_broken_folders(made: Trainsets, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no training sets"):
        read_trainsets(tmp_path)
    write_trainsets(tmp_path, made)
    path = tmp_path / "documents.jsonl"
    path.write_text(path.read_text().replace("patience", "impatience"))
    with pytest.raises(InputError, match="were changed"):
        read_trainsets(tmp_path)
    path.unlink()
    with pytest.raises(InputError, match="is missing"):
        read_trainsets(tmp_path)
    (tmp_path / "trainsets.json").write_text("{}")
    with pytest.raises(FormatError, match="not what"):
        read_trainsets(tmp_path)
