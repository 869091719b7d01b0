"""Many queries, many generators."""

from __future__ import annotations

import pytest

from ringtrue.data.records import Query
from ringtrue.errors import InputError, MissingError, UnknownNameError
from ringtrue.robustness.generators.delete_char import DeleteChar
from ringtrue.robustness.generators.rmv_stop_words import RmvStopWords
from ringtrue.robustness.generators.w_net_syn_swap import WNetSynSwap
from ringtrue.robustness.variations import Variation
from ringtrue.robustness.vary import choose, parse_generators, vary

QUERIES = (Query("1", "the sea is blue"), Query("2", "blue whales"), Query("3", "who is it"))


def test_rows_in_order_with_reasons():
    assert list(vary(QUERIES, [RmvStopWords()], seed=7)) == [
        Variation("1", "naturality", "RmvStopWords", "the sea is blue", "sea blue", 7),
        Variation("2", "naturality", "RmvStopWords", "blue whales", None, 7, "no stop word in the query"),
        Variation("3", "naturality", "RmvStopWords", "who is it", None, 7, "every word is a stop word"),
    ]


def test_several_a_query_and_why_there_are_no_more():
    rows = list(vary(QUERIES[:1], [RmvStopWords(), DeleteChar()], n=3))
    assert [(row.method, row.reason) for row in rows] == [
        ("RmvStopWords", "only 1 of 3 found"),
        ("DeleteChar", ""),
        ("DeleteChar", ""),
        ("DeleteChar", ""),
    ]
    assert len({row.variation for row in rows}) == 4


def test_neither_other_queries_nor_other_generators_count():
    together = set(vary(QUERIES, parse_generators(["misspelling"])))
    alone = {row for query in QUERIES for spec in ("deletechar", "SplitWord") for row in _rows(query, spec)}
    assert alone <= together
    renamed = QUERIES[1]._replace(query_id="other")
    assert [row.variation for row in _rows(renamed, "DeleteChar")] == [
        row.variation for row in _rows(QUERIES[1], "DeleteChar")
    ]


def _rows(query: Query, spec: str) -> list[Variation]:
    return list(vary([query], parse_generators([spec])))


def test_names_in_any_case_with_options():
    (made,) = parse_generators(["wnetSYNswap:choice=random"])
    assert made == WNetSynSwap(choice="random")
    assert repr(made) == "WNetSynSwap:choice=random"


def test_categories_and_each_once():
    names = [repr(made) for made in parse_generators(["Ordering", "randorderswap", "RandOrderSwap", "spelling"])]
    assert names == ["RandOrderSwap", "BritishAmerican"]


def test_of_a_group_those_run_that_can():
    ready, missing = choose(["naturality"])
    assert "RmvStopWords" in map(repr, ready)
    assert "T5DescToTitle" in [repr(one.generator) for one in missing]
    assert all(len(one.reason) > 20 for one in missing)
    assert [repr(one) for one in choose(["Spelling", "DeleteChar"])[0]] == ["BritishAmerican", "DeleteChar"]


def test_one_that_is_named_must_run_and_so_must_one_of_a_group():
    with pytest.raises(MissingError, match="Recorded needs a file"):
        choose(["all", "Recorded"])
    with pytest.raises(MissingError, match="Recorded needs a file"):
        choose(["recorded"])


def test_recorded_variations_of_other_queries_are_an_error(tmp_path):
    path = tmp_path / "variants.tsv"
    path.write_text("99\tthe sea\n", encoding="utf-8")
    with pytest.raises(InputError, match="no variation is of a known query: the first is of '99', known are 1, 2, 3"):
        list(vary(QUERIES, parse_generators([f"Recorded:path={path}"])))


def test_bad_input():
    with pytest.raises(UnknownNameError, match="did you mean WNetSynSwap"):
        parse_generators(["WordNetSynSwap"])
    with pytest.raises(UnknownNameError, match="did you mean misspelling"):
        parse_generators(["misspeling"])
    with pytest.raises(UnknownNameError, match="option"):
        parse_generators(["WNetSynSwap:chioce=random"])
    with pytest.raises(UnknownNameError):
        parse_generators(["misspelling:n=3"])
    with pytest.raises(InputError, match="no generator is named"):
        parse_generators([])
    with pytest.raises(InputError, match="two queries have the id '1'"):
        list(vary([QUERIES[0], QUERIES[0]], [DeleteChar()]))
    with pytest.raises(InputError, match="1 or more"):
        list(vary(QUERIES, [DeleteChar()], n=0))
