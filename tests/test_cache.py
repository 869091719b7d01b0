from __future__ import annotations

from pathlib import Path

import pytest

from ringtrue import cache


def test_folder_is_the_named_one_or_the_users(monkeypatch, tmp_path):
    monkeypatch.setenv("RINGTRUE_CACHE", str(tmp_path / "mine"))
    assert cache.folder() == tmp_path / "mine"
    monkeypatch.delenv("RINGTRUE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == tmp_path / "ringtrue"


def test_content_decides_and_names_do_not(tmp_path):
    one, two, three = (tmp_path / name for name in "abc")
    one.write_bytes(b"same")
    two.write_bytes(b"same")
    three.write_bytes(b"other")
    assert cache.content_key([one]) == cache.content_key([two])
    assert cache.content_key([one]) != cache.content_key([three])
    assert cache.content_key([one, three]) != cache.content_key([three, one])


def test_where_one_file_ends_counts(tmp_path):
    parts = {name: tmp_path / name for name in "abcd"}
    for name, raw in zip("abcd", (b"ab", b"c", b"a", b"bc"), strict=True):
        parts[name].write_bytes(raw)
    assert cache.content_key([parts["a"], parts["b"]]) != cache.content_key([parts["c"], parts["d"]])


def test_an_entry_is_made_once():
    made = []

    def make(place: Path) -> None:
        made.append(place)
        (place / "x").write_text("1")

    first = cache.entry("things", "k", make)
    assert cache.entry("things", "k", make) == first
    assert len(made) == 1 and (first / "x").read_text() == "1"


def test_a_failure_leaves_nothing_behind(own_cache):
    def fail(place: Path) -> None:
        (place / "half").write_text("1")
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        cache.entry("things", "k", fail)
    assert list((own_cache / "things").iterdir()) == []


def test_an_entry_that_another_process_made_meanwhile_is_taken(own_cache):
    def overtaken(place: Path) -> None:
        other = own_cache / "things" / "k"
        other.mkdir()
        (other / "x").write_text("theirs")
        (place / "x").write_text("ours")

    assert (cache.entry("things", "k", overtaken) / "x").read_text() == "theirs"
    assert [entry.name for entry in (own_cache / "things").iterdir()] == ["k"]
