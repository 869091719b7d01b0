from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import plain_holdout
import pytest
from campaigns import as_campaign, random_campaign
from ir_measures import nDCG

from ringtrue.data.formats.detect import read_qrels
from ringtrue.data.groups import find_groups
from ringtrue.data.runs import RunSet, run_files
from ringtrue.errors import InputError
from ringtrue.evaluation.correlation import tau_ap
from ringtrue.evaluation.measures import MFR
from ringtrue.study import Material, Study
from ringtrue.subsampling.campaign import Campaign
from ringtrue.subsampling.holdout import VIEWS, leave_one_group_out, truth
from ringtrue.subsampling.reliability import TRUTHS, Experiment, best_share, reliability
from ringtrue.subsampling.samplers import SAMPLERS
from ringtrue.subsampling.sections import reliability_json
from ringtrue.subsampling.variants import VARIANTS


@pytest.fixture(scope="module")
def lighthouse() -> Campaign:
    return Material(Study().or_builtin(), lambda message: None).campaign()


@pytest.fixture(scope="module")
def trec_covid(shared: Path) -> RunSet:
    return RunSet.read(run_files(shared / "subsampling" / "trec-covid-round1" / "runs"), cached=False)


@pytest.mark.parametrize("variant", VARIANTS)
def test_expected_values_of_trec_covid_round_1(shared: Path, trec_covid: RunSet, variant):
    folder = shared / "subsampling" / "trec-covid-round1"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))[variant]
    definitions = VARIANTS[variant]
    campaign = Campaign.from_runs(
        trec_covid.with_ties(definitions.ties),
        read_qrels(folder / "qrels.txt"),
        find_groups(trec_covid, folder / "leaderboard.csv"),
        judging=definitions.judging,
        judged_topics_only=definitions.judged_topics_only,
    )
    assert (len(campaign.runs), len(campaign.group_names)) == (expected["systems"], expected["groups"])
    experiment = Experiment(campaign, nDCG @ 10, definitions.mean, replicates=1)
    results, _ = reliability(experiment, list(expected["samplers"]))
    written = json.loads(reliability_json(results, 0.75, experiment.true_scores))
    for name, theirs in expected["samplers"].items():
        ours = written["samplers"][name]
        for field in ("corpus_size_mean", "corpus_size_min", "corpus_size_max"):
            assert ours[field] == pytest.approx(theirs[field], abs=1e-6), (name, field)
        for held in TRUTHS:
            for view in VIEWS:
                wanted = theirs[held][view]
                got = {field: ours[held][view][field] for field in wanted}
                assert got == pytest.approx(wanted, abs=1e-6), (name, held, view)
    assert set(written["truth"]) == set(expected["truth"]) == {"pool10", "full"}
    for name, scores in expected["truth"].items():
        assert written["truth"][name] == pytest.approx(scores, abs=1e-6)


def test_larger_pools_are_more_reliable_and_intervals_hold_the_figure(lighthouse):
    experiment = Experiment(lighthouse, nDCG @ 10, replicates=200)
    results, comparisons = reliability(experiment, ["pool:1", "pool:3", "complete"])
    taus = [one.lead("with").unpooled_tau_ap_b for one in results]
    assert taus[0] < taus[1] < taus[2] == 1
    for one in results:
        interval = one.intervals["with"].delta
        assert interval.low <= one.lead("with").delta <= interval.high
    assert [one.sampler for one in comparisons] == ["pool:1", "pool:3"]
    assert all(one.reference == "complete" and one.mean_difference <= 0 for one in comparisons)


