from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from importlib.resources import files

import numpy as np
import pytest
from ir_measures import RR, NumRet, P, nDCG
from scipy import stats

from ringtrue.data.formats.detect import read_qrels
from ringtrue.data.load import load
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Qrel
from ringtrue.data.runs import Run, RunSet, run_files
from ringtrue.errors import InputError, UnknownNameError
from ringtrue.evaluation.correlation import kendall_tau_b, tau_ap_b
from ringtrue.evaluation.measures import MFR, evaluate
from ringtrue.leakage.exchange import read_label_files
from ringtrue.leakage.impact import MEAN_OF_ALL, measure_impact
from ringtrue.leakage.labels import verified
from ringtrue.leakage.sections import impact_sections

LEAKED = ("t00", "t01", "t02", "t03", "t04", "t05")
TOPICS = (*LEAKED, "t06", "t07", "t08", "t09", "t10", "t11")


def campaign(first_ranks: dict[str, list[int]], topics: Sequence[str] = TOPICS) -> tuple[RunSet, Qrels]:
    """Runs whose first relevant document stands at the given rank of each topic."""
    qrels = Qrels.from_records(Qrel(topic, "good", 1) for topic in topics)
    runs = []
    for name, ranks in first_ranks.items():
        results = {
            topic: [("good" if place == rank else f"bad{place}", -place) for place in range(1, 6)]
            for topic, rank in zip(topics, ranks, strict=True)
        }
        runs.append(Run.from_results(name, results))
    return RunSet.from_runs(runs), qrels


@pytest.fixture
def trained() -> tuple[RunSet, Qrels]:
    return campaign({"trained": [1] * 6 + [4] * 6, "plain": [2] * 12, "other": [2] * 12})


