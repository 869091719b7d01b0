"""What every sampler keeps to, over the whole table."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ringtrue.study import Material, Study
from ringtrue.subsampling.campaign import Campaign
from ringtrue.subsampling.graph import build_graph, write_graph
from ringtrue.subsampling.samplers import SAMPLERS

SPECS = {
    "complete": "complete",
    "judged": "judged",
    "judged_random": "judged_random:size=300",
    "loft": "loft:size=60",
    "neighbours": "neighbours:k=3,graph={graph},base=pool:1",
    "pool": "pool:depth=2",
    "rerank": "rerank:run=harbour_bm25,depth=3",
}


@pytest.fixture(scope="module")
def campaign() -> Campaign:
    return Material(Study().or_builtin(), lambda message: None).campaign()


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    collection = Material(Study().or_builtin(), lambda message: None).collection
    assert collection is not None
    path = tmp_path_factory.mktemp("graph") / "graph.jsonl"
    relevant = sorted({judgment.doc_id for judgment in collection.qrels if judgment.relevance > 0})
    write_graph(path, build_graph(collection, relevant, k=3))
    return path


def test_the_whole_table_is_here():
    assert set(SPECS) == set(SAMPLERS.names())


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_samples_are_masks_over_the_campaign_and_the_same_again(campaign, graph, spec):
    sampler = SAMPLERS.parse(spec.format(graph=graph))
    for group in (None, 0, len(campaign.group_names) - 1):
        first, second = (sampler.sample(campaign.without(group)) for _ in range(2))
        assert first.dtype == np.bool_ and first.shape == (len(campaign.runs.docs),)
        assert first.any()
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_making_one_does_no_work_and_its_name_says_everything(graph, spec):
    sampler = SAMPLERS.parse(spec.format(graph=graph))
    assert all(field.name in repr(sampler) for field in dataclasses.fields(sampler))
    assert sampler == SAMPLERS.parse(spec.format(graph=graph))


def test_ids_are_the_same_under_any_hash_seed(own_cache, graph):
    specs = [*(spec.format(graph=graph) for spec in SPECS.values()), "rerank:run=bm25,depth=3"]
    code = f"from ringtrue.study import Study; s = Study().or_builtin();print([s.sample(x).doc_ids for x in {specs!r}])"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1
