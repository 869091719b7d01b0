from __future__ import annotations

import pytest
from ir_measures import nDCG

from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Qrel
from ringtrue.data.runs import Run, RunSet
from ringtrue.errors import InputError
from ringtrue.subsampling.account import account
from ringtrue.subsampling.audit import audit_subsampling
from ringtrue.subsampling.build import Budget, build
from ringtrue.subsampling.campaign import Campaign
from ringtrue.subsampling.holdout import leave_one_group_out
from ringtrue.subsampling.samplers import SAMPLERS


def ranking(*docs: int) -> list[tuple[str, float]]:
    return [(f"d{doc:04}", -float(place)) for place, doc in enumerate(docs)]


@pytest.fixture(scope="module")
def deep() -> Campaign:
    """One run of 1,500 documents, two of some of those beyond the first thousand and a few others."""
    runs = [
        Run.from_results("deep", {"1": ranking(*range(1500))}),
        Run.from_results("x", {"1": ranking(1200, 0, 3000)}),
        Run.from_results("y", {"1": ranking(3, 3001)}),
    ]
    return Campaign.from_runs(RunSet.from_runs(runs), Qrels.from_records([Qrel("1", "d0000", 1)]), ["a", "b", "c"])


@pytest.mark.parametrize("sampler", ["pool:1300", "rerank:run=deep,depth=1300", "rerank:deep:1300"])
def test_samplers_go_deeper_than_what_is_evaluated(deep, sampler):
    expected = {f"d{doc:04}" for doc in range(1300)}
    if sampler.startswith("pool"):
        expected |= {"d3000", "d3001"}
    assert set(build(deep, sampler).doc_ids) == expected
    sizes = leave_one_group_out(deep, SAMPLERS.parse(sampler), nDCG @ 10).corpus_sizes.tolist()
    assert sizes == ([5, 1301, 1301] if sampler.startswith("pool") else [1300] * 3)


def test_what_is_evaluated_stays_a_thousand_deep_and_says_so(deep):
    assert len(build(deep, "complete").doc_ids) == 1003, "the first thousand, and three that others have"
    assert int(deep.runs.lengths.max()) == 1000 and int(deep.whole.lengths.max()) == 1500
    what = "systems evaluated on their best 1,000 documents a topic alone, for they are deeper"
    assert (what, 1, "deep") in account(deep).rows
    assert (what, 1, "deep") in build(deep, "pool:5").notes


def test_a_budget_may_take_a_pool_that_deep(deep):
    sample = build(deep, "pool", Budget(max_docs=1202))
    assert sample.sampler == "pool:1199" and sample.size.documents == len(sample.doc_ids) == 1202


def test_samples_that_random_documents_cannot_fill_are_noted(deep):
    what = "samples smaller than asked, for random documents ran out (see most)"
    (note,) = [note for note in build(deep, "loft:5000").notes if note.what == what]
    assert note.first == "loft:5000: 1,003 documents"
    assert what not in [note.what for note in build(deep, "loft:2").notes]
    fresh = Campaign(deep.runs, deep.qrels, deep.groups)
    assert [note.first for note in build(fresh, "loft:size=900,most=5").notes] == ["loft:size=900,most=5: 6 documents"]
    audit = audit_subsampling(Campaign(deep.runs, deep.qrels, deep.groups), ["loft:2000", "complete"], replicates=20)
    assert (what, 1, "loft:2000: 1,003 documents") in audit.account.rows


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("loft:-5", "a sampler has size -5, which gives no documents; it should be 1 or more"),
        ("loft:0", "a sampler has size 0, which"),
        ("judged_random:-1", "a sampler has size -1, which"),
        ("loft:size=5,most=-1", r"a list of -1 random documents \(most\); it should be 0 or more"),
    ],
)
def test_sizes_that_make_no_sense(deep, spec, message):
    with pytest.raises(InputError, match=message):
        build(deep, spec)
