from __future__ import annotations

import numpy as np
import pytest
from ir_measures import nDCG

from ringtrue.audit import Verdict, gravest
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Qrel
from ringtrue.errors import InputError
from ringtrue.study import Material, Study
from ringtrue.subsampling.audit import SMALL_SAMPLERS, audit_subsampling
from ringtrue.subsampling.campaign import Campaign
from ringtrue.subsampling.plan import Limits


@pytest.fixture(scope="module")
def campaign() -> Campaign:
    return Material(Study().or_builtin(), lambda message: None).campaign()


def test_two_groups_give_unknown_with_the_reason(campaign):
    two = Campaign(campaign.runs, campaign.qrels, tuple("ab"[place % 2] for place in range(len(campaign.runs))))
    audit = audit_subsampling(two)
    assert gravest(audit.findings) is Verdict.UNKNOWN
    assert "2 groups are too few" in audit.findings[0].seen
    assert [section.name for section in audit.sections()] == ["campaign"]


def test_a_measure_that_cannot_be_used_is_unknown(campaign):
    audit = audit_subsampling(campaign, measure=nDCG(judged_only=True) @ 10)
    assert gravest(audit.findings) is Verdict.UNKNOWN
    assert audit.findings[0].seen.startswith("leave-one-group-out cannot use nDCG(judged_only=True)@10")


def test_usual_samplers_without_documents_are_left_out_and_named(campaign):
    """Judgments of one document that one group alone has: without it nothing is judged."""
    short = Campaign(campaign.runs.cut(3).compact(), campaign.qrels, campaign.groups)
    alone = np.flatnonzero(np.bincount(short.runs.doc) == 1)[0]
    line = short.runs.doc.tolist().index(alone)
    pair = short.runs.topics[short.topic_of_line[line]], short.runs.docs[alone]
    one = Campaign(short.runs, Qrels.from_records([Qrel(*pair, 1)]), campaign.groups)
    audit = audit_subsampling(one, replicates=20)
    assert [found.sampler for found in audit.samplers] == [name for name in SMALL_SAMPLERS if name != "judged"]
    rows = {row[0]: row[1:] for row in audit.account.rows}
    assert rows["samplers left out, for they have no document when some group is"] == (1, "judged")
    with pytest.raises(InputError, match=r"sampler 'judged' gives no document when group .* name another"):
        audit_subsampling(one, ["judged"], replicates=20)


def test_a_reliable_smaller_sample_passes_and_a_poor_one_fails(campaign):
    good = audit_subsampling(campaign, ["pool:4", "complete"], replicates=50, limits=Limits(0.8))
    assert gravest(good.findings) is Verdict.PASS
    poor = audit_subsampling(campaign, ["loft:20", "complete"], replicates=50)
    assert gravest(poor.findings) is Verdict.FAIL
    assert "not reliable enough" in poor.findings[0].seen


def test_a_plan_takes_the_smallest_that_reaches_the_target(campaign):
    limits = Limits(target_tau=0.6, kwh_per_doc=0.001)
    audit = audit_subsampling(campaign, SMALL_SAMPLERS, replicates=50, limits=limits)
    assert audit.plan is not None and audit.plan.chosen is not None
    reliable = [option for option in audit.plan.options if option.reliable]
    assert audit.plan.chosen == min(reliable, key=lambda option: option.docs)
    assert audit.plan.chosen.kwh == pytest.approx(audit.plan.chosen.docs * 0.001)
    tight = audit_subsampling(campaign, SMALL_SAMPLERS, replicates=50, limits=Limits(0.6, max_docs=40))
    assert tight.plan is not None and tight.plan.chosen is None
