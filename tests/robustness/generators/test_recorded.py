"""Variations from files."""

from __future__ import annotations

import pytest

from ringtrue.data.records import Query
from ringtrue.errors import FormatError, InputError, MissingModelError
from ringtrue.robustness.generators import GENERATORS

QUERIES = [Query("301", "international organized crime"), Query("302", "polio"), Query("303", "hubble telescope")]


def texts(spec: str, n: int = 2) -> list[tuple[str, ...]]:
    return [outcome.texts for outcome in GENERATORS.parse(spec).vary_all(QUERIES, n, 1)]


def test_lines_of_topic_user_and_number(tmp_path):
    path = tmp_path / "variants.txt"
    path.write_text(
        "301-1-1;international criminals\n301-2-1;International Criminals\n301-2-2;crime groups\n302-1-1;Polio?\n",
        encoding="utf-8",
    )
    generator = GENERATORS.parse(f"Recorded:path={path}")
    outcomes = list(generator.vary_all(QUERIES, 3, 1))
    assert outcomes[0] == (("international criminals", "crime groups"), "only 2 of 3 found")
    assert outcomes[1] == ((), "all recorded variations are the query itself")
    assert outcomes[2] == ((), "no recorded variation")
    path.write_text("302-1-1;poliomyelitis\n", encoding="utf-8")
    assert texts(f"Recorded:path={path}") == [(), ("poliomyelitis",), ()]


def test_our_own_file_and_one_method_of_it(tmp_path):
    path = tmp_path / "variations.csv"
    path.write_text(
        "query_id,category,method,original,variation,seed,reason\n"
        "301,misspelling,DeleteChar,x,international organized crme,42,\n"
        "301,ordering,RandOrderSwap,x,crime organized international,42,\n"
        "302,ordering,RandOrderSwap,polio,,42,no two different words\n",
        encoding="utf-8",
    )
    assert texts(f"Recorded:path={path}")[0] == ("international organized crme", "crime organized international")
    assert texts(f"Recorded:path={path},method=RandOrderSwap")[0] == ("crime organized international",)
    assert texts(f"Recorded:path={path}")[1:] == [(), ()]


def test_no_file_and_a_broken_file(tmp_path):
    with pytest.raises(MissingModelError, match="path=FILE"):
        texts("Recorded")
    with pytest.raises(InputError, match="no such file"):
        texts("Recorded:path=nowhere.txt")
    broken = tmp_path / "broken.txt"
    broken.write_text("no variants here\n", encoding="utf-8")
    with pytest.raises(FormatError):
        texts(f"Recorded:path={broken}")


def test_what_people_typed_for_robust04(shared):
    path = shared / "leakage" / "robust04-query-variants.txt"
    found = texts(f"Recorded:path={path}", 3)
    assert all(len(variations) == 3 for variations in found)
    assert found[0][0] == "organizations international criminal activity"


def test_the_studys_own_files(shared):
    path = shared / "robustness" / "variations_trec2019_labeled.csv"
    query = Query("1037798", "who is robert gray")
    method = "back_translation_pivot_language_de"
    (outcome,) = GENERATORS.parse(f"Recorded:path={path},method={method}").vary_all([query], 1, 1)
    assert len(outcome.texts) <= 1
    (outcome,) = GENERATORS.parse(f"Recorded:path={path}").vary_all([query], 99, 1)
    assert "who is robret gray" in outcome.texts
