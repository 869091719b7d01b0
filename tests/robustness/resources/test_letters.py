"""Keys that touch, letters of one script, and the stop list."""

from __future__ import annotations

import string

from ringtrue.robustness.resources.keyboard import KEYS, LETTERS
from ringtrue.robustness.resources.letters import strangers
from ringtrue.robustness.resources.stopwords import STOPWORDS


def test_touching_is_mutual():
    for table in (KEYS, LETTERS):
        small = {key: near for key, near in table.items() if not key.isupper()}
        assert all(key in small[other] for key, near in small.items() for other in near)


def test_keys_around_some_keys():
    assert set(LETTERS["s"]) == set("wedxza")
    assert set(LETTERS["g"]) == set("tyhbvf")
    assert set(LETTERS["Q"]) == set("WA")
    assert set(KEYS["q"]) == set("12wa")
    assert set(KEYS["5"]) == set("46rt")
    assert set(LETTERS) == set(string.ascii_letters)


def test_strangers_are_letters_of_the_same_script_and_case():
    assert strangers("a") == string.ascii_lowercase[1:]
    assert strangers("B") == "A" + string.ascii_uppercase[2:]
    assert strangers("5") == string.ascii_lowercase
    assert len(strangers("a", upper=True)) == 51
    assert strangers("я") == "абвгдежзийклмнопрстуфхцчшщъыьэю"
    assert "灯" not in strangers("灯") and all("\u4e00" <= char <= "\u9fff" for char in strangers("灯"))
    assert strangers("🕯") == strangers("\u0301") == ""


def test_the_stop_list_is_nltks():
    assert len(STOPWORDS) == 179
    assert {"i", "the", "won't", "ourselves", "s"} <= STOPWORDS
