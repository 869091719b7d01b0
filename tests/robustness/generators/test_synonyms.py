"""Words replaced by synonyms from a small WordNet and from small word vectors."""

from __future__ import annotations

import pytest
from tiny_generators import write_vectors

from ringtrue.data.records import Query
from ringtrue.errors import InputError, MissingModelError
from ringtrue.robustness.generators import GENERATORS


def texts(spec: str, text: str, n: int = 1, seed: int = 1) -> tuple[str, ...]:
    (outcome,) = GENERATORS.parse(spec).vary_all([Query("q", text)], n, seed)
    return outcome.texts


@pytest.fixture
def vectors(tmp_path) -> str:
    return f"WEmbedSynSwap:vectors={write_vectors(tmp_path / 'vectors.txt')}"


def test_the_first_synonym(wordnet):
    assert texts("WNetSynSwap", "the car") == ("the auto",)
    assert texts("WNetSynSwap", "the Car!") == ("the Auto!",)
    assert texts("WNetSynSwap", "the CAR") == ("the AUTO",)


def test_then_the_next_ones_without_phrases(wordnet):
    assert texts("WNetSynSwap", "the car", 9) == ("the auto", "the automobile")


def test_each_words_best_comes_before_a_words_second(wordnet):
    found = texts("WNetSynSwap", "hot car", 9)
    assert set(found[:2]) == {"warm car", "hot auto"}
    assert found[2:] == ("hot automobile",)


def test_inflected_words_get_the_synonyms_of_their_base_but_not_the_base(wordnet):
    assert texts("WNetSynSwap", "the states", 9) == (
        *("the nation", "the country"),
        *("the say", "the tell"),
    )
    assert texts("WNetSynSwap", "two mice") == ("two rodent",)
    assert texts("WNetSynSwap", "who drove") == ("who motor",)


def test_any_synonym_where_that_is_asked_for(wordnet):
    drawn = {texts("WNetSynSwap:choice=random", "the states", seed=seed) for seed in range(60)}
    assert {text for (text,) in drawn} == {"the nation", "the country", "the say", "the tell"}


def test_no_synonym_no_variation(wordnet):
    (outcome,) = GENERATORS.parse("WNetSynSwap").vary_all([Query("q", "the goldfish")], 1, 1)
    assert outcome == ((), "no word with a synonym in WordNet besides stop words")


def test_the_nearest_word_but_no_opposite(wordnet, vectors):
    assert texts(vectors, "hot sea") == ("warm sea",)
    assert texts(vectors, "Hot sea", 9) == ("Warm sea",)
    assert texts(f"{vectors},antonyms=kept", "hot sea", 9) == ("cold sea", "warm sea")


def test_how_near_and_how_many(wordnet, vectors):
    assert texts(vectors, "the car", 9) == ("the auto", "the vehicle")
    assert texts(f"{vectors},least=0.95", "the car", 9) == ("the auto",)
    assert texts(f"{vectors},most=1", "the car", 9) == ("the auto",)
    drawn = {texts(f"{vectors},choice=random", "the car", seed=seed) for seed in range(40)}
    assert drawn == {("the auto",), ("the vehicle",)}


def test_it_stops_where_there_is_no_file(wordnet):
    with pytest.raises(MissingModelError, match="vectors=FILE"):
        texts("WEmbedSynSwap", "hot sea")
    with pytest.raises(InputError, match="no such file"):
        texts("WEmbedSynSwap:vectors=nowhere.txt", "hot sea")


def test_it_stops_where_antonyms_cannot_be_told(vectors, monkeypatch, tmp_path):
    from ringtrue.robustness.resources import wordnet as resource

    monkeypatch.setattr(resource, "_places", lambda given, cached: iter(()))
    with pytest.raises(MissingModelError, match="ringtrue data wordnet"):
        texts(vectors, "hot sea")
    assert texts(f"{vectors},antonyms=kept", "hot sea") == ("cold sea",)
