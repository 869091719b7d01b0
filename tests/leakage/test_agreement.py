from __future__ import annotations

from pathlib import Path

import pytest

from ringtrue.errors import InputError
from ringtrue.leakage.agreement import compare
from ringtrue.leakage.exchange import read_labels
from ringtrue.leakage.labels import LabelledPair

NAME = "query-reformulation-classification-iteration-01-annotated-by-{}.jsonl"


def pairs(*labels: str) -> list[LabelledPair]:
    return [LabelledPair("1", str(place), "x", labels=tuple(some.split("+"))) for place, some in enumerate(labels)]


def test_the_two_annotators_of_the_study(shared: Path):
    folder = shared / "leakage" / "annotations" / "annotator-agreement"
    found = compare(*(read_labels(folder / NAME.format(who)) for who in ("cakiki", "maik")))
    rounded = {one.name: round(one.kappa, 4) for one in found.kappas}
    assert rounded == {"title": 0.4188, "title_first": 0.4394, "variant": 0.7417, "true_false": 0.5589}
    for one in found.kappas:
        assert one.pairs == 103
        assert one.interval.low < one.kappa < one.interval.high
    assert found.notes == ()


def test_a_worked_example():
    # 10 pairs, both say true 6 times and false 2 times, once each alone: p_o = .8, p_e = .7 * .7 + .3 * .3 = .58
    first = ["identical"] * 6 + ["Different Topic"] * 2 + ["identical", "Different Topic"]
    second = ["identical"] * 6 + ["Different Topic"] * 2 + ["Different Topic", "identical"]
    found = compare(pairs(*first), pairs(*second), replicates=50)
    assert found["true_false"].kappa == pytest.approx((0.8 - 0.58) / 0.42)
    assert found["true_false"].alike == pytest.approx(0.8)


def test_pairs_of_one_side_are_counted_and_the_order_does_not_matter():
    first, second = pairs("identical", "Different Topic", "identical"), pairs("identical", "Different Topic")
    found = compare(first, second[::-1], replicates=50)
    assert [(one.kappa, one.pairs) for one in found.kappas if one.name == "title"] == [(1.0, 2)]
    assert [(note.what, note.times) for note in found.notes] == [("pairs that only one of the two labelled", 1)]
    assert found.tables()[0].rows[0][0] == "title"


def test_nothing_in_common_is_an_error():
    with pytest.raises(InputError, match="share no labelled pair"):
        compare(pairs("identical"), [LabelledPair("2", "0", "x", labels=("identical",))])
