from __future__ import annotations

import csv
import json
import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.errors import InputError, UnknownNameError
from ringtrue.evaluation.agreement import cohen_kappa, fleiss_kappa, fleiss_kappa_counts, krippendorff_alpha

# Fleiss 1971, table 1: the diagnoses (1 to 5) that six psychiatrists gave to each of thirty patients.
FLEISS_1971 = (
    "444444 222555 233335 555555 222444 113333 333355 113334 114444 555555 144444 124444 222333 144444 224445 "
    "333335 111455 111112 224444 133555 555555 244444 224555 114444 144445 222224 111155 224444 133333 555555"
).split()

# Krippendorff 2011, "Computing Krippendorff's alpha-reliability", part C: four observers, twelve units, a dot missing.
KRIPPENDORFF_2011 = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]

labels = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1, max_size=20)
gappy = st.lists(st.lists(st.sampled_from([None, 0, 1, 2, 4]), min_size=1, max_size=4), min_size=1, max_size=10)


def plain_alpha(ratings: list[list[int | None]], level: str) -> float:
    units = [[label for label in row if label is not None] for row in ratings]
    units = [unit for unit in units if len(unit) > 1]
    given_labels = [label for unit in units for label in unit]

    def distance(c: int, k: int) -> float:
        if level == "ordinal":
            low, high = sorted((c, k))
            between = sum(low <= label <= high for label in given_labels)
            ends = (given_labels.count(c) + given_labels.count(k)) / 2
            return 0.0 if c == k else (between - ends) ** 2
        return {
            "nominal": float(c != k),
            "interval": float((c - k) ** 2),
            "ratio": ((c - k) / (c + k)) ** 2 if c + k else 0.0,
        }[level]

    n = len(given_labels)
    seen = sum(
        distance(unit[i], unit[j]) / (len(unit) - 1)
        for unit in units
        for i in range(len(unit))
        for j in range(len(unit))
        if i != j
    )
    chance = sum(distance(given_labels[i], given_labels[j]) for i in range(n) for j in range(n) if i != j)
    return 1 - seen / (chance / (n - 1)) if chance else math.nan


def test_cohens_worked_example():
    # 50 proposals: 20 both yes, 5 only A, 10 only B, 15 both no; p_o = .7, p_e = .5.
    a = ["yes"] * 25 + ["no"] * 25
    b = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohen_kappa(a, b) == pytest.approx(0.4)


def test_cohens_kappa_of_scikit_learn():
    # scikit-learn 1.9.1, cohen_kappa_score(a, b, weights=None, "linear", "quadratic")
    a = [1, 2, 3, 3, 2, 1, 4, 1, 2, 5, 3, 3, 4, 4, 1]
    b = [1, 2, 3, 4, 2, 2, 4, 1, 3, 5, 3, 1, 4, 5, 1]
    found = [cohen_kappa(a, b, weights) for weights in (None, "linear", "quadratic")]
    assert found == pytest.approx([0.576271186440678, 0.7321428571428572, 0.8484848484848485], abs=1e-12)
    assert cohen_kappa(list("abcab"), list("abbba")) == pytest.approx(0, abs=1e-12)


def test_weights_follow_the_order_of_the_categories():
    a, b = ["low", "mid", "high", "low"], ["mid", "mid", "high", "high"]
    numbers = {"low": 0, "mid": 1, "high": 2}
    expected = cohen_kappa([numbers[x] for x in a], [numbers[x] for x in b], "quadratic")
    assert cohen_kappa(a, b, "quadratic", categories=["low", "mid", "high"]) == pytest.approx(expected)
    assert cohen_kappa(a, b, "quadratic") != pytest.approx(expected)


