"""Our rules beside what the study's code made of the 43 judged queries of TREC DL 2019."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from ringtrue.data.records import Query
from ringtrue.errors import MissingError
from ringtrue.robustness.generators import GENERATORS
from ringtrue.robustness.resources import wordnet
from ringtrue.robustness.text import key


@pytest.fixture(scope="module")
def topics(shared: Path) -> dict[str, str]:
    lines = (shared / "collections/dl19-judged/topics.filtered.dl19.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


@pytest.fixture(scope="module")
def rows(shared: Path) -> list[dict[str, str]]:
    with open(shared / "robustness/variations_trec2019_labeled.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def made(rows, method: str) -> list[tuple[str, str]]:
    """Query and variation of one method, without those that it left as they were."""
    both = [(row["original_query"], row["variation"]) for row in rows if row["method"] == method]
    return [(original, varied) for original, varied in both if key(original) != key(varied)]


def out_of_reach(spec: str, pairs: list[tuple[str, str]]) -> list[str]:
    """The study's variations that ours does not have among all of its own."""
    generator = GENERATORS.parse(spec)
    missed = []
    for original, varied in pairs:
        (outcome,) = generator.vary_all([Query("q", original)], 5000, 1)
        if key(varied) not in map(key, outcome.texts):
            missed.append(varied)
    return missed


@pytest.mark.parametrize(
    ("spec", "method", "count"),
    [
        ("NeighbCharSwap", "WordSwapNeighboringCharacterSwap", 43),
        ("RandomCharSub", "WordSwapRandomCharacterSubstitution", 42),
        ("RandOrderSwap", "WordInnerSwapRandom", 43),
    ],
)
def test_the_study_draws_from_the_same(rows, spec, method, count):
    pairs = made(rows, method)
    assert len(pairs) == count
    assert out_of_reach(spec, pairs) == []


def test_only_keys_that_do_not_touch_are_missing(rows):
    missed = out_of_reach("QWERTYCharSub", made(rows, "WordSwapQWERTY"))
    assert missed == [
        "who is robert ggay",
        "cost of interior concretf flooring",
        "hydrogen is a liquid below what tfmperature",
        "does legionella pneumophila cauqe pneumonia",
    ]


def test_without_stop_words_all_are_the_same(rows, topics):
    expected = {row["q_id"]: row["variation"] for row in rows if row["method"] == "naturality_by_removing_stop_words"}
    generator = GENERATORS.parse("RmvStopWords")
    unchanged = 0
    for query_id, title in topics.items():
        if query_id not in expected or "19335" in title:  # the study has "cerebral" where the topic file has a number
            continue
        (outcome,) = generator.vary_all([Query(query_id, title)], 1, 1)
        unchanged += not outcome.texts
        assert key(outcome.texts[0] if outcome.texts else title) == key(expected[query_id])
    assert unchanged == 6


def test_only_a_words_own_base_form_is_missing_among_synonyms(rows):
    try:
        wordnet.find()
    except MissingError:
        pytest.skip("WordNet is not on this machine")
    missed = out_of_reach("WNetSynSwap:choice=random", made(rows, "WordSwapWordNet"))
    assert missed == [
        "who formed the commonwealth of independent state",
        "tracheid are part of",
        "exon definition biology",
    ]
