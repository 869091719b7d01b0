"""Back-translation by Apertium, for real where it is installed."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from ringtrue.data.records import Query
from ringtrue.errors import InputError, MissingModelError
from ringtrue.robustness.generators.apertium_back_transl import ApertiumBackTransl

installed = pytest.mark.skipif(shutil.which("apertium") is None, reason="apertium is not installed")


@pytest.fixture
def spanish() -> ApertiumBackTransl:
    made = ApertiumBackTransl()
    try:
        made.check()
    except MissingModelError as error:
        pytest.skip(str(error))
    return made


@installed
def test_there_and_back(spanish):
    queries = [Query("1", "definition declaratory judgment"), Query("2", "do goldfish grow")]
    first, second = spanish.vary_all(queries, 2, 1)
    assert first == (("definition declarative trial",), "only 1 of 2 found")
    assert second == ((), "Apertium gives the query back, or nothing")


@installed
def test_the_queries_of_a_track_do_not_mix(spanish, shared):
    lines = (shared / "collections/dl19-judged/topics.filtered.dl19.txt").read_text(encoding="utf-8").splitlines()
    queries = [Query(*line.split("\t")) for line in lines]
    together = list(spanish.vary_all(queries, 1, 1))
    assert sum(bool(outcome.texts) for outcome in together) > 25
    for place in (2, 3, 11, 27):
        assert next(iter(spanish.vary_all([queries[place]], 1, 1))) == together[place]


@installed
@pytest.mark.parametrize(
    "text", ["a ¶. b", "^car/auto$ [x] \\ @ # {y}", "line\nline", "car\x00s", "\ud800 car", "¿qué?"]
)
def test_what_means_something_to_apertium_upsets_no_other_query(spanish, text):
    queries = [Query("1", "right pelvic pain causes"), Query("2", text), Query("3", "definition declaratory judgment")]
    outcomes = list(spanish.vary_all(queries, 1, 1))
    assert outcomes[0].texts == ("causes of right pelvic ache",)
    assert outcomes[2].texts == ("definition declarative trial",)


def test_no_program_and_no_such_direction(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingModelError, match="apt-get install apertium apertium-eng-spa"):
        list(ApertiumBackTransl().vary_all([Query("1", "the sea")], 1, 1))


@installed
def test_a_language_that_is_not_installed():
    with pytest.raises(MissingModelError, match="eng-xxx"):
        ApertiumBackTransl(pivot="xxx").check()


def test_a_program_that_fails(monkeypatch):
    def run(command, **options):
        if command[-1] == "-l":
            return subprocess.CompletedProcess(command, 0, "eng-spa\nspa-eng\n", "")
        return subprocess.CompletedProcess(command, 1, "", "no memory\n")

    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(InputError, match="eng-spa failed: no memory"):
        list(ApertiumBackTransl().vary_all([Query("1", "the sea")], 1, 1))
