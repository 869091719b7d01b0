"""What every ranker of the catalog promises."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
import ranker_specs

from ringtrue.data.collection import Collection
from ringtrue.data.records import Document, Query
from ringtrue.data.runs import Run
from ringtrue.errors import MissingExtraError
from ringtrue.retrieval.catalog import RANKERS
from ringtrue.retrieval.neural.models import MODELS
from ringtrue.retrieval.pipeline import family, parse_ranker

SEARCH_AGAIN = {"clickrm3", "rm3"}  # take candidates as feedback and may add documents: said in their docstring

TEXTS = {
    "p1": "The lighthouse keeper lit the lamp at dusk, and the lamp burned until dawn.",
    "p2": "Ships steer by the light of a lighthouse when fog hides the coast.",
    "p10": "A keeper of bees sells honey at the coast.",
    "p3": "Fog signals warn ships where no light is seen.",
    "p4": "",
    "p5": "日本の灯台は海岸に立つ。",
    "p6": "Маяк светит кораблям ночью; маяк стоит один.",
    "p7": "Ships steer by the light of a lighthouse when fog hides the coast.",
    "p8": "Lamps, lamps, lamps! 🕯️🕯️",
    "p9": "Bread is baked before dawn.",
}
QUERIES = (
    Query("q1", "lighthouse keeper lamp"),
    Query("q2", "ships ships in fog"),
    Query("q3", "маяк ночью"),
    Query("q4", "灯台"),
)


COLLECTION = Collection.from_records("texts", [Document(*item) for item in TEXTS.items()], QUERIES)


def installed() -> list[str]:
    """The rankers that can be made here; only those of an extra that is not installed are left out."""
    found = []
    for name in RANKERS.names():
        try:
            RANKERS.find(name)
        except MissingExtraError:
            continue
        found.append(name)
    return found


@pytest.fixture(params=RANKERS.names())
def name(request) -> str:
    if request.param not in installed():
        pytest.skip(f"the extra of {request.param} is not installed")
    return request.param


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("rankers")
    ranker_specs.write_specs(place, TEXTS)
    return place


@pytest.fixture
def spec(name, folder) -> str:
    return json.loads((folder / "specs.json").read_text()).get(name, name)


@pytest.fixture
def ranker(spec):
    return parse_ranker(spec)


def same(one, other, rounded: bool) -> bool:
    """Whether two rankings are equal; `rounded` where networks with padding may differ in the last bits of scores."""
    if not rounded:
        return one == other
    scores = [{line.doc_id: line.score for line in ranking} for ranking in (one, other)]
    return scores[0] == pytest.approx(scores[1], rel=1e-4, abs=1e-5)


def test_finds_something(ranker):
    run = ranker.rank(COLLECTION, QUERIES)
    assert run.topics == ("q1", "q2", "q3", "q4")
    if family(ranker) == "lexical":
        assert {line.doc_id for line in run.ranking("q3")} == {"p6"}
        assert {line.doc_id for line in run.ranking("q4")} == {"p5"}


def test_the_same_again(ranker):
    assert ranker.rank(COLLECTION, QUERIES) == ranker.rank(COLLECTION, QUERIES)


def test_a_query_is_ranked_the_same_whatever_stands_beside_it(name, ranker):
    together = ranker.rank(COLLECTION, QUERIES)
    for query in QUERIES:
        alone = ranker.rank(COLLECTION, [query])
        rounded = name in MODELS.names() and name != "monobert"
        assert same(alone.ranking(query.query_id), together.ranking(query.query_id), rounded)


def test_scores_are_finite_and_descend_with_ties_by_id(ranker):
    run = ranker.rank(COLLECTION, QUERIES)
    for topic in run.topics:
        lines = run.ranking(topic)
        assert all(math.isfinite(line.score) for line in lines)
        assert list(lines) == sorted(lines, key=lambda line: (-line.score, line.doc_id))


def test_only_documents_of_the_collection_each_once(ranker):
    run = ranker.rank(COLLECTION, QUERIES)
    for topic in run.topics:
        found = [line.doc_id for line in run.ranking(topic)]
        assert set(found) <= set(TEXTS)
        assert len(found) == len(set(found))


@pytest.mark.parametrize("text", ["", "   ", "?!", "👍🏽 🕯️", "zzzunknown qqqwords", "\ud800", "\x00"])
def test_queries_without_a_known_word_give_an_empty_ranking_where_words_count(ranker, text):
    found = ranker.rank(COLLECTION, [Query("q", text)]).ranking("q")
    if family(ranker) == "lexical" or not text.strip():
        assert found == ()
    assert all(math.isfinite(line.score) for line in found)


@pytest.mark.parametrize(
    "text", ["İstanbul şehri ß", "हिन्दी में", "عربي 灯 lamp", "lamp 🕯️ lamp", "a" * 5000, "lamp " * 500]
)
def test_any_script_and_any_length(ranker, text):
    run = ranker.rank(COLLECTION, [Query("q", text)])
    assert all(math.isfinite(line.score) for line in run.ranking("q"))


def test_no_queries_give_an_empty_run(ranker):
    assert ranker.rank(COLLECTION, []).topics == ()


def test_candidates_are_ordered_anew_but_never_added_to(name, ranker):
    candidates = Run.from_results("given", {"q1": [("p2", 3.0), ("p10", 2.0), ("p9", 1.0)], "other": [("p1", 1.0)]})
    run = ranker.rank(COLLECTION, QUERIES, candidates)
    if name in SEARCH_AGAIN:
        assert {line.doc_id for line in run.ranking("q1")} > {"p2", "p10"}
        return
    assert run.topics == ("q1",)
    assert {"p2", "p10"} <= {line.doc_id for line in run.ranking("q1")} <= {"p2", "p10", "p9"}


def test_making_one_does_no_work(ranker, own_cache):
    assert not any(own_cache.iterdir())
    assert set(vars(ranker)) == {field.name for field in dataclasses.fields(ranker)}
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(ranker, dataclasses.fields(ranker)[0].name, None)


def test_the_name_is_stable_and_reads_back(spec, ranker):
    assert repr(ranker) == repr(parse_ranker(spec))
    assert parse_ranker(repr(ranker)) == ranker
    assert ranker.rank(COLLECTION, QUERIES).name == repr(ranker)


def test_each_is_described(name):
    assert (RANKERS.find(name).__doc__ or "").strip()


def test_the_same_bytes_under_another_hash_seed(tmp_path, folder):
    script = (
        "import json, pathlib, sys, test_rankers as contract\n"
        "specs = json.loads(pathlib.Path(sys.argv[1], 'specs.json').read_text())\n"
        "for name in contract.installed():\n"
        "    ranker = contract.parse_ranker(specs.get(name, name))\n"
        "    print(ranker.rank(contract.COLLECTION, contract.QUERIES).to_trec())\n"
    )
    outputs = set()
    places = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    for seed in ("1", "2"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "RINGTRUE_CACHE": str(tmp_path / seed),
            "PYTHONPATH": places,
        }
        done = subprocess.run(
            [sys.executable, "-c", script, str(folder)],
            env=environment,
            capture_output=True,
            check=True,
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
