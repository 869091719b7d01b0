from __future__ import annotations

import csv
import math
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, ERR, RBP, RR, Judged, P, R, Rprec, Success, nDCG

from ringtrue.data.formats.detect import read_qrels
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Qrel
from ringtrue.data.runs import Run, RunSet, run_files
from ringtrue.data.ties import Ties
from ringtrue.errors import InputError, UnknownNameError
from ringtrue.evaluation.measures import MFR, evaluate, parse_measure, parse_measures

TREC_TIES = [
    nDCG @ 10,
    nDCG,
    nDCG @ 3,
    P @ 5,
    P(rel=2) @ 5,
    R @ 5,
    R(rel=2) @ 7,
    AP,
    AP @ 4,
    AP(rel=2),
    RR,
    Success @ 3,
]
CONDENSED = [nDCG(judged_only=True) @ 5, P(judged_only=True) @ 5, AP(judged_only=True), RR(judged_only=True)]
ID_TIES = [Judged @ 5, Judged, MFR @ 5, MFR(rel=2) @ 4]


def random_campaign(seed: int, runs: int = 3) -> tuple[RunSet, Qrels]:
    """Ties, unjudged documents, negative grades, topics that runs lack or that have no relevant document."""
    rng = np.random.default_rng(seed)
    docs = [f"d{number}" for number in range(25)]
    qrels = [
        Qrel(f"t{topic}", str(doc), int(rng.integers(-1, 4)) if topic else 0)
        for topic in range(5)
        for doc in rng.choice(docs, size=12, replace=False)
    ]
    made = []
    for number in range(runs):
        topics = [f"t{topic}" for topic in range(7) if rng.random() < 0.7] or ["t1"]
        made.append(
            Run.from_results(
                f"run{number}",
                {
                    topic: [
                        (str(doc), float(rng.integers(0, 6)) / 3)
                        for doc in rng.choice(docs, size=int(rng.integers(1, 25)), replace=False)
                    ]
                    for topic in {*topics, "t2"}
                },
            )
        )
    return RunSet.from_runs(made), Qrels.from_records(qrels)


def by_ir_measures(runs: RunSet, qrels: Qrels, measures: list[ir_measures.Measure]) -> np.ndarray:
    evaluator = ir_measures.evaluator(measures, {topic: dict(docs) for topic, docs in qrels.by_topic.items()})
    values = np.full((len(measures), len(runs), len(qrels.topics)), np.nan)
    for run in range(len(runs)):
        scored = {
            topic: {line.doc_id: line.score for line in ranking} for topic, ranking in runs.run(run).rankings.items()
        }
        for metric in evaluator.iter_calc(scored):
            values[measures.index(metric.measure), run, qrels.topics.index(metric.query_id)] = metric.value
    return values


@pytest.mark.parametrize("seed", range(25))
def test_equals_ir_measures_on_random_campaigns(seed):
    runs, qrels = random_campaign(seed)
    for ties, measures in ((Ties.TREC, TREC_TIES + CONDENSED), (Ties.ASC, ID_TIES)):
        ours = evaluate(runs.with_ties(ties), qrels, measures)
        np.testing.assert_allclose(ours.values, by_ir_measures(runs, qrels, measures), atol=1e-9, rtol=0)


def test_scores_that_differ_beyond_32_bits_are_ties_for_trec_eval_alone():
    qrels = Qrels.from_records([Qrel("1", "a", 1)])
    runs = RunSet.from_runs([Run.from_results("r", {"1": [("a", 1.0 + 1e-12), ("b", 1.0)]})])
    assert evaluate(runs, qrels, [RR]).values.item() == 1
    assert evaluate(runs.with_ties(Ties.DESC), qrels, [RR]).values.item() == 1
    assert evaluate(runs.with_ties(Ties.TREC), qrels, [RR]).values.item() == 0.5


