from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ringtrue.errors import InputError, UnknownNameError
from ringtrue.evaluation.correlation import (
    average_overlap,
    bulk_tau_ap,
    bulk_tau_ap_b,
    bulk_tau_b,
    kendall_tau_b,
    rbo,
    round_scores,
    tau_ap,
    tau_ap_b,
    tie_groups,
)

# The three pairs of vectors that the R package ircor 1.0 (the authors of tau_AP_b) is tested with, without and with
# ties, and the values it must give there: tau_b, tau_AP and tau_AP_b untied; tau_b, tau_AP_b and tau_AP_a tied.
IRCOR = [
    (
        [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
        [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
        (0.9111, 0.8519, 0.8333, 0.9398, 0.7321, 0.7454),
    ),
    (
        [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
        [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
        (0.2889, 0.2504, 0.2880, 0.3765, 0.297, 0.2692),
    ),
    (
        [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
        [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
        (-0.6889, -0.6971, -0.668, -0.6510, -0.7047, -0.5558),
    ),
]

# Rows of the test data of the authors of tie-aware RBO (julian-urbano/sigir2024-rbo, rbo/test.csv): two rankings with
# tie groups in brackets, p, and the extrapolated scores of the variants w, a and b.
CORSI_URBANO = [
    (
        "(i5 i9 i13 i15 i16 i19 i20) (i3 i8)",
        "i6 (i4 i18) i2 i7 i8 i17 i14 (i11 i12) i1",
        0.958074765324023,
        (0.0816485573277354, 0.0808189832771587, 0.0813693619867344),
    ),
    (
        "i13 (i1 i4 i5 i6)",
        "i3 i14 i11 (i10 i15) i12 (i6 i9) i4 i2",
        0.92238320668128,
        (0.117578490431637, 0.114619469221414, 0.11474835409049),
    ),
    (
        "(i3 i6) (i2 i7) i10",
        "(i3 i6 i7 i10) (i1 i2)",
        0.965413635276732,
        (0.946064537517568, 0.92051534467649, 0.956844651806714),
    ),
    (
        "i1 (i15 i16) i10 i12 i2 i14",
        "i16 (i1 i10 i11 i15) i2 (i4 i5 i6)",
        0.988786023528663,
        (0.691527178549045, 0.7056986088397, 0.718722074850857),
    ),
    (
        "i4 (i2 i14) i7 i5 i3",
        "(i9 i13) (i6 i8) i1 i5 i10 i15 i11",
        0.986650551181127,
        (0.155835200392091, 0.155835200392091, 0.155835200392091),
    ),
    (
        "(i3 i6 i10 i14 i15)",
        "i6 (i3 i7 i10 i14) i8 i15 (i1 i2 i4)",
        0.926466853612826,
        (0.826094305041388, 0.756260643055255, 0.828615638235269),
    ),
    (
        "(i1 i9 i15 i17) i13 i4 i3 i2",
        "(i1 i17) i15 i9 i13 i4 (i2 i3) i14",
        0.959906916802432,
        (0.966438584453973, 0.939211367148046, 0.970894528910972),
    ),
    (
        "(i5 i20) (i3 i8 i10 i11) i13",
        "(i1 i2 i3 i4 i5 i6 i7 i8 i9 i10 i11 i12 i13)",
        0.956020041658117,
        (0.640387430188247, 0.536528176569959, 0.650587440650316),
    ),
    (
        "i21 i20 (i1 i16 i19) (i5 i10) i4",
        "(i12 i17) (i2 i3 i8 i11) (i15 i18) (i6 i13) (i7 i14) i9",
        0.930074017489188,
        (0, 0, 0),
    ),
    (
        "i3 (i1 i6 i9 i12 i18)",
        "(i7 i13) (i11 i12) (i5 i17) (i4 i10 i16) i6 (i2 i8) (i14 i19) i9",
        0.90742062345694,
        (0.187898520820794, 0.175013402381706, 0.181755779276486),
    ),
    (
        "i1 i4 i5 (i3 i15)",
        "i1 i4 i5 i3 i15 i8 (i10 i11 i14) (i2 i12)",
        0.972054390708756,
        (0.991821985976893, 0.989470772851577, 0.993497522184276),
    ),
]

few_scores = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12)
rankings = st.lists(st.integers(0, 15), min_size=1, max_size=12, unique=True)


@st.composite
def tied_rankings(draw: st.DrawFn, size: int | None = None) -> list[int | list[int]]:
    ids = draw(st.lists(st.integers(0, 9), min_size=size or 1, max_size=size or 8, unique=True))
    cuts = draw(st.lists(st.booleans(), min_size=len(ids), max_size=len(ids)))
    groups: list[list[int]] = []
    for one, cut in zip(ids, cuts, strict=True):
        if cut or not groups:
            groups.append([one])
        else:
            groups[-1].append(one)
    return [group if len(group) > 1 else group[0] for group in groups]


def breakings(ranking: list[int | list[int]]) -> Iterator[list[int]]:
    choices = [itertools.permutations(group if isinstance(group, list) else [group]) for group in ranking]
    for choice in itertools.product(*choices):
        yield [one for group in choice for one in group]


def plain_tau_ap(truth: list[float], other: list[float]) -> float:
    order = sorted(range(len(truth)), key=lambda system: -other[system])
    shares = [sum(truth[order[j]] > truth[order[i]] for j in range(i)) / i for i in range(1, len(order))]
    return 2 * sum(shares) / len(shares) - 1


def plain_directed(x: list[float], y: list[float]) -> float:
    shares = []
    for i in range(len(y)):
        above = [j for j in range(len(y)) if y[j] > y[i]]
        if above:
            shares.append(sum(x[j] > x[i] for j in above) / len(above))
    return 2 * sum(shares) / len(shares) - 1 if shares else math.nan


def equation_32(first: list[int], second: list[int], p: float) -> float:
    short, long = sorted((first, second), key=len)
    s, l = len(short), len(long)  # noqa: E741
    x = [len(set(short[:d]) & set(long[:d])) for d in range(l + 1)]
    total = sum(x[d] / d * p**d for d in range(1, l + 1))
    total += sum(x[s] * (d - s) / s / d * p**d for d in range(s + 1, l + 1))
    return (1 - p) / p * total + ((x[l] - x[s]) / l + x[s] / s) * p**l


def parse(text: str) -> list[str | list[str]]:
    tokens = text.replace("(", "( ").replace(")", " )").split()
    ranking: list[str | list[str]] = []
    group: list[str] | None = None
    for token in tokens:
        if token == "(":
            group = []
        elif token == ")":
            assert group is not None
            ranking.append(group)
            group = None
        elif group is not None:
            group.append(token)
        else:
            ranking.append(token)
    return ranking


@pytest.mark.parametrize(("x", "y", "expected"), IRCOR)
def test_values_of_the_authors_package(x: list[float], y: list[float], expected: tuple[float, ...]):
    tied_x, tied_y = np.round(x, 1), np.round(y, 1)
    found = (
        kendall_tau_b(x, y),
        tau_ap(x, y),
        tau_ap_b(x, y),
        kendall_tau_b(tied_x, tied_y),
        tau_ap_b(tied_x, tied_y),
        tau_ap(x, tied_y),
    )
    assert found == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("seed", "n", "top", "tau_ap_b_value", "tau_b_value"),
    [
        (1, 12, 6, 0.4068870523415977, 0.632501735455006),
        (2, 30, 10, 0.406465883165785, 0.5308213895095235),
        (3, 143, 400, 0.5030407746483184, 0.6332321880809932),
    ],
)
def test_values_of_pyircor(seed: int, n: int, top: int, tau_ap_b_value: float, tau_b_value: float):
    # pyircor 0.2.0 on the same vectors, which have many ties.
    rng = np.random.default_rng(seed)
    x = rng.integers(0, top, n)
    y = np.clip(x + rng.integers(-top // 3, top // 3 + 1, n), 0, top)
    assert tau_ap_b(x, y) == pytest.approx(tau_ap_b_value, abs=1e-12)
    assert kendall_tau_b(x, y) == pytest.approx(tau_b_value, abs=1e-12)


def test_tau_ap_weighs_the_top_of_the_other_ranking():
    truth = [4, 3, 2, 1]
    assert tau_ap(truth, [3, 4, 2, 1]) == pytest.approx(2 * (0 + 1 + 1) / 3 - 1)
    assert tau_ap(truth, [4, 3, 1, 2]) == pytest.approx(2 * (1 + 1 + 2 / 3) / 3 - 1)


@given(st.permutations(range(9)), st.permutations(range(9)))
def test_tau_ap_by_definition(truth: list[int], other: list[int]):
    assert tau_ap(truth, other) == pytest.approx(plain_tau_ap(truth, other), abs=1e-12)
    both = (plain_tau_ap(truth, other) + plain_tau_ap(other, truth)) / 2
    assert tau_ap_b(truth, other) == pytest.approx(both, abs=1e-12)


@given(tied_rankings(5), tied_rankings(5))
def test_tau_ap_is_the_mean_over_broken_ties(first: list[int | list[int]], second: list[int | list[int]]):
    one, two = ({d: -i for i, g in enumerate(r) for d in (g if isinstance(g, list) else [g])} for r in (first, second))
    systems = list(one)
    two = {system: list(two.values())[place] for place, system in enumerate(systems)}
    if len(set(one.values())) == 1 or len(set(two.values())) == 1:
        assert math.isnan(tau_ap(list(one.values()), list(two.values())))
        return

    def orders(scores: dict[int, int]) -> Iterator[list[int]]:
        groups = tie_groups(list(scores), list(scores.values()))
        for order in breakings(groups):
            yield [-order.index(system) for system in systems]

    values = [plain_tau_ap(x, y) for x in orders(one) for y in orders(two)]
    assert tau_ap(list(one.values()), list(two.values())) == pytest.approx(np.mean(values), abs=1e-12)


@given(few_scores)
def test_tau_b_is_scipys(pairs: list[tuple[int, int]]):
    x, y = zip(*pairs, strict=True)
    expected = stats.kendalltau(x, y).statistic
    assert kendall_tau_b(x, y) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(few_scores)
def test_tau_ap_b_by_definition_and_symmetric(pairs: list[tuple[int, int]]):
    x, y = zip(*pairs, strict=True)
    found = tau_ap_b(x, y)
    expected = (plain_directed(x, y) + plain_directed(y, x)) / 2
    assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert found == pytest.approx(tau_ap_b(y, x), abs=1e-12, nan_ok=True)
    assert math.isnan(found) or -1 <= found <= 1


@given(st.permutations(range(8)))
def test_same_and_reversed_orders(scores: list[int]):
    turned = [-score for score in scores]
    for measure in (kendall_tau_b, tau_ap, tau_ap_b):
        assert measure(scores, scores) == pytest.approx(1)
        assert measure(scores, turned) == pytest.approx(-1)


def test_a_vector_of_ties_has_no_value():
    for measure in (kendall_tau_b, tau_ap, tau_ap_b):
        assert math.isnan(measure([1, 2, 3], [5, 5, 5]))
        assert math.isnan(measure([5, 5, 5], [1, 2, 3]))
        assert math.isnan(measure([1], [1]))
        assert math.isnan(measure([], []))


def test_noise_of_summing_makes_no_difference_unless_asked():
    x, y = [0.3, 0.3, 0.1], [0.3, 0.1 + 0.2, 0.1]
    assert tau_ap_b(x, y) == 1.0
    assert tau_ap_b(x, y, decimals=None) < 1.0
    assert round_scores([0.1 + 0.2]).tolist() == [0.3]
    assert round_scores([0.123], decimals=1).tolist() == [0.1]


def test_bulk_equals_single_over_several_blocks():
    rng = np.random.default_rng(0)
    truth, others = rng.integers(0, 9, 15), rng.integers(0, 9, (5000, 15))
    for bulk, single in ((bulk_tau_b, kendall_tau_b), (bulk_tau_ap, tau_ap), (bulk_tau_ap_b, tau_ap_b)):
        values = bulk(truth, others)
        assert values.shape == (5000,)
        for row in (0, 1, 2047, 2048, 4999):
            assert values[row] == pytest.approx(single(truth, others[row]), abs=1e-12)
        assert bulk(truth, np.empty((0, 15))).shape == (0,)


def test_real_system_scores_with_ties(shared: Path):
    text = (shared / "subsampling" / "trec-covid-round1" / "expected.json").read_text()
    truth = np.array(list(json.loads(text)["topic_aware"]["truth"]["pool10"].values()))
    assert len(truth) == 143
    assert len(np.unique(truth)) == 138
    noisy = np.round(truth + np.random.default_rng(0).normal(0, 0.02, (20, 143)), 2)
    expected = [(plain_directed(row, truth) + plain_directed(truth, row)) / 2 for row in noisy]
    assert bulk_tau_ap_b(truth, noisy) == pytest.approx(expected, abs=1e-12)
    assert bulk_tau_b(truth, noisy) == pytest.approx([stats.kendalltau(truth, row).statistic for row in noisy])
    assert tau_ap_b(truth, truth) == 1.0


def test_scores_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match=r"\(3,\) and \(1, 2\)"):
        kendall_tau_b([1, 2, 3], [1, 2])
    with pytest.raises(InputError, match="same systems"):
        bulk_tau_ap_b([1, 2, 3], [1, 2, 3])
    with pytest.raises(InputError, match="nan"):
        tau_ap([1, 2, math.nan], [1, 2, 3])


@pytest.mark.parametrize(("x", "y", "p", "expected"), CORSI_URBANO)
def test_rbo_of_the_authors_of_its_ties(x: str, y: str, p: float, expected: tuple[float, ...]):
    assert [rbo(parse(x), parse(y), p, ties) for ties in ("w", "a", "b")] == pytest.approx(expected, abs=1e-12)


def test_rbo_of_the_authors_readme():
    # julian-urbano/sigir2024-rbo, rbo/Python/README.md
    x = ["red", ["blue", "green"], "yellow", "pink"]
    y = [["blue", "red"], "white", ["yellow", "black", "purple"], "green"]
    found = {ties: rbo(x, y, 0.95, ties) for ties in ("a", "b", "w")}
    assert found == pytest.approx({"a": 0.6922853, "b": 0.7207131, "w": 0.7068257}, abs=5e-8)


def test_rbo_of_the_rbo_package():
    # rbo 0.1.3, RankingSimilarity(a, b).rbo_ext(p) for p = .8, .9, .98
    a, b, c = list("abcdefghij"), list("bacxdyefzgqr"), list("cadbe")
    assert [rbo(a, b, p) for p in (0.8, 0.9, 0.98)] == pytest.approx(
        [0.6592551204571429, 0.6912534952285715, 0.7003797624634295], abs=1e-12
    )
    assert [rbo(c, b, p) for p in (0.8, 0.9, 0.98)] == pytest.approx(
        [0.5980692033754691, 0.7301035864341235, 0.8510903129004734], abs=1e-12
    )


@given(rankings, rankings, st.sampled_from([0.1, 0.5, 0.9, 0.99]))
def test_rbo_without_ties_is_equation_32(first: list[int], second: list[int], p: float):
    expected = equation_32(first, second, p)
    for ties in ("a", "b", "w"):
        assert rbo(first, second, p, ties) == pytest.approx(expected, abs=1e-12)


@given(tied_rankings(), tied_rankings(), st.sampled_from([0.1, 0.5, 0.9, 0.99]), st.sampled_from(["a", "b", "w"]))
def test_rbo_is_bounded_and_symmetric(first: list[int | list[int]], second: list[int | list[int]], p: float, ties: str):
    found = rbo(first, second, p, ties)
    assert 0 <= found <= 1 + 1e-12
    assert found == pytest.approx(rbo(second, first, p, ties), abs=1e-12)
    own = rbo(first, first, p, ties)
    assert own == pytest.approx(1) or (ties == "a" and own < 1)


@given(tied_rankings(5), tied_rankings(5))
def test_rbo_a_is_the_mean_over_broken_ties(first: list[int | list[int]], second: list[int | list[int]]):
    values = [equation_32(one, two, 0.8) for one in breakings(first) for two in breakings(second)]
    assert rbo(first, second, 0.8, "a") == pytest.approx(np.mean(values), abs=1e-12)


def test_rankings_that_cannot_be_compared():
    assert rbo([], ["a"]) == 0
    assert math.isnan(rbo([], []))
    with pytest.raises(InputError, match="'a' stands twice"):
        rbo(["a", ["b", "a"]], ["a"])
    with pytest.raises(InputError, match=r"p of rank-biased overlap is 1\.0"):
        rbo(["a"], ["a"], p=1.0)
    with pytest.raises(UnknownNameError, match="treatment of ties 'c'"):
        rbo(["a"], ["a"], ties="c")  # type: ignore[arg-type]


def test_tie_groups_come_from_scores():
    assert tie_groups(["green", "yellow", "blue", "pink"], [4, 2, 4, 6]) == [["pink"], ["green", "blue"], ["yellow"]]
    with pytest.raises(InputError, match="2 ids"):
        tie_groups(["a", "b"], [1.0])
    with pytest.raises(InputError, match="'b' is nan"):
        tie_groups(["a", "b"], [1.0, math.nan])


def test_average_overlap_of_webbers_example():
    first, second = list("abcdefg"), list("zcavwxy")
    found = [average_overlap(first, second, depth) for depth in range(1, 8)]
    assert found == pytest.approx([0, 0, 0.222, 0.292, 0.313, 0.317, 0.312], abs=5e-4)


def test_average_overlap_of_the_rbo_package():
    # rbo 0.1.3, RankingSimilarity(a, b).rbo() and .rbo(k=5)
    a, b, c = list("abcdefghij"), list("bacxdyefzgqr"), list("cadbe")
    assert average_overlap(a, b) == pytest.approx(0.7047619047619048, abs=1e-12)
    assert average_overlap(a, b, depth=5) == pytest.approx(0.71, abs=1e-12)
    assert average_overlap(c, b) == pytest.approx(0.5433333333333333, abs=1e-12)
    assert average_overlap(["a", "b", "c", "d", "e"], ["b", "a", 1, "d"]) == pytest.approx(0.6041666666666666)


@given(rankings, rankings)
def test_average_overlap_by_definition(first: list[int], second: list[int]):
    k = min(len(first), len(second))
    shares = [len(set(first[:d]) & set(second[:d])) / d for d in range(1, k + 1)]
    assert average_overlap(first, second) == pytest.approx(np.mean(shares), abs=1e-12)
    assert average_overlap(first, first) == 1.0
    assert average_overlap(second, first) == average_overlap(first, second)


def test_lists_that_average_overlap_refuses():
    assert average_overlap([], ["a"]) == 0
    assert math.isnan(average_overlap([], []))
    with pytest.raises(InputError, match="depth of average overlap is 0"):
        average_overlap(["a"], ["a"], depth=0)
    with pytest.raises(InputError, match="no ties"):
        average_overlap([["a", "b"]], ["a"])  # type: ignore[list-item]
