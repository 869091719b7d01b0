from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.errors import InputError, UnknownNameError
from ringtrue.retrieval.analysis import Analyser, Coder, _pattern, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("State-of-the-art, 3.14% of U.S.", ["state", "of", "the", "art", "3", "14", "of", "u", "s"]),
        ("snake_case x1y2", ["snake", "case", "x1y2"]),
        ("", []),
        ("?! 👍🏽 …", []),
        ("Café CAFE\u0301", ["café", "café"]),
        ("\ufb01ne \uff11\uff12", ["fine", "12"]),
        ("हिन्दी में खोज", ["हिन्दी", "में", "खोज"]),
        ("كُتُب جديدة", ["كُتُب", "جديدة"]),
        ("한국어 검색", ["한국어", "검색"]),
        ("Поиск ДОКУМЕНТОВ", ["поиск", "документов"]),
        ("日本語テスト2023年", ["日", "本", "語", "テ", "ス", "ト", "2023", "年"]),
        ("bad \ud800 id é", ["bad", "id", "é"]),
    ],
)
def test_words_of_any_script(text, expected):
    assert words(text) == expected


@given(st.text(alphabet=string.printable))
def test_the_fast_way_for_ascii_finds_what_the_pattern_finds(text):
    assert words(text) == _pattern().findall(text.lower())


def test_stemmers_differ_as_snowball_says():
    text = "generously running dying"
    assert Analyser("porter2").tokens(text) == ["generous", "run", "die"]
    assert Analyser("porter").tokens(text) == ["gener", "run", "dy"]
    assert Analyser("none").tokens(text) == ["generously", "running", "dying"]


def test_stopwords_are_dropped_before_stemming(tmp_path):
    assert Analyser(stopwords="english").tokens("The cat is not on the mat") == ["cat", "mat"]
    file = tmp_path / "stop.txt"
    file.write_text("Running\ndon't\n", encoding="utf-8")
    assert Analyser(stopwords=str(file)).tokens("running don't run") == ["run"]


def test_a_changed_file_of_stopwords_changes_the_identity(tmp_path):
    file = tmp_path / "stop.txt"
    analyser = Analyser(stopwords=str(file))
    file.write_text("one", encoding="utf-8")
    before = analyser.identity()
    file.write_text("two", encoding="utf-8")
    assert analyser.identity() != before


def test_wrong_names_say_what_is_possible():
    with pytest.raises(InputError, match=r"stopwords 'enlish' is neither none nor english nor a readable"):
        Analyser(stopwords="enlish").tokens("text")
    with pytest.raises(UnknownNameError, match="did you mean porter or porter2"):
        Analyser(stemmer="porter3").tokens("text")


@given(st.lists(st.text(max_size=30), max_size=5))
def test_codes_stand_for_the_tokens(texts):
    analyser = Analyser(stopwords="english")
    coder = Coder(analyser)
    coded = [list(coder.codes(text)) for text in texts]
    names = list(coder.terms)
    assert [[names[code] for code in codes] for codes in coded] == [analyser.tokens(text) for text in texts]