@pytest.fixture(scope="module")
def lighthouse() -> tuple[RunSet, Qrels, tuple[str, ...]]:
    collection = load("builtin:lighthouse")
    planted = files("ringtrue.data").joinpath("lighthouse/leaks.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in planted]
    leaked = tuple(sorted({row["topic_id"] for row in rows if row["type"] != "different-topic"}))
    assert collection.runs_folder is not None
    return RunSet.read(run_files(collection.runs_folder), cached=False), collection.qrels, leaked


def test_worked_example(trained):
    impact = measure_impact(*trained, LEAKED, measure=RR, permutations=500, replicates=200)
    by_run = {system.run: system for system in impact.systems}
    seen = by_run["trained"]
    assert [system.run for system in impact.systems] == ["trained", "other", "plain"]
    assert (seen.score, seen.score_leaked, seen.score_clean) == pytest.approx((0.625, 1.0, 0.25))
    assert (seen.rank, seen.rank_clean, by_run["plain"].rank, by_run["plain"].rank_clean) == (1, 3, 2, 1)
    assert [by_run[run].difference for run in ("trained", "plain", "other")] == pytest.approx([0.75, 0, 0])
    assert [by_run[run].relative for run in ("trained", "plain", "other")] == pytest.approx([0.5, -0.25, -0.25])
    assert impact.reference == MEAN_OF_ALL
    assert (len(impact.leaked), len(impact.clean), impact.not_judged) == (6, 6, ())
    assert seen.interval[:2] == pytest.approx((0.75, 0.75))  # no variance within either kind of topic


def test_swapped_pairs_with_their_tests(trained):
    order = measure_impact(*trained, LEAKED, measure=RR, permutations=500, replicates=10).order
    assert order is not None
    assert [(swap.ahead, swap.behind) for swap in order.swaps] == [("trained", "other"), ("trained", "plain")]
    first = order.swaps[0]
    assert (first.difference, first.difference_clean) == pytest.approx((0.125, -0.25))
    everywhere = stats.ttest_rel([1.0] * 6 + [0.25] * 6, [0.5] * 12).pvalue
    assert first.p_holm == pytest.approx(min(3 * everywhere, 1))  # a family of three pairs, of which two swap
    assert first.p_holm_clean == 3 * 2 / 2**6  # all six differences are the same
    assert first.change == pytest.approx(0.75)  # .5 ahead on all leaked, .25 behind else
    assert first.p_holm_change == pytest.approx(3 * 2 / math.comb(12, 6))
    assert first.is_significant(0.05)
    assert (order.pairs, order.tau_b) == (2, kendall_tau_b([0.625, 0.5, 0.5], [0.25, 0.5, 0.5]))
    assert order.tau_ap_b == tau_ap_b([0.625, 0.5, 0.5], [0.25, 0.5, 0.5])


def test_a_significant_order_alone_makes_no_significant_swap():
    # behind by a rank on each clean topic, sometimes far ahead and sometimes far behind on leaked ones
    runs, qrels = campaign({"one": [1, 1, 2, 1, 2, 1] + [4] * 6, "other": [2, 2, 1, 2, 1, 2] + [3] * 6})
    order = measure_impact(runs, qrels, LEAKED, measure=RR, replicates=10).order
    assert order is not None
    (swap,) = order.swaps
    leaked, clean = [0.5, 0.5, -0.5, 0.5, -0.5, 0.5], [1 / 4 - 1 / 3] * 6
    assert swap.p_holm_clean == 2 / 2**6
    assert swap.change == pytest.approx(np.mean(leaked) - np.mean(clean))
    assert swap.p_holm_change == pytest.approx(stats.ttest_1samp(leaked, clean[0]).pvalue)  # there is one variance only
    assert not swap.is_significant(0.05)


def test_a_reference_run_takes_the_place_of_the_mean(trained):
    impact = measure_impact(*trained, LEAKED, measure=RR, reference="plain", permutations=50, replicates=10)
    relative = {system.run: system.relative for system in impact.systems}
    assert relative == {"trained": pytest.approx(0.75), "plain": None, "other": pytest.approx(0)}
    assert next(system for system in impact.systems if system.run == "plain").p_holm is None


def test_permutation_p_is_that_of_all_choices_of_topics():
    ranks = np.random.default_rng(5).integers(1, 5, size=(3, 12))
    ranks[0, :6] = np.maximum(ranks[0, :6] - 1, 1)
    runs, qrels = campaign({name: row.tolist() for name, row in zip("abc", ranks, strict=True)})
    values = evaluate(runs, qrels, [RR]).of(RR)

    def relative(chosen: tuple[int, ...]) -> np.ndarray:
        mask = np.isin(np.arange(12), chosen)
        difference = values[:, mask].mean(axis=1) - values[:, ~mask].mean(axis=1)
        return difference - difference.mean()

    seen = relative(tuple(range(6)))
    drawn = np.array([relative(chosen) for chosen in itertools.combinations(range(12), 6)])
    exact = (np.abs(drawn) >= np.abs(seen) - 1e-12).mean(axis=0)
    impact = measure_impact(runs, qrels, LEAKED, measure=RR, permutations=20_000, replicates=10)
    found = {system.run: system.p for system in impact.systems}
    assert [found[run] for run in "abc"] == pytest.approx(exact.tolist(), abs=0.015)


def test_intervals_are_those_of_scipys_two_sample_bootstrap(lighthouse):
    runs, qrels, leaked = lighthouse
    impact = measure_impact(runs, qrels, leaked, replicates=20_000, permutations=10)
    values = evaluate(runs, qrels, [nDCG @ 10]).of(nDCG @ 10)
    is_leaked = np.isin(qrels.topics, leaked)
    for name in ("harbour_bm25", "signal_minilm"):
        row, mean = values[runs.names.index(name)], values.mean(axis=0)
        system = next(system for system in impact.systems if system.run == name)
        plain = stats.bootstrap(
            (row[is_leaked], row[~is_leaked]),
            lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis),
            n_resamples=20_000, method="percentile", rng=np.random.default_rng(1),
        ).confidence_interval  # fmt: skip
        assert system.interval[:2] == pytest.approx((plain.low, plain.high), abs=0.006)
        less = stats.bootstrap(
            ((row - mean)[is_leaked], (row - mean)[~is_leaked]),
            lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis),
            n_resamples=20_000, method="percentile", rng=np.random.default_rng(2),
        ).confidence_interval  # fmt: skip
        assert system.relative_interval is not None
        assert system.relative_interval[:2] == pytest.approx((less.low, less.high), abs=0.006)


