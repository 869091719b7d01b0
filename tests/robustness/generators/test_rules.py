"""What each rule does to a word or a query, by worked examples and by counting."""

from __future__ import annotations

from collections import Counter

import pytest

from ringtrue.data.records import Query
from ringtrue.errors import InputError
from ringtrue.robustness.generators import GENERATORS

MANY = 5000
QUERY = "the sea is blue"


def all_of(spec: str, text: str, n: int = MANY, seed: int = 1) -> set[str]:
    (outcome,) = GENERATORS.parse(spec).vary_all([Query("q", text)], n, seed)
    return set(outcome.texts)


def one_of(spec: str, text: str, seed: int) -> str:
    (outcome,) = GENERATORS.parse(spec).vary_all([Query("q", text)], 1, seed)
    return outcome.texts[0]


def reason(spec: str, text: str) -> str:
    (outcome,) = GENERATORS.parse(spec).vary_all([Query("q", text)], 1, 1)
    assert outcome.texts == ()
    return outcome.reason


def test_neighbouring_characters_change_places():
    words = {"esa", "sae"}
    others = {"lbue", "bule", "bleu"}
    assert all_of("NeighbCharSwap", QUERY) == {f"the {word} is blue" for word in words} | {
        f"the sea is {word}" for word in others
    }


def test_equal_neighbours_are_passed_over():
    assert all_of("NeighbCharSwap", "aab") == {"aba"}
    assert "two different characters" in reason("NeighbCharSwap", "the aaa")


def test_a_character_becomes_any_other_letter():
    found = all_of("RandomCharSub", "ox")
    assert len(found) == 2 * 25
    assert all(len(word) == 2 and word.islower() and (word[0] == "o") != (word[1] == "x") for word in found)


def test_capitals_where_they_are_asked_for():
    found = all_of("RandomCharSub:upper=true", "ox")
    assert len(found) == 2 * 25  # a capital and its small letter are the same query
    drawn = {one_of("RandomCharSub:upper=true", "ox", seed) for seed in range(60)}
    assert any(not word.islower() for word in drawn)
    assert {"oX", "Ox"}.isdisjoint(drawn)


def test_keys_that_touch():
    assert all_of("QWERTYCharSub", "qp") == {"wp", "ap", "qo", "ql"}
    assert all_of("QWERTYCharSub", "QP") == {"WP", "AP", "QO", "QL"}
    assert "QWERTY" in reason("QWERTYCharSub", "19335 маяк")
    assert all_of("QWERTYCharSub:digits=true", "10") == {"20", "q0", "19", "1o", "1p"}


def test_a_letter_too_many():
    found = all_of("InsertChar", "ox")
    assert all(len(word) == 3 and ("ox" in {word[1:], word[:-1], word[0] + word[2]}) for word in found)
    assert {"oox", "oxx", "aox", "oxa", "oax"} <= found
    assert len(found) == 3 * 26 - 2  # doubling a letter before or behind it is the same


def test_a_letter_too_few():
    assert all_of("DeleteChar", "the sea") == {"the ea", "the sa", "the se"}


def test_a_word_in_two():
    assert all_of("SplitWord", "the water sea") == {"the wa ter sea", "the wat er sea"}
    assert "four characters" in reason("SplitWord", "the sea")


def test_two_words_in_one():
    assert all_of("JoinWords", QUERY) == {"thesea is blue", "the seais blue", "the sea isblue"}
    assert all_of("JoinWords", "new, york") == set()  # only a blank is gone, and blanks do not count beside a comma


def test_two_words_change_places():
    found = all_of("RandOrderSwap", "a b c")
    assert found == {"b a c", "c b a", "a c b"}
    assert "different" in reason("RandOrderSwap", "lamp lamp lamp")


def test_stop_words_go():
    assert all_of("RmvStopWords", "What is the colour of, the sea?") == {"colour sea?"}
    assert reason("RmvStopWords", "blue sea") == "no stop word in the query"
    assert reason("RmvStopWords", "who is it") == "every word is a stop word"


def test_a_fifth_of_the_words_goes():
    assert all_of("RmvRandWords", "a b c") == {"b c", "a c", "a b"}
    words = [chr(ord("a") + place) * 2 for place in range(10)]
    assert all(len(text.split()) == 8 for text in all_of("RmvRandWords", " ".join(words), 20))
    assert len(all_of("RmvRandWords:share=1", "aa bb cc")) == 3
    with pytest.raises(InputError, match="between 0 and 1"):
        GENERATORS.parse("RmvRandWords:share=1.5")


def test_stop_words_go_and_some_others():
    assert all_of("RmvStopRandWords", "what is the colour of sea water") == {"colour sea water"}
    content = ["colour", "sea", "water", "north", "pole"]
    found = all_of("RmvStopRandWords", "what is the " + " ".join(content), 50)
    lengths = {len(text.split()) for text in found}
    assert lengths == {2, 3, 4}  # 65 % of five words is three, and one goes at least
    assert reason("RmvStopRandWords", "blue sea") == "no stop word in the query, and too few other words"
    assert reason("RmvStopRandWords", "who is it") == "every word is a stop word"
    with pytest.raises(InputError, match="percentage"):
        GENERATORS.parse("RmvStopRandWords:most=101")


def test_two_words_are_changed_from_twenty_on():
    words = [f"word{chr(ord('a') + place)}" for place in range(20)]
    text = " ".join(words)
    changed = [sum(map(str.__ne__, words, one_of("DeleteChar", text, seed).split())) for seed in range(20)]
    assert set(changed) == {2}
    shorter = " ".join(words[:19])
    assert sum(map(str.__ne__, words, one_of("DeleteChar", shorter, 1).split())) == 1


def test_every_content_word_is_as_likely_as_another():
    text = "what is the colour of northern seawater"
    hits = Counter(
        next(place for place, pair in enumerate(zip(text.split(), varied.split(), strict=True)) if len(set(pair)) == 2)
        for varied in (one_of("NeighbCharSwap", text, seed) for seed in range(900))
    )
    assert set(hits) == {3, 5, 6}
    assert all(abs(count - 300) < 60 for count in hits.values())  # more than four standard deviations


def test_every_place_in_a_word_is_as_likely_as_another():
    hits = Counter(one_of("NeighbCharSwap", "abcdef", seed) for seed in range(1000))
    assert len(hits) == 5
    assert all(abs(count - 200) < 52 for count in hits.values())


def test_punctuation_around_a_word_stays():
    for seed in range(20):
        text = one_of("NeighbCharSwap", "(water), please!", seed)
        assert text.startswith("(") and "), " in text and text.endswith("!")


def test_gaps_become_one_blank():
    assert all(" ".join(text.split()) == text for text in all_of("DeleteChar", "  sea \t water "))
