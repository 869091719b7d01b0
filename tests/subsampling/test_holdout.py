from __future__ import annotations

import numpy as np
import plain_holdout
import pytest
from campaigns import as_campaign, random_campaign
from ir_measures import AP, RR, Bpref, P, Rprec, nDCG

from ringtrue.data.ties import Ties
from ringtrue.errors import InputError
from ringtrue.evaluation import kernels
from ringtrue.evaluation.measures import evaluate
from ringtrue.subsampling.holdout import VIEWS, leave_one_group_out, truth
from ringtrue.subsampling.reliability import Experiment
from ringtrue.subsampling.samplers import SAMPLERS
from ringtrue.subsampling.variants import VARIANTS

SPECS = {
    "pool:1": "pool:1",
    "pool:3": "pool:3",
    "judged": "judged",
    "loft:5": "loft:5",
    "loft:15": "loft:15",
    "loft:21": "loft:21",
    "rerank:r1:4": "rerank:run=r1,depth=4",
    "complete": "complete",
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", range(6))
def test_equals_the_plain_definition(variant, seed):
    runs, groups, qrels = random_campaign(seed)
    campaign = as_campaign(runs, groups, qrels, variant)
    definitions = VARIANTS[variant]
    experiment = Experiment(campaign, nDCG @ 10, definitions.mean)
    for slow_name, spec in SPECS.items():
        cells = leave_one_group_out(campaign, SAMPLERS.parse(spec), nDCG @ 10)
        means = experiment.means(cells.values, cells.retrieved)
        slow = plain_holdout.cells(
            runs,
            groups,
            qrels,
            slow_name,
            aware=definitions.judging == "topic_aware",
            ties=definitions.ties.value,
            mean=definitions.mean,
            judged_only=definitions.judged_topics_only,
        )
        for (group, view, run), expected in slow.items():
            place = VIEWS.index(view), campaign.group_names.index(group), campaign.runs.names.index(run)
            assert means[place] == pytest.approx(expected, abs=1e-9), (slow_name, group, view, run)


@pytest.mark.parametrize("measure", [nDCG @ 3, P @ 5, AP, RR])
def test_on_the_complete_corpus_with_post_judgments_nothing_changes(measure):
    campaign = as_campaign(*random_campaign(3), "topic_aware")
    cells = leave_one_group_out(campaign, SAMPLERS.parse("complete"), measure)
    whole = truth(campaign, measure, pooled=True)
    np.testing.assert_allclose(cells.values[VIEWS.index("with")], np.broadcast_to(whole, cells.values.shape[1:]))


def test_the_uncut_truth_is_the_plain_evaluation():
    runs, groups, qrels = random_campaign(4)
    campaign = as_campaign(runs, groups, qrels, "topic_aware")
    scores = evaluate(campaign.runs.with_ties(Ties.ASC), campaign.qrels, [AP, nDCG @ 10])
    for measure in (AP, nDCG @ 10):
        np.testing.assert_allclose(truth(campaign, measure, pooled=False), scores.of(measure))


def test_long_condensed_lists_are_followed_to_their_end():
    """The first forty judged documents of a run are pooled by its own group alone: later ones have to move up."""
    docs = [f"d{number:03}" for number in range(120)]
    own = [(doc, float(200 - place)) for place, doc in enumerate(docs)]
    other = [(doc, float(place)) for place, doc in enumerate(docs)]
    runs = {"a": {"t": own}, "b": {"t": other}, "c": {"t": other}}
    groups = {"a": "A", "b": "B", "c": "C"}
    qrels = {"t": dict.fromkeys(docs, 1)}
    campaign = as_campaign(runs, groups, qrels, "topic_aware")
    cells = leave_one_group_out(campaign, SAMPLERS.parse("complete"), nDCG @ 10)
    place = VIEWS.index("condensed_without"), campaign.group_names.index("A"), 0, 0
    assert cells.values[place] == pytest.approx(1.0)
    assert cells.unjudged[0, 0] == 1.0


@pytest.mark.parametrize("measure", [nDCG @ 3, P @ 5, P @ 20, AP])
def test_unjudged_documents_are_counted_down_to_the_cutoff(measure):
    runs, groups, qrels = random_campaign(2)
    campaign = as_campaign(runs, groups, qrels, "topic_aware")
    cells = leave_one_group_out(campaign, SAMPLERS.parse("complete"), measure)
    depth = measure.params.get("cutoff", 10)
    everything = {run: plain_holdout.ordered(ranking, "asc") for run, ranking in runs.items()}
    for place, run in enumerate(campaign.runs.names):
        others = {name: ranking for name, ranking in everything.items() if groups[name] != groups[run]}
        left = plain_holdout.cut(qrels, plain_holdout.pool(others, 10), aware=True)
        tops = [(topic, docs[:depth]) for topic, docs in everything[run].items() if topic in qrels]
        shares = [sum(doc not in left[topic] for doc in docs) / len(docs) for topic, docs in tops]
        assert cells.unjudged[0, place] == pytest.approx(sum(shares) / len(shares))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("measure", [nDCG @ 10, AP])
def test_without_a_kernel_the_values_are_the_same(monkeypatch, variant, measure):
    campaign = as_campaign(*random_campaign(5), variant)
    fast = leave_one_group_out(campaign, SAMPLERS.parse("pool:3"), measure)
    whole = truth(campaign, measure, pooled=True)
    monkeypatch.setattr(kernels, "kernel", lambda measure: None)
    slow = leave_one_group_out(campaign, SAMPLERS.parse("pool:3"), measure)
    np.testing.assert_allclose(slow.values, fast.values, atol=1e-9)
    np.testing.assert_allclose(truth(campaign, measure, pooled=True), whole, atol=1e-9)
    for field in ("retrieved", "corpus_sizes", "judgments", "unjudged"):
        np.testing.assert_array_equal(getattr(slow, field), getattr(fast, field))


@pytest.mark.parametrize("measure", [Bpref, Rprec, AP(rel=2), nDCG(gains={1: 3}) @ 5])
def test_any_measure_of_ir_measures(measure):
    runs, groups, qrels = random_campaign(1)
    campaign = as_campaign(runs, groups, qrels, "topic_aware")
    scores = evaluate(campaign.runs, campaign.qrels, [measure])
    np.testing.assert_allclose(truth(campaign, measure, pooled=False), scores.of(measure))
    cells = leave_one_group_out(campaign, SAMPLERS.parse("complete"), measure)
    whole = truth(campaign, measure, pooled=True)
    np.testing.assert_allclose(cells.values[VIEWS.index("with")], np.broadcast_to(whole, cells.values.shape[1:]))


class Nothing:
    """A sampler without documents."""

    def sample(self, view):
        return view.none()


def test_what_cannot_be_done_is_said():
    campaign = as_campaign(*random_campaign(0), "topic_aware")
    with pytest.raises(InputError, match="cannot use"):
        leave_one_group_out(campaign, SAMPLERS.parse("complete"), nDCG(judged_only=True) @ 10)
    with pytest.raises(InputError, match=r"did you mean r1|unknown run or ranker 'rx'"):
        leave_one_group_out(campaign, SAMPLERS.parse("rerank:run=rx"), nDCG @ 10)
    with pytest.raises(InputError, match="gives no document when group 'g0'"):
        leave_one_group_out(campaign, Nothing(), nDCG @ 10)
