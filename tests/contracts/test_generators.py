"""What every generator of the table promises."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
import tiny_generators
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ringtrue.data.records import Query
from ringtrue.errors import MissingError
from ringtrue.robustness.generators import GENERATORS
from ringtrue.robustness.text import key
from ringtrue.robustness.variations import write_variations
from ringtrue.robustness.vary import parse_generators, runnable, vary

CATEGORIES = {"misspelling", "naturality", "ordering", "paraphrasing", "spelling", "recorded"}
MODELS = {
    "BackTransl": "m2m100",
    "MaskedLMSwap": "bert",
    "T5DescToTitle": "t5",
    "T5QQP": "t5",
    "T5Summary": "t5",
}
LONGEST_TEST = 8  # tokens; random models never stop by themselves

QUERIES = (
    Query("1", "do goldfish grow in small tanks"),
    Query("2", "what is the colour of a hot car"),
    Query("3", "Definition of Mechanical Ventilation, please"),
    Query("4", "who drove quickly in the states?"),
    Query(
        "5", "a list of twenty words or more so that two of them are changed at once by those who take a tenth of them"
    ),
)
ODD = (
    "",
    "   ",
    "?!",
    "a",
    "I",
    "the of and",
    "👍🏽 🕯️",
    "日本の灯台",
    "маяк светит ночью",
    "हिन्दी में खोज",
    "عربي ١٢٣",
    "İstanbul ß",
    "19335",
    "x-ray don't A.B.C.",
    "\ud800",
    "a\x00b c",
    "line\nline",
    "a" * 3000,
    "lamp " * 300,
)


@pytest.fixture(scope="module")
def resources(tmp_path_factory) -> Path:
    """All that generators need, small; models only where they can be made."""
    folder = tmp_path_factory.mktemp("resources")
    tiny_generators.write_wordnet(folder / "nltk")
    tiny_generators.write_vectors(folder / "vectors.txt")
    lines = [f"{query.query_id}\t{text} {query.title}" for query in QUERIES for text in ("please", "now", "please")]
    (folder / "recorded.tsv").write_text("\n".join(lines), encoding="utf-8")
    return folder


def spec_of(name: str, folder: Path) -> str:
    """How a generator is written so that it finds the small resources."""
    if name in MODELS:
        kind = MODELS[name]
        pytest.importorskip("transformers")
        if kind == "m2m100":
            pytest.importorskip("sentencepiece")
        place = folder / kind
        if not place.exists():
            getattr(tiny_generators, f"build_{kind}")(place)
        return f"{name}:model={place}" + (",beams=2" if kind != "bert" else "")
    if name == "ApertiumBackTransl" and shutil.which("apertium") is None:
        pytest.skip("apertium is not installed")
    return {
        "WEmbedSynSwap": f"WEmbedSynSwap:vectors={folder / 'vectors.txt'}",
        "Recorded": f"Recorded:path={folder / 'recorded.tsv'}",
    }.get(name, name)


@pytest.fixture(params=GENERATORS.names())
def name(request) -> str:
    return request.param


@pytest.fixture
def generator(name, resources, monkeypatch):
    monkeypatch.setenv("NLTK_DATA", str(resources / "nltk"))
    made = GENERATORS.parse(spec_of(name, resources))
    if name in MODELS and hasattr(made, "longest"):
        monkeypatch.setattr(type(made), "longest", staticmethod(lambda tokens: min(tokens, LONGEST_TEST)))
    made.check()
    return made


def check(query: str, outcome, n: int) -> None:
    """The promises about what one query becomes."""
    texts, reason = outcome
    assert len(texts) <= n
    known = [key(text) for text in texts]
    assert key(query) not in known
    assert "" not in known
    assert len(set(known)) == len(known)
    assert bool(reason) == (len(texts) < n)


def test_varies_some_queries(generator):
    outcomes = list(generator.vary_all(QUERIES, 1, 42))
    assert len(outcomes) == len(QUERIES)
    assert any(outcome.texts for outcome in outcomes)
    for query, outcome in zip(QUERIES, outcomes, strict=True):
        check(query.title, outcome, 1)


@pytest.mark.parametrize("n", [2, 5])
def test_several_are_distinct_and_begin_with_the_one(generator, n):
    many = list(generator.vary_all(QUERIES, n, 42))
    for query, outcome, one in zip(QUERIES, many, generator.vary_all(QUERIES, 1, 42), strict=True):
        check(query.title, outcome, n)
        if n == 2 or not generator.needs.endswith(
            "model"
        ):  # models keep as many beams as are asked for, so more of them may find something better
            assert outcome.texts[:1] == one.texts


def test_any_script_any_length_and_nothing_at_all(generator):
    queries = [Query(str(number), text) for number, text in enumerate(ODD)]
    for query, outcome in zip(queries, generator.vary_all(queries, 2, 42), strict=True):
        check(query.title, outcome, 2)
        if not key(query.title):
            assert outcome == ((), "the query has no words")


def test_the_same_again_in_any_company(generator):
    together = list(generator.vary_all(QUERIES, 2, 42))
    assert list(generator.vary_all(QUERIES, 2, 42)) == together
    assert list(generator.vary_all(QUERIES[::-1], 2, 42))[::-1] == together
    assert [outcome for query in QUERIES for outcome in generator.vary_all([query], 2, 42)] == together


def test_no_queries_give_nothing(generator):
    assert list(generator.vary_all([], 1, 42)) == []


def test_making_one_does_no_work(name):
    made = GENERATORS.parse(name)
    assert set(vars(made)) == {field.name for field in dataclasses.fields(made)}
    with pytest.raises((dataclasses.FrozenInstanceError, TypeError)):
        made.anything = 1


def test_it_is_described(name):
    made = GENERATORS.parse(name)
    assert (type(made).__doc__ or "").strip()
    assert made.category in CATEGORIES
    assert isinstance(made.needs, str)


def test_the_name_reads_back(name, generator):
    assert repr(GENERATORS.parse(name)) == name
    assert GENERATORS.parse(repr(generator)) == generator
    assert repr(GENERATORS.parse(repr(generator))) == repr(generator)


def test_what_is_missing_is_said(name, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("NLTK_DATA", "")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    made = GENERATORS.parse(name)
    if not made.needs:
        made.check()
        return
    try:
        made.check()
    except MissingError as error:
        assert len(str(error)) > 20
    else:
        pytest.skip(f"what {name} needs is installed for the whole machine")


RULES = [name for name in GENERATORS.names() if not GENERATORS.parse(name).needs]
OPTIONS = ("RandomCharSub:upper=true", "QWERTYCharSub:digits=true", "RealMisspelling:source=rules", "RmvRandWords:0.5")


@pytest.mark.parametrize("spec", [*RULES, *OPTIONS])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=60) | st.text(alphabet="ab -'?.é\t", max_size=40), n=st.integers(1, 4), seed=st.integers())
def test_any_text_by_any_rule(spec, text, n, seed):
    rule = GENERATORS.parse(spec)
    query = Query("q", text)
    (outcome,) = rule.vary_all([query], n, seed)
    check(text, outcome, n)
    assert list(rule.vary_all([query], n, seed)) == [outcome]
    (one,) = rule.vary_all([query], 1, seed)
    assert outcome.texts[:1] == one.texts


@pytest.mark.parametrize("spec", ["NeighbCharSwap", "RandomCharSub", "QWERTYCharSub", "InsertChar", "RandOrderSwap"])
def test_the_seed_counts(spec):
    rule = GENERATORS.parse(spec)
    query = Query("q", "does legionella pneumophila cause pneumonia")
    found = {outcome.texts for seed in range(30) for outcome in rule.vary_all([query], 1, seed)}
    assert len(found) > 5


@pytest.mark.parametrize("spec", RULES)
def test_letters_stay_in_their_script(spec):
    for text in ("маяк светит ночью кораблям", "ελληνικα γραμματα γραφω"):
        script = {unicodedata.name(char).split()[0] for char in text if char != " "}
        (outcome,) = GENERATORS.parse(spec).vary_all([Query("q", text)], 5, 42)
        for varied in outcome.texts:
            assert {unicodedata.name(char).split()[0] for char in varied if char != " "} == script


def test_the_same_bytes_under_another_hash_seed(tmp_path, resources):
    script = (
        "import sys\n"
        "from ringtrue.data.records import Query\n"
        "from ringtrue.robustness.vary import parse_generators, vary\n"
        "from ringtrue.robustness.variations import write_variations\n"
        "queries = [Query(str(number), text) for number, text in enumerate(sys.argv[2:])]\n"
        "write_variations(sys.stdout, vary(queries, parse_generators(sys.argv[1].split()), n=3))\n"
    )
    specs = " ".join(
        [*RULES, *OPTIONS, "WNetSynSwap", "WNetSynSwap:choice=random", spec_of("WEmbedSynSwap", resources)]
    )
    outputs = set()
    for seed in ("1", "2"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "RINGTRUE_CACHE": str(tmp_path / seed),
            "NLTK_DATA": str(resources / "nltk"),
        }
        command = [sys.executable, "-c", script, specs, *(query.title for query in QUERIES)]
        outputs.add(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) > 100


def test_all_is_sorted_into_what_runs_and_what_does_not(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    generators = parse_generators(["all"])
    assert [repr(generator) for generator in generators] == list(GENERATORS.names())
    ready, missing = runnable(generators)
    assert set(RULES) <= {repr(generator) for generator in ready}
    assert {"ApertiumBackTransl", "Recorded", "T5DescToTitle", "WEmbedSynSwap"} <= {
        repr(lacking.generator) for lacking in missing
    }
    with open(tmp_path / "variations.csv", "w", encoding="utf-8", newline="") as file:
        write_variations(file, vary(QUERIES, ready))