def test_lighthouse_runs_never_saw_the_log(lighthouse):
    runs, qrels, leaked = lighthouse
    impact = measure_impact(runs, qrels, leaked, replicates=500, permutations=500)
    assert (len(impact.leaked), len(impact.clean)) == (26, 24)
    for system in impact.systems:
        assert system.score == pytest.approx((26 * system.score_leaked + 24 * system.score_clean) / 50)
        assert system.interval.low <= system.difference <= system.interval.high
        assert system.p_holm is not None and system.p_holm > 0.05
    assert sum(system.relative for system in impact.systems if system.relative is not None) == pytest.approx(0)
    order = impact.order
    assert order is not None and order.swaps and not any(swap.is_significant(0.05) for swap in order.swaps)
    assert 0.05 < order.p_tau_ap_b < 1 and order.random_low <= order.random_tau_ap_b


def test_leaving_out_random_topics_is_rarely_beyond_chance(lighthouse):
    runs, qrels, _ = lighthouse
    rng = np.random.default_rng(7)
    found = []
    for _ in range(40):
        chosen = rng.choice(qrels.topics, size=15, replace=False).tolist()
        order = measure_impact(runs, qrels, chosen, replicates=1, permutations=100).order
        assert order is not None
        found.append(order.p_tau_ap_b)
    assert sum(p < 0.05 for p in found) <= 6  # two are expected
    assert 0.3 < float(np.mean(found)) < 0.7


def test_a_model_that_knows_the_leaked_topics_is_found(lighthouse):
    runs, qrels, leaked = lighthouse
    bm25 = runs.run(runs.names.index("harbour_bm25_nostem"))
    ideal = {
        topic: sorted(((doc, float(grade)) for doc, grade in judged.items()), key=lambda pair: -pair[1])
        for topic, judged in qrels.by_topic.items()
        if topic in leaked
    }
    rest = {topic: [(line.doc_id, line.score) for line in lines] for topic, lines in bm25.rankings.items()}
    cheat = Run.from_results("cheat", {**rest, **ideal})
    some = RunSet.from_runs([*(runs.run(place) for place in range(6)), cheat])
    impact = measure_impact(some, qrels, leaked, replicates=500, permutations=1000)
    found = next(system for system in impact.systems if system.run == "cheat")
    assert (found.rank, found.rank_clean > 1) == (1, True)
    assert found.relative is not None and found.relative > 0.1
    assert found.p_holm is not None and found.p_holm < 0.05
    assert impact.order is not None and any(swap.is_significant(0.05) for swap in impact.order.swaps)


def test_there_are_draws_enough_for_one_of_very_many_systems_to_gain_significantly():
    topics = [f"t{place:02}" for place in range(40)]
    rng = np.random.default_rng(1)
    ranks = {f"s{place:03}": rng.integers(1, 6, 40).tolist() for place in range(119)}
    runs, qrels = campaign({**ranks, "trained": [1] * 12 + [5] * 28}, topics)
    few, usual = (
        measure_impact(runs, qrels, topics[:12], measure=RR, permutations=draws, replicates=10)
        for draws in (2_000, None)
    )
    assert usual.settings["permutations"] == 100 * 120 and usual.least_p == 1 / 12_001
    adjusted = [next(one.p_holm for one in impact.systems if one.run == "trained") for impact in (few, usual)]
    assert adjusted[0] == pytest.approx(120 / 2_001) and adjusted[1] == pytest.approx(120 / 12_001)


@pytest.mark.parametrize("mean", ["arithmetic", "geometric", "harmonic"])
def test_mean_first_rank_is_better_when_lower(mean):
    runs, qrels = campaign({"good": [1, 2] * 6, "bad": [3, 5] * 6, "mid": [1, 2, 3] * 4})
    measure = MFR(mean=mean) @ 10
    impact = measure_impact(runs, qrels, LEAKED, measure=measure, permutations=20, replicates=20)
    assert not impact.higher_is_better
    assert [system.run for system in impact.systems] == ["good", "mid", "bad"]
    means = dict(zip(runs.names, evaluate(runs, qrels, [measure]).means(measure).tolist(), strict=True))
    assert {system.run: system.score for system in impact.systems} == pytest.approx(means)