def test_worked_example():
    qrels = Qrels.from_records([Qrel("1", "a", 3), Qrel("1", "b", 0), Qrel("1", "c", 1), Qrel("2", "a", 1)])
    runs = RunSet.from_runs([Run.from_results("r", {"1": [("x", 4), ("c", 3), ("b", 2), ("a", 1)]})])
    scores = evaluate(runs, qrels, [nDCG @ 4, P @ 2, AP, RR, Judged @ 4, MFR @ 10])
    expected = (1 / math.log2(3) + 3 / math.log2(5)) / (3 + 1 / math.log2(3))
    np.testing.assert_allclose(scores.values[:, 0, 0], [expected, 0.5, (1 / 2 + 2 / 4) / 2, 0.5, 0.75, 2])
    np.testing.assert_allclose(scores.values[:, 0, 1], [0, 0, 0, 0, 0, 11])
    assert scores.retrieved.tolist() == [[True, False]]
    assert scores.means(nDCG @ 4)[0] == pytest.approx(expected / 2)
    assert scores.means(nDCG @ 4, over="run")[0] == pytest.approx(expected)


def test_mfr_has_three_means_that_its_name_tells_apart():
    qrels = Qrels.from_records([Qrel("1", "a", 1), Qrel("2", "a", 1), Qrel("3", "a", 1)])
    results = {"1": [("a", 1.0)], "2": [("x", 2.0), ("a", 1.0)], "3": [("x", 1.0)]}
    runs = RunSet.from_runs([Run.from_results("r", results)])
    kinds = [MFR @ 4, MFR(mean="geometric") @ 4, MFR(mean="harmonic") @ 4]
    scores = evaluate(runs, qrels, kinds)
    means = [scores.means(kind)[0] for kind in kinds]
    np.testing.assert_allclose(means, [(1 + 2 + 5) / 3, (1 * 2 * 5) ** (1 / 3), 3 / (1 + 1 / 2 + 1 / 5)])
    assert [str(kind) for kind in kinds] == ["MFR@4", "MFR(mean='geometric')@4", "MFR(mean='harmonic')@4"]
    assert ir_measures.parse_measure("MFR(mean='harmonic')@4") == kinds[2]
    own = ir_measures.calc_aggregate(kinds, list(qrels), runs.run(0).rankings["1"] + runs.run(0).rankings["2"])
    np.testing.assert_allclose([own[kind] for kind in kinds], means)


def test_other_measures_go_to_ir_measures_with_our_tie_rule():
    qrels = Qrels.from_records([Qrel("1", "a", 1)])
    runs = RunSet.from_runs([Run.from_results("r", {"1": [("a", 1.0), ("b", 1.0)]})])
    first = evaluate(runs, qrels, [Rprec, RR]).values.ravel().tolist()
    last = evaluate(runs.with_ties(Ties.DESC), qrels, [Rprec, RR]).values.ravel().tolist()
    assert (first, last) == ([1, 1], [0, 0.5])
    with pytest.raises(InputError, match="cannot compute RBP"):
        evaluate(runs, qrels, [RBP])


def test_a_measure_that_ends_in_an_error_is_named():
    """Accuracy divides by the number of pairs, of which a run with relevant documents alone has none."""
    runs = RunSet.from_runs([Run.from_results("r", {"1": [("a", 1.0)]})])
    with pytest.raises(InputError, match=r"compute Accuracy for run 'r' \(float division by zero\); take another"):
        evaluate(runs, Qrels.from_records([Qrel("1", "a", 1)]), [ir_measures.Accuracy])


def test_rank_biased_precision_by_hand():
    qrels = Qrels.from_records([Qrel("1", "a", 1), Qrel("1", "c", 2)])
    runs = RunSet.from_runs([Run.from_results("r", {"1": [("a", 3.0), ("b", 2.0), ("c", 1.0)]})])
    scores = evaluate(runs, qrels, [RBP(p=0.5, rel=1), RBP(p=0.8, rel=2), RBP(p=0.8, rel=1) @ 1])
    np.testing.assert_allclose(scores.values.ravel(), [0.5 * (1 + 0.25), 0.2 * 0.64, 0.2])