@given(labels)
def test_cohens_kappa_is_bounded_and_symmetric(pairs: list[tuple[str, str]]):
    a, b = zip(*pairs, strict=True)
    found = cohen_kappa(a, b)
    assert found == pytest.approx(cohen_kappa(b, a), nan_ok=True)
    assert math.isnan(found) or -1 - 1e-12 <= found <= 1 + 1e-12
    assert math.isnan(found) == (len({*a, *b}) == 1)
    own = cohen_kappa(a, a)
    assert math.isnan(own) if len(set(a)) == 1 else own == pytest.approx(1)
    if len({*a, *b}) == 2:
        assert cohen_kappa(a, b, "linear") == pytest.approx(found)


def test_fleiss_1971():
    assert round(fleiss_kappa(FLEISS_1971), 3) == 0.430
    # statsmodels 0.15.0, fleiss_kappa(aggregate_raters(…)[0])
    assert fleiss_kappa(FLEISS_1971) == pytest.approx(0.43024452006014074, abs=1e-12)
    counts = [[row.count(label) for label in "12345"] for row in FLEISS_1971]
    assert fleiss_kappa_counts(counts) == pytest.approx(fleiss_kappa(FLEISS_1971), abs=1e-12)


def test_fleiss_kappa_of_fourteen_raters():
    # The example of Wikipedia's article on Fleiss' kappa: .210.
    rows = "0 0 0 0 14,0 2 6 4 2,0 0 3 5 6,0 3 9 2 0,2 2 8 1 1,7 7 0 0 0,3 2 6 3 0,2 5 3 2 2,6 5 2 1 0,0 2 2 3 7"
    counts = [[int(count) for count in row.split()] for row in rows.split(",")]
    assert fleiss_kappa_counts(counts) == pytest.approx(0.20993070442195522, abs=1e-12)


def test_krippendorff_2011():
    ratings = [[None if mark == "." else int(mark) for mark in unit] for unit in zip(*KRIPPENDORFF_2011, strict=True)]
    found = {level: krippendorff_alpha(ratings, level) for level in ("nominal", "ordinal", "interval", "ratio")}
    assert found == pytest.approx({"nominal": 0.743, "ordinal": 0.815, "interval": 0.849, "ratio": 0.797}, abs=5e-4)


def test_alpha_of_the_krippendorff_package():
    # krippendorff 0.9.0, alpha(reliability_data=…, level_of_measurement=…)
    rows = ["112.", "3334", "2.22", "54.5", "1211", "00..", "4453", ".2..", "0100"]
    ratings = [[math.nan if mark == "." else float(mark) for mark in row] for row in rows]
    found = [krippendorff_alpha(ratings, level) for level in ("nominal", "ordinal", "interval", "ratio")]
    expected = [0.424141749723145, 0.9050777773891823, 0.8975676601575882, 0.7640237927077065]
    assert found == pytest.approx(expected, abs=1e-12)


@given(gappy, st.sampled_from(["nominal", "ordinal", "interval", "ratio"]))
def test_alpha_by_definition(ratings: list[list[int | None]], level: str):
    found = krippendorff_alpha(ratings, level)
    assert found == pytest.approx(plain_alpha(ratings, level), abs=1e-9, nan_ok=True)
    shuffled = [list(reversed(row)) for row in reversed(ratings)]
    assert found == pytest.approx(krippendorff_alpha(shuffled, level), abs=1e-9, nan_ok=True)


@given(labels)
def test_alpha_of_two_raters_is_scotts_pi_with_a_small_sample_correction(pairs: list[tuple[str, str]]):
    # Fleiss' kappa of two raters is Scott's pi; 1 - alpha = (1 - pi)(2n - 1) / 2n.
    if len({label for pair in pairs for label in pair}) > 1:
        n = 2 * len(pairs)
        assert 1 - krippendorff_alpha(pairs) == pytest.approx((1 - fleiss_kappa(pairs)) * (n - 1) / n)


def test_one_category_tells_nothing():
    assert math.isnan(cohen_kappa(["a", "a"], ["a", "a"]))
    assert math.isnan(fleiss_kappa([["a", "a"], ["a", "a"]]))
    assert math.isnan(krippendorff_alpha([["a", "a"], ["a", "a"]]))
    assert math.isnan(krippendorff_alpha([["a", None], ["b"]]))
    assert math.isnan(krippendorff_alpha([]))
    assert cohen_kappa(["a", "a"], ["b", "b"]) == 0.0