def test_any_measure_of_ir_measures_can_be_taken(trained):
    impact = measure_impact(*trained, LEAKED, measure=P @ 1, permutations=20, replicates=20)
    assert impact.systems[0].score_leaked == 1.0
    with pytest.raises(InputError, match="sum over topics"):
        measure_impact(*trained, LEAKED, measure=NumRet)


def test_too_few_topics_of_either_kind_are_not_compared(trained):
    few = measure_impact(*trained, LEAKED[:4], measure=RR)
    assert (few.systems, few.order, len(few.leaked), len(few.clean)) == ((), None, 4, 8)
    assert measure_impact(*trained, TOPICS[:8], measure=RR).systems == ()


def test_leaked_topics_without_judgments_are_named(trained):
    impact = measure_impact(*trained, (*LEAKED, "x9", "x1"), measure=RR, permutations=5, replicates=5)
    assert impact.not_judged == ("x1", "x9")


def test_a_judged_topic_that_was_not_searched_for_is_on_neither_side(trained):
    runs, qrels = trained
    rest = Qrels.from_records(Qrel(topic, "good", 1) for topic in TOPICS[:-1])
    impact = measure_impact(runs, qrels, LEAKED, searched=TOPICS[1:-1], measure=RR, replicates=200)
    assert impact.unsearched == TOPICS[-1:] and impact.leaked == LEAKED  # what leaked was searched for
    assert impact.systems == measure_impact(runs, rest, LEAKED, measure=RR, replicates=200).systems
    assert "could not be searched for: t11." in impact_sections(impact)[0].note


def test_one_system_alone_has_no_order(trained):
    runs, qrels = trained
    alone = measure_impact(RunSet.from_runs([runs.run(0)]), qrels, LEAKED, measure=RR, permutations=5, replicates=5)
    assert alone.order is None
    assert (alone.systems[0].relative, alone.systems[0].p, alone.systems[0].difference) == (None, None, 0.75)


def test_all_systems_alike_have_no_order_to_change():
    runs, qrels = campaign({"a": [2] * 12, "b": [2] * 12})
    order = measure_impact(runs, qrels, LEAKED, measure=RR, permutations=5, replicates=5).order
    assert order is not None and math.isnan(order.tau_ap_b) and math.isnan(order.p_tau_ap_b)
    assert (order.swaps, order.pairs) == ((), 0)


@pytest.mark.parametrize(
    ("track", "name", "leaked", "score"),
    [("core17", "nyt-common-core-2017", 37, 0.4095), ("core18", "wapo-v2-common-core-2018", 38, 0.3997)],
)
def test_verified_leaks_of_the_core_tracks(shared, track, name, leaked, score):
    folder = shared / "leakage"
    final = ("01-annotated-by-maik-and-cakiki", "02-annotated-by-chris", "03-annotated-by-maik", "04-annotated-by-maik")
    paths = [next(folder.rglob(f"*{file}.jsonl")) for file in final]
    is_leak = verified(read_label_files(paths))
    topics = {topic for (topic, _), true in is_leak.items() if true}
    qrels = read_qrels(folder / f"qrels.{track}.txt")
    runs = RunSet.read([folder / f"{name}-bm25.run.gz"], cached=False)
    impact = measure_impact(runs, qrels, topics, permutations=10, replicates=100)
    assert len(impact.leaked) == leaked and len(impact.clean) == 50 - leaked
    assert impact.systems[0].score == pytest.approx(score, abs=5e-5)


def test_the_same_seed_gives_the_same_numbers(lighthouse):
    runs, qrels, leaked = lighthouse
    one, two, other = (measure_impact(runs, qrels, leaked, replicates=50, permutations=50, seed=s) for s in (1, 1, 2))
    assert one == two
    assert one != other


def test_unknown_reference_and_no_draws_are_errors(trained):
    with pytest.raises(UnknownNameError, match="plain"):
        measure_impact(*trained, LEAKED, reference="plane")
    with pytest.raises(InputError, match="at least one"):
        measure_impact(*trained, LEAKED, permutations=0)