@pytest.mark.parametrize("mean", ["qrels", "run"])
def test_intervals_equal_a_slow_plain_bootstrap(mean):
    """Topics and the systems of a group as often as these were drawn, coefficients from their definitions."""
    campaign = as_campaign(*random_campaign(3), "topic_aware")
    experiment = Experiment(campaign, nDCG @ 10, mean, replicates=30, seed=5)
    (found,), _ = reliability(experiment, ["pool:2"])
    cells = leave_one_group_out(campaign, SAMPLERS.parse("pool:2"), nDCG @ 10)
    whole = truth(campaign, nDCG @ 10, pooled=True)
    runs, groups = range(len(campaign.runs)), range(len(campaign.group_names))
    topics = len(campaign.qrels.topics)

    def average(values, retrieved, drawn) -> float:
        counted = [topic for topic in drawn if mean == "qrels" or retrieved[topic]]
        return float(round(sum(values[topic] for topic in counted) / len(counted), 10)) if counted else 0.0

    for place, view in enumerate(VIEWS):
        replicates: dict[str, list[float]] = {}
        for weights, chosen in zip(*experiment.draws, strict=True):
            drawn = [topic for topic in range(topics) for _ in range(round(weights[topic] * topics))]
            assert len(drawn) == topics
            true = [average(whole[run], experiment.retrieved[run], drawn) for run in runs]
            scores = [
                [average(cells.values[place, group, run], cells.retrieved[group, run], drawn) for run in runs]
                for group in groups
            ]
            systems = [run for group in chosen for run in runs if campaign.group_of_run[run] == group]
            actual = [true[run] for run in systems]
            predicted = [scores[campaign.group_of_run[run]][run] for run in systems]
            errors = [one - other for one, other in zip(predicted, actual, strict=True)]
            for name, coefficient in (("tau_ap_b", plain_holdout.tau_ap_b), ("tau_b", plain_holdout.tau_b)):
                over_groups = [coefficient(true, scores[group]) for group in chosen]
                replicates.setdefault(name, []).append(sum(over_groups) / len(over_groups))
                replicates.setdefault(f"unpooled_{name}", []).append(coefficient(actual, predicted))
            replicates.setdefault("tau_ap", []).append(sum(tau_ap(true, scores[one]) for one in chosen) / len(chosen))
            replicates.setdefault("delta", []).append(sum(errors) / len(errors))
            replicates.setdefault("rmse", []).append((sum(error**2 for error in errors) / len(errors)) ** 0.5)
        intervals = vars(found.intervals[view])
        assert set(intervals) == set(replicates)
        for name, values in replicates.items():
            known = [value for value in values if not np.isnan(value)]
            assert intervals[name][:2] == pytest.approx(tuple(np.percentile(known, (2.5, 97.5))), abs=1e-9), name


def test_replicates_without_a_coefficient_are_counted():
    """Of three systems in three groups every ninth resample draws one group alone, whose system is tied with itself."""
    runs, groups, qrels = random_campaign(3)
    some = {name: runs[name] for name in ("r0", "r2", "r4")}
    experiment = Experiment(as_campaign(some, groups, qrels, "topic_aware"), nDCG @ 10, replicates=900, seed=5)
    (found,), _ = reliability(experiment, ["complete"])
    drawn = sum(len(set(groups)) == 1 for groups in experiment.draws.groups.tolist())
    interval = found.intervals["with"].unpooled_tau_ap_b
    assert f"without {drawn} of 900 replicates, in which a cell has all systems tied" in interval.method
    assert "tied" not in found.intervals["with"].delta.method


def test_what_has_no_value_has_no_interval():
    """Without the group that alone finds something all others are tied, and many resamples do not draw it."""
    runs = {f"r{number}": {"1": [(f"d{number}", 1.0)], "2": [(f"d{number}", 1.0)]} for number in range(4)}
    groups, qrels = {name: f"g{name[1:]}" for name in runs}, {"1": {"d0": 1}, "2": {"d0": 1}}
    experiment = Experiment(as_campaign(runs, groups, qrels, "topic_aware"), nDCG @ 10, replicates=50)
    (found,), _ = reliability(experiment, ["pool:1"])
    assert np.isnan(found.lead().tau_ap_b) and np.isnan(found.intervals["with"].tau_ap_b[:2]).all()
    interval = found.intervals["with"].delta
    assert interval.low <= found.lead().delta <= interval.high


def test_the_same_seed_gives_the_same_bytes(lighthouse):
    first, second = (
        reliability_json(
            reliability(Experiment(lighthouse, nDCG @ 10, replicates=20), ["pool:2", "loft:40"])[0], 0.75, {}
        )
        for _ in range(2)
    )
    assert first == second


def test_best_share_breaks_ties_by_name():
    scores = np.array([0.5, 0.7, 0.5, 0.1])
    assert best_share(scores, ["d", "c", "b", "a"], 0.5).tolist() == [1, 2]


@pytest.mark.parametrize(("measure", "miss"), [(nDCG @ 10, 0.0), (MFR @ 10, 11.0)])
def test_a_run_without_any_topic_is_no_better_than_one_that_finds_nothing(lighthouse, measure, miss):
    experiment = Experiment(lighthouse, measure, "run")
    retrieved = np.array([[True, False], [False, False]])
    values = np.array([[1.0, miss], [miss, miss]])
    assert experiment.means(values, retrieved).tolist() == [1.0, miss]


def test_too_few_groups_and_twice_the_same_sampler(lighthouse):
    with pytest.raises(InputError, match="named twice"):
        reliability(Experiment(lighthouse, nDCG @ 10), ["pool:1", "pool:1"])
    two = Campaign(lighthouse.runs, lighthouse.qrels, tuple("ab"[place % 2] for place in range(len(lighthouse.runs))))
    with pytest.raises(InputError, match="at least 3 groups, not 2"):
        reliability(Experiment(two, nDCG @ 10), ["pool:1"])