def test_labels_that_cannot_be_used_are_refused():
    with pytest.raises(InputError, match="2 and 1 labels"):
        cohen_kappa(["a", "b"], ["a"])
    with pytest.raises(InputError, match="some item"):
        cohen_kappa([], [])
    with pytest.raises(UnknownNameError, match="'cubic'"):
        cohen_kappa(["a"], ["a"], "cubic")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no order of their own"):
        cohen_kappa(["a", 1], [1, "a"], "linear")
    with pytest.raises(InputError, match="'c' is not among the categories"):
        cohen_kappa(["a", "c"], ["a", "b"], categories=["a", "b"])
    with pytest.raises(InputError, match="item 1 has 3 labels and item 0 has 2"):
        fleiss_kappa(["ab", "aab"])
    with pytest.raises(InputError, match="Krippendorff's alpha"):
        fleiss_kappa(["a", "b"])
    with pytest.raises(InputError, match=r"shape \(0, 0\)"):
        fleiss_kappa([])
    with pytest.raises(UnknownNameError, match="level of measurement 'cardinal'"):
        krippendorff_alpha(["ab"], "cardinal")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="not numbers"):
        krippendorff_alpha(["ab"], "interval")
    with pytest.raises(InputError, match="-1 is negative"):
        krippendorff_alpha([[-1, 1]], "ratio")


def test_labels_of_query_variations(shared: Path):
    kinds = ["Generalization/Specialization", "Aspect Change", "Paraphrasing", "Naturality", "Word ordering"]
    annotators = []
    for number in range(3):
        with (shared / "robustness" / f"uqv_annotation_{number}.csv").open(newline="", encoding="utf-8") as file:
            annotators.append({row["id"]: row for row in csv.DictReader(file)})
    common = [item for item in annotators[0] if all(item in rows for rows in annotators)]
    assert len(common) == 25
    chosen = {kind: [[rows[item][kind] for item in common] for rows in annotators] for kind in kinds}
    means = {kind: np.mean([cohen_kappa(a, b) for a, b in combinations(chosen[kind], 2)]) for kind in kinds}
    expected = dict(zip(kinds, [0.454, 0.506, 0.182, 0.320, 0.645], strict=True))
    assert means == pytest.approx(expected, abs=5e-4)
    assert np.mean(list(means.values())) == pytest.approx(0.4215, abs=5e-5)
    fleiss = [fleiss_kappa(list(zip(*chosen[kind], strict=True))) for kind in kinds]
    assert np.mean(fleiss) == pytest.approx(0.402, abs=5e-4)


def test_labels_of_leaked_queries(shared: Path):
    folder = shared / "leakage" / "annotations" / "annotator-agreement"
    read = []
    for name in ("cakiki", "maik"):
        path = folder / f"query-reformulation-classification-iteration-01-annotated-by-{name}.jsonl"
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        read.append({row["id"]: row["label"] for row in rows})
    first, second = read
    assert len(first) == 103
    assert list(first) == list(second)

    def kappa(label) -> float:
        return cohen_kappa([label(first[item]) for item in first], [label(second[item]) for item in first])

    def field(marks: list[str], prefix: str) -> str:
        # Two rows hold two title labels: the first in the file counts (any other rule moves the third decimal).
        return next((mark for mark in marks if mark.startswith(prefix)), "Different Topic")

    assert kappa(lambda marks: "Different Topic" in marks) == pytest.approx(0.5589, abs=5e-5)
    assert kappa(lambda marks: field(marks, "Title")) == pytest.approx(0.4394, abs=5e-5)
    assert kappa(lambda marks: field(marks, "Variant")) == pytest.approx(0.7417, abs=5e-5)
    assert kappa(
        lambda marks: "Different Topic" if "Different Topic" in marks else field(marks, "Title")
    ) == pytest.approx(0.4188, abs=5e-5)
