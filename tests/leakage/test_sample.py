from __future__ import annotations

import random
from pathlib import Path

import pytest

from ringtrue.data.records import Query
from ringtrue.errors import InputError
from ringtrue.leakage.candidates import Candidate
from ringtrue.leakage.choice import Choice, Counted, not_reached
from ringtrue.leakage.exchange import read_labels, write_labels
from ringtrue.leakage.labels import verified, verified_texts
from ringtrue.leakage.sample import for_threshold, for_verification, not_covered

TOPICS = (Query("1", "bears", "what bears do", "bears only"), Query("2", "wolves"))
TITLES = {topic.query_id: topic.title for topic in TOPICS}


def candidate(topic: str, query: str, similarity: float, field: str = "title") -> Candidate:
    text = TITLES.get(topic, "text") if field == "title" else "text"
    return Candidate(topic, field, text, query, f"query {query}", similarity)


def many(n: int = 500) -> list[Candidate]:
    rng = random.Random(1)
    return [candidate(str(place % 7), f"q{place}", 0.75 + 0.25 * rng.random() ** 3) for place in range(n)]


def test_strata_are_drawn_alike_and_weights_add_up_to_the_whole():
    pool = many()
    drawn = for_threshold(pool, n=100, low=0.8, bins=4)
    assert len({(one.topic_id, one.query_id) for one in drawn}) == 100
    assert sum(one.weight for one in drawn) == pytest.approx(sum(one.similarity > 0.8 for one in pool))
    by_bin = [sum(low < one.similarity <= low + 0.05 for one in drawn) for low in (0.8, 0.85, 0.9, 0.95)]
    assert max(by_bin) - min(by_bin) <= 1
    assert all(one.similarity > 0.8 for one in drawn)
    assert [one.similarity for one in drawn] == sorted((one.similarity for one in drawn), reverse=True)


def test_what_the_candidates_do_not_reach_is_said():
    above = [candidate("1", f"q{place}", 0.88 + place / 100) for place in range(12)]
    assert not_covered(above, 0.8).startswith("the candidates begin at 0.880")
    assert "neighbours.jsonl" in not_covered(above, 0.8) and "--threshold 0.8" in not_covered(above, 0.8)
    assert not_covered(above, 0.875) == ""
    nearest = above + [candidate("2", f"q{place}", 0.7 + place / 50) for place in range(12)]
    assert not_covered(nearest, 0.8).startswith("of 1 of 2 topics only the k nearest queries are given")
    assert not_covered(nearest, 0.88) == ""
    everything = [candidate("1", "a", 0.95), *nearest[12:]]  # above .7, where topic 1 has no more
    assert not_covered(everything, 0.8) == not_covered([], 0.8) == ""


def test_a_threshold_below_all_candidates_is_said():
    above = [candidate("1", "a", 0.9), candidate("1", "b", 0.8)]
    assert not_reached(above, 0.5).startswith("the candidates begin at 0.800: what leaks between 0.5 and that")
    assert (
        not_reached(above, 0.795) == not_reached(above, 0.85) == not_reached(above, None) == not_reached([], 0.5) == ""
    )


def test_small_strata_give_all_and_others_make_up_for_them():
    pool = [candidate("1", f"a{place}", 0.99) for place in range(3)] + [
        candidate("1", f"b{place}", 0.81) for place in range(50)
    ]
    drawn = for_threshold(pool, n=20, bins=2)
    assert [sum(one.similarity == value for one in drawn) for value in (0.99, 0.81)] == [3, 17]
    assert {round(one.weight, 3) for one in drawn} == {1.0, round(50 / 17, 3)}
    assert len(for_threshold(pool, n=1000)) == 53


def test_the_seed_decides_and_the_order_of_the_candidates_does_not():
    pool = many()
    shuffled = random.Random(3).sample(pool, len(pool))
    assert for_threshold(pool, seed=4) == for_threshold(shuffled, seed=4)
    assert for_threshold(pool, seed=4) != for_threshold(pool, seed=5)


def test_the_nearest_five_of_each_topic():
    pool = [candidate("2", f"q{place}", 0.99 - place / 100) for place in range(9)]
    pool += [candidate("1", "b", 0.95), candidate("1", "a", 0.95), candidate("1", "c", 0.88)]
    pool += [candidate("1", "a", 0.90, "variant")]
    drawn = for_verification(pool, TOPICS, threshold=0.88)
    assert [(one.topic_id, one.query_id) for one in drawn] == [
        ("1", "a"), ("1", "b"), ("2", "q0"), ("2", "q1"), ("2", "q2"), ("2", "q3"), ("2", "q4"),
    ]  # fmt: skip
    assert (drawn[0].title, drawn[0].similarity, drawn[0].labels) == ("bears", 0.95, ())


def test_topics_of_another_collection_with_the_same_ids_are_an_error():
    others = (Query("1", "lamps"), Query("2", "waves"))
    with pytest.raises(InputError, match="'1' is 'lamps', and was 'bears' in the search"):
        for_verification([candidate("1", "a", 0.95)], others, threshold=0.9)
    with pytest.raises(InputError, match="not those of the candidates"):
        for_threshold([candidate("2", "a", 0.95), candidate("3", "a", 0.95)], others)
    assert for_verification([candidate("1", "a", 0.95, "variant")], others, threshold=0.9)[0].title == "lamps"


def test_two_queries_of_one_id_are_both_drawn_and_labelled_apart():
    web, orcas = candidate("1", "a", 0.95), candidate("1", "a", 0.92)._replace(query="bear food", source="orcas")
    drawn = for_verification([web, orcas, web._replace(source="other")], TOPICS, threshold=0.9)
    assert [one.query for one in drawn] == ["query a", "bear food"]
    labelled = [drawn[0]._replace(labels=("Different Topic",)), drawn[1]._replace(labels=("Title-Identical",))]
    assert verified(labelled) == {("1", "a"): True}
    choice = Choice(counted=Counted.VERIFIED, verified=verified_texts(labelled))
    assert choice.leaks([web, orcas]) == (orcas,)


def test_what_is_drawn_can_be_labelled(tmp_path: Path):
    drawn = for_verification([candidate("1", "a", 0.95)], TOPICS, threshold=0.9)
    for ending in (".jsonl", ".json", ".csv"):
        write_labels(tmp_path / f"tasks{ending}", drawn)
        (task,) = read_labels(tmp_path / f"tasks{ending}")
        assert task[:8] == drawn[0][:8]
        assert '"description": "what bears do"' in task.row


def test_nothing_to_draw_is_an_error():
    with pytest.raises(InputError, match=r"no candidate is above 0\.8; search with a lower threshold"):
        for_threshold([candidate("1", "a", 0.8)])
    with pytest.raises(InputError, match=r"no candidate is above 0\.9"):
        for_verification([], threshold=0.9)
    with pytest.raises(InputError, match="n and bins must be at least 1"):
        for_threshold(many(), n=0)
