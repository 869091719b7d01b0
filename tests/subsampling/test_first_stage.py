from __future__ import annotations

from pathlib import Path

import pytest
from ir_measures import nDCG

from ringtrue.data.collection import Collection
from ringtrue.data.load import load
from ringtrue.data.runs import RunSet, run_files
from ringtrue.errors import InputError
from ringtrue.retrieval.bm25 import BM25
from ringtrue.retrieval.pipeline import parse_ranker
from ringtrue.subsampling import first_stage
from ringtrue.subsampling.audit import audit_subsampling
from ringtrue.subsampling.build import build, build_without_runs
from ringtrue.subsampling.campaign import Campaign
from ringtrue.subsampling.first_stage import FirstStage
from ringtrue.subsampling.holdout import leave_one_group_out
from ringtrue.subsampling.samplers import SAMPLERS


@pytest.fixture(scope="module")
def lighthouse() -> Collection:
    return load("builtin:lighthouse")


@pytest.fixture
def campaign(lighthouse: Collection, own_cache: Path) -> Campaign:
    assert lighthouse.runs_folder is not None
    runs = RunSet.read(run_files(lighthouse.runs_folder))
    groups = [name.partition("_")[0] for name in runs.names]
    return Campaign.from_runs(runs, lighthouse.qrels, groups, search=FirstStage(lighthouse))


def found(collection: Collection, spec: str, depth: int) -> set[str]:
    run = parse_ranker(spec).rank(collection, collection.queries).cut(depth)
    return {line.doc_id for topic in run.topics for line in run.ranking(topic)}


@pytest.mark.parametrize(
    ("sampler", "ranker", "depth"),
    [
        ("rerank:run=bm25,depth=3", "bm25", 3),
        ("rerank:bm25", "bm25", 1000),
        ("rerank:run=bm25:k1=1.2;b=0.75,depth=2", "bm25:k1=1.2,b=0.75", 2),
        ("rerank:run=bm25 % 20 >> rm3,depth=4", "bm25 % 20 >> rm3", 4),
        ("rerank:run=bm25:depth=2,depth=5", "bm25:depth=5", 5),
    ],
)
def test_a_ranker_is_searched_with_where_no_run_has_the_name(campaign, lighthouse, sampler, ranker, depth):
    sample = build(campaign, sampler)
    assert set(sample.doc_ids) == found(lighthouse, ranker, depth)
    assert list(sample.doc_ids) == sorted(sample.doc_ids)
    assert build_without_runs(campaign.search, sampler) == sample


def test_a_run_comes_before_a_ranker(campaign, lighthouse):
    named = build(campaign, "rerank:run=harbour_bm25,depth=3")
    run = campaign.runs.run(campaign.runs.names.index("harbour_bm25")).cut(3)
    assert set(named.doc_ids) == {line.doc_id for topic in run.topics for line in run.ranking(topic)}


def test_the_second_time_nothing_is_searched(campaign, lighthouse, monkeypatch):
    said: list[str] = []
    first = FirstStage(lighthouse, say=said.append)("dph", 10)
    monkeypatch.setattr(first_stage.FirstStage, "_search", None)
    assert FirstStage(lighthouse, say=said.append)("dph", 10) == first
    assert said == ["searching the collection with dph"]


def test_documents_that_no_run_retrieves_are_in_the_sample_and_in_its_size(lighthouse, own_cache):
    """Runs that are one document deep: what BM25 finds beyond them belongs to the corpus, but to no system."""
    assert lighthouse.runs_folder is not None
    runs = RunSet.read(run_files(lighthouse.runs_folder)).cut(1).compact()
    groups = [name.partition("_")[0] for name in runs.names]
    campaign = Campaign.from_runs(runs, lighthouse.qrels, groups, search=FirstStage(lighthouse))
    expected = found(lighthouse, "bm25", 20)
    assert not expected <= set(campaign.runs.docs)
    assert set(build(campaign, "rerank:run=bm25,depth=20").doc_ids) == expected
    cells = leave_one_group_out(campaign, SAMPLERS.parse("rerank:run=bm25,depth=20"), nDCG @ 10)
    assert set(cells.corpus_sizes.tolist()) == {len(expected)}


def test_in_an_audit(campaign):
    audit = audit_subsampling(campaign, ["rerank:run=bm25,depth=5", "complete"], replicates=20)
    assert [one.sampler for one in audit.samplers] == ["rerank:run=bm25,depth=5", "complete"]
    assert audit.samplers[0].corpus_size_mean == 200


def test_without_a_collection_it_is_said(campaign):
    bare = Campaign(campaign.runs, campaign.qrels, campaign.groups)
    with pytest.raises(InputError, match=r"'bm25' is a ranker and none of the 24 runs.*--collection"):
        build(bare, "rerank:run=bm25")
    with pytest.raises(InputError, match=r"unknown run or ranker 'bm26'; did you mean bm25"):
        build(campaign, "rerank:run=bm26")
    with pytest.raises(InputError, match="depth 0"):
        build(campaign, "rerank:run=bm25,depth=0")
    with pytest.raises(InputError, match="sampler 'pool:3' needs them"):
        build_without_runs(campaign.search, "pool:3")


def test_queries_of_another_collection(campaign, lighthouse):
    other = lighthouse.with_queries(query._replace(query_id=f"x{query.query_id}") for query in lighthouse.queries)
    strange = Campaign(campaign.runs, campaign.qrels, campaign.groups, search=FirstStage(other))
    with pytest.raises(InputError, match="finds nothing for the 50 topics of the runs"):
        build(strange, "rerank:run=bm25")


def test_topics_that_the_collection_lacks_are_noted(campaign, lighthouse):
    some = lighthouse.with_queries(lighthouse.queries[5:])
    partly = Campaign(campaign.runs, campaign.qrels, campaign.groups, search=FirstStage(some))
    (note,) = build(partly, "rerank:run=bm25,depth=5").notes
    assert note == (
        "topics of the runs for which bm25 finds nothing in the collection",
        5,
        lighthouse.queries[0].query_id,
    )


def test_vaswani(shared: Path, own_cache: Path):
    folder = shared / "collections" / "vaswani"
    vaswani = load(documents=folder / "doc-text.trec", queries=folder / "query-text.trec", qrels=folder / "qrels")
    runs = [BM25(depth=50).rank(vaswani, vaswani.queries), parse_ranker("pl2:depth=50").rank(vaswani, vaswani.queries)]
    campaign = Campaign.from_runs(RunSet.from_runs(runs), vaswani.qrels, ["a", "b"], search=FirstStage(vaswani))
    sample = set(build(campaign, "rerank:run=bm25,depth=100").doc_ids)
    assert sample == found(vaswani, "bm25", 100)
    assert sample > set(build(campaign, "rerank:run=bm25:depth=50,depth=50").doc_ids)
    assert len(sample) > len(campaign.runs.docs)
