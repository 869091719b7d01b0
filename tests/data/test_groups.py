from __future__ import annotations

import json
from pathlib import Path

import pytest

from ringtrue.data.groups import (
    find_groups,
    group_of_each,
    groups_from_prefixes,
    groups_from_tags,
    read_groups,
    read_prefixes,
)
from ringtrue.data.notes import Notes
from ringtrue.data.runs import Run, RunSet, run_names
from ringtrue.errors import FormatError, InputError, UnknownNameError


def table(folder: Path, text: str, name: str = "groups.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "run,group\na,G\nb,H\n",
        "run , group\na, G\n b ,H \n",
        "Team\tscore\tRUN\nG\t.1\ta\nH\t.2\tb\n",
        'run,note,team\na,"x, y",G\n\nb,,H\n',
    ],
)
def test_tables(tmp_path, text):
    assert read_groups(table(tmp_path, text), Notes()) == {"a": "G", "b": "H"}


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("run,score\na,1\n", InputError, "no column group or team among run, score"),
        ("run,group\na\n", FormatError, "line 2: 1 columns"),
        ("run,group\na,\n", FormatError, "line 2: a run without a group"),
        ("run,group\na,G\na,H\n", FormatError, "line 3: run 'a' is in two groups: 'G' and 'H'"),
    ],
)
def test_broken_tables(tmp_path, text, error, message):
    with pytest.raises(error, match=message):
        read_groups(table(tmp_path, text), Notes())


def test_a_run_without_a_group_is_named_with_the_nearest():
    with pytest.raises(InputError, match=r"1 of 1 runs have no group in g.csv: bm25_baseline \(did you mean"):
        group_of_each(["bm25_baseline"], {"bm25_basline": "x"}, Path("g.csv"))


def test_many_runs_without_a_group_are_named_briefly():
    names = [f"run{place}" for place in range(9)]
    with pytest.raises(InputError) as caught:
        group_of_each([*names, "x"], {"x": "X", "yyy": "Y"}, Path("g.csv"))
    assert str(caught.value) == (
        "9 of 10 runs have no group in g.csv: run0, run1, run2, run3, run4 and 4 more; the file has x, yyy; "
        "give each run a line there."
    )


def test_prefixes(tmp_path):
    content = {"one": {"groups": {"A": {"prefix": "input.a"}, "B": {"prefix": ["input.b", "x"]}}}}
    prefixes = read_prefixes(table(tmp_path, json.dumps(content), "p.json"))
    assert groups_from_prefixes(["input.a1", "xyz", "INPUT.B"], prefixes, Path("p.json")) == ("A", "B", "B")
    with pytest.raises(InputError, match=r"1 of 2 runs .* p.json: stray; the file has input.a, input.b, x;"):
        groups_from_prefixes(["stray", "xyz"], prefixes, Path("p.json"))
    with pytest.raises(InputError, match=r"fits several groups in p\.json: A, C"):
        groups_from_prefixes(["input.ab"], {"": {"A": ("input.a",), "C": ("input.ab",)}}, Path("p.json"))


def test_the_campaign_is_found_or_asked_for(tmp_path):
    both = {"one": {"A": ("a",), "B": ("b",)}, "two": {"C": ("c",)}}
    assert groups_from_prefixes(["a1", "b1"], both, Path("p.json")) == ("A", "B")
    with pytest.raises(InputError) as caught:
        groups_from_prefixes(
            ["input.ab1", "b1", "inptu.abc"],
            {"none": {"X": ("x",)}, "one": {"A": ("input.ab",), "B": ("b",)}},
            Path("p.json"),
        )
    assert str(caught.value) == (
        "p.json: none of its campaigns (none, one) fits all 3 runs; 'one' has a group for 2 of them: 1 of 3 runs "
        "have no group in p.json: inptu.abc (did you mean input.ab?); each run's name has to start with a "
        "prefix of one group."
    )
    with pytest.raises(InputError, match=r"2 campaigns fit these runs; name one as p.json#NAME: one, two"):
        groups_from_prefixes(["a1"], {"one": both["one"], "two": both["one"]}, Path("p.json"))
    with pytest.raises(UnknownNameError, match="did you mean one"):
        groups_from_prefixes(["a1"], both, Path("p.json"), "on")


@pytest.mark.parametrize("text", ["{", "[1]x", '{"a": {"groups": {"b": 1}}}'])
def test_broken_prefix_files(tmp_path, text):
    with pytest.raises(FormatError):
        read_prefixes(table(tmp_path, text, "p.json"))


def test_tags():
    assert groups_from_tags(["uogTrDPH_QE", "smith.bm25", "T5R1"]) == ("uogTrDPH", "smith", "T")
    with pytest.raises(InputError, match=r"1 of 1 tags do not start with letters.*: 123;"):
        groups_from_tags(["123"])


def test_every_kind_of_source(tmp_path):
    runs = RunSet.from_runs([Run.from_results(name, {"1": [("d", 1.0)]}) for name in ("a-1", "b-1")])
    csv = table(tmp_path, "run,team\na-1,X\nb-1,Y\n")
    prefixes = table(tmp_path, '{"A": {"prefix": "a"}, "B": {"prefix": "b"}}', "p.json")
    assert find_groups(runs, csv) == ("X", "Y")
    assert find_groups(runs, prefixes) == ("A", "B")
    assert find_groups(runs, "tags") == ("a", "b")


def test_the_466_runs_of_the_study_resolve(shared: Path):
    folder = shared / "subsampling" / "paper"
    prefixes = read_prefixes(folder / "trec-system-runs-groups.json")
    by_group = json.loads((folder / "run-names-by-group.txt").read_text(encoding="utf-8"))
    resolved = 0
    for groups in by_group.values():
        expected = {Path(path): group for group, paths in groups.items() for path in paths}
        found = groups_from_prefixes(run_names(list(expected)), prefixes, folder)
        assert found == tuple(expected.values())
        resolved += len(found)
    assert resolved == 466