def test_expected_reciprocal_rank_by_hand_and_by_the_web_tracks_program():
    """Whose topics have to be numbers, while those of our campaigns may have any name."""
    runs, qrels = random_campaign(2)
    topics = {topic: str(number) for number, topic in enumerate(sorted({*qrels.topics, *runs.topics}))}
    numbered = Qrels.from_records([line._replace(query_id=topics[line.query_id]) for line in qrels])
    scored = RunSet.from_runs(
        [
            Run.from_results(
                name,
                {
                    topics[topic]: [(line.doc_id, 1 / rank) for rank, line in enumerate(ranking, start=1)]
                    for topic, ranking in runs.run(place).rankings.items()
                },
            )
            for place, name in enumerate(runs.names)
        ]
    )
    ours = evaluate(runs, qrels, [ERR @ 5, ERR @ 20])
    assert ours.values.any()
    reference = np.nan_to_num(by_ir_measures(scored, numbered, [ERR @ 5, ERR @ 20]))
    np.testing.assert_allclose(ours.values, reference, atol=1e-5)
    one = RunSet.from_runs([Run.from_results("r", {"2009-1": [("a", 3.0), ("x", 2.0), ("b", 1.0)]})])
    judged = [Qrel("2009-1", "a", 1), Qrel("2009-1", "b", 4)]
    figures = evaluate(one, Qrels.from_records(judged), [ERR, ERR @ 2]).values.ravel()
    np.testing.assert_allclose(figures, [1 / 16 + 15 / 16 * 15 / 16 / 3, 1 / 16])
    with pytest.raises(InputError, match="ERR@2 is for grades up to 4, and one is 5"):
        evaluate(one, Qrels.from_records([*judged, Qrel("2009-1", "c", 5)]), [ERR @ 2])


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000))
def test_bounds_and_monotony(seed):
    runs, qrels = random_campaign(seed, runs=1)
    depths = [evaluate(runs, qrels, [R @ depth]).values for depth in (1, 5, 25)]
    assert (depths[0] <= depths[1]).all() and (depths[1] <= depths[2]).all()
    for measure in (nDCG @ 10, AP, RR, P @ 10):
        values = evaluate(runs, qrels, [measure]).values
        assert (values >= 0).all() and (values <= 1 + 1e-12).all()


def test_official_figures_of_trec_covid_round_1(shared: Path):
    campaign = shared / "subsampling" / "trec-covid-round1"
    runs = RunSet.read(run_files(campaign / "runs"), Ties.TREC)
    qrels = read_qrels(campaign / "qrels.txt")
    means = dict(zip(runs.names, evaluate(runs, qrels, [nDCG @ 10]).means(nDCG @ 10), strict=True))
    with open(campaign / "leaderboard.csv", encoding="utf-8") as file:
        official = {row["run"]: row["ndcg@10"] for row in csv.DictReader(file)}
    assert len(official) == 143
    assert {run: f"{means[run]:.4f}" for run in official} == official


def test_a_run_of_another_collection_is_named():
    qrels = Qrels.from_records([Qrel("1", "a", 1)])
    runs = RunSet.from_runs(
        [Run.from_results("mine", {"1": [("a", 1)]}), Run.from_results("stray", {"q9": [("a", 1)]})]
    )
    with pytest.raises(InputError, match=r"'stray' has no topic in common .* it has q9 …, judged are 1"):
        evaluate(runs, qrels, [P @ 1])


def test_parsing():
    assert parse_measures(["nDCG@10 P@1", "RR"]) == (nDCG @ 10, P @ 1, RR)
    with pytest.raises(UnknownNameError, match="did you mean nDCG"):
        parse_measure("nDGC@10")
    with pytest.raises(UnknownNameError, match=r"unknown measure 'ndcg'; did you mean nDCG or NDCG"):
        parse_measure("ndcg@10")
    with pytest.raises(InputError, match="measure 'P': it needs a cutoff; write"):
        parse_measure("P")
    with pytest.raises(InputError, match="nDCG@ten"):
        parse_measure("nDCG@ten")
    with pytest.raises(InputError, match="'P@0' looks at no rank; its cutoff should be 1 or more, as in P@10"):
        parse_measure("P@0")
    with pytest.raises(UnknownNameError, match="these scores"):
        evaluate(*random_campaign(0), [P @ 1]).of(RR)
