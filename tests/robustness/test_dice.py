"""Choices that depend on method, seed and text alone."""

from __future__ import annotations

from collections import Counter

from ringtrue.robustness.dice import Cup


def test_the_same_choices_forever():
    dice = Cup("NeighbCharSwap", 42).dice("do goldfish grow")
    assert [dice.below(1000) for _ in range(6)] == [620, 240, 642, 134, 110, 447]


def test_method_seed_and_text_all_count():
    found = {
        tuple(Cup(method, seed).dice(text).below(1 << 30) for _ in range(2))
        for method in ("a", "b")
        for seed in (1, -1, 12)
        for text in ("x", "y", "", "\ud800")
    }
    assert len(found) == 24


def test_nothing_runs_together():
    assert Cup("a", 12).dice("x").below(1 << 40) != Cup("a", 1).dice("2x").below(1 << 40)
    assert Cup("ab", 1).dice("c").below(1 << 40) != Cup("a", 1).dice("bc").below(1 << 40)


def test_every_face_as_often_as_another():
    dice = Cup("m", 1).dice("text")
    faces = Counter(dice.below(6) for _ in range(60_000))
    expected = 10_000
    assert set(faces) == set(range(6))
    assert sum((count - expected) ** 2 / expected for count in faces.values()) < 20.5  # chi-square, p = 0.001


def test_every_order_as_often_as_another():
    dice = Cup("m", 2).dice("text")
    orders = Counter(tuple(dice.shuffled("abc")) for _ in range(6000))
    assert len(orders) == 6
    assert sum((count - 1000) ** 2 / 1000 for count in orders.values()) < 20.5


def test_a_sample_is_part_of_the_values():
    dice = Cup("m", 3).dice("text")
    values = list(range(10))
    found = dice.sample(values, 4)
    assert len(set(found)) == 4 and set(found) <= set(values)
    assert sorted(dice.sample(values, 99)) == values
    assert dice.sample([], 3) == []
    assert values == list(range(10))
    assert dice.choice("x") == "x"
