"""Leave-one-group-out on TREC-COVID round 1, beside trectools, and how its cost grows on made-up campaigns.

    python -m benchmarks.reliability [FOLDER]

The peer does one cell of the experiment (one group, one sampler) with trectools as the study's program did, and is
scaled up: all cells would take it an hour. Also compares every field with `expected.json` where the folder has it.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from ir_measures import nDCG

from benchmarks.machine import SHARED, describe, peak_memory, write
from ringtrue.data.formats.detect import read_qrels
from ringtrue.data.groups import find_groups
from ringtrue.data.qrels import Qrels
from ringtrue.data.runs import RunSet, run_files
from ringtrue.data.ties import Ties
from ringtrue.subsampling.audit import STUDY_SAMPLERS
from ringtrue.subsampling.campaign import Campaign
from ringtrue.subsampling.holdout import VIEWS, leave_one_group_out
from ringtrue.subsampling.reliability import TRUTHS, Experiment, reliability
from ringtrue.subsampling.samplers import SAMPLERS
from ringtrue.subsampling.samplers.pool import Pool

CAMPAIGN = SHARED / "subsampling" / "trec-covid-round1"
MEASURE = nDCG @ 10
SHAPES = ((100, 50, 20), (200, 50, 20), (400, 50, 20), (100, 100, 20), (100, 200, 20), (100, 50, 40), (100, 50, 80))
LARGEST = (1000, 250, 50)
DEPTH = 1000


def load(folder: Path) -> Campaign:
    """The campaign by our definitions."""
    runs = RunSet.read(run_files(folder / "runs"))
    return Campaign.from_runs(runs, read_qrels(folder / "qrels.txt"), find_groups(runs, folder / "leaderboard.csv"))


def our_table(campaign: Campaign) -> tuple[dict[str, float], int]:
    """Seconds for the nine samplers without and with 1,000 bootstrap replicates, and the number of cells."""
    start = time.perf_counter()
    reliability(Experiment(campaign, MEASURE, replicates=1), STUDY_SAMPLERS)
    plain = time.perf_counter() - start
    start = time.perf_counter()
    reliability(Experiment(campaign, MEASURE, replicates=1000), STUDY_SAMPLERS)
    whole = time.perf_counter() - start
    seconds = {"table": plain, "table_and_1000_replicates": whole, "replicates": whole - plain}
    return seconds, len(STUDY_SAMPLERS) * len(campaign.group_names)


def peer_cell(campaign: Campaign) -> float | None:
    """Seconds that trectools needs for one cell: filter a group, score all systems with and without post judgments."""
    if importlib.util.find_spec("trectools") is None:
        return None
    import pandas as pd
    from trectools import TrecEval, TrecQrel, TrecRun

    frames = [_frame(campaign.runs, place, pd) for place in range(len(campaign.runs))]
    group = campaign.group_names[0]
    start = time.perf_counter()
    others = [frame for frame, name in zip(frames, campaign.groups, strict=True) if name != group]
    corpus = set(pd.concat([frame[frame["rank"] <= 100] for frame in others])["docid"])
    seen = [
        frame[frame["docid"].isin(corpus)] if name == group else frame
        for frame, name in zip(frames, campaign.groups, strict=True)
    ]
    for judged_by in (others, seen):
        top = {docid for frame in judged_by for docid in frame.groupby("query").head(10)["docid"]}
        qrels = TrecQrel()
        qrels.qrels_data = pd.DataFrame(
            [(q, "0", d, grade) for q, d, grade in campaign.qrels if d in top], columns=["query", "q0", "docid", "rel"]
        )
        for frame in seen:
            run = TrecRun()
            run.run_data = frame
            TrecEval(run, qrels).get_ndcg(depth=10)
            TrecEval(run, qrels).get_ndcg(depth=10, removeUnjudged=True)
    return time.perf_counter() - start


def _frame(runs: RunSet, place: int, pd: Any) -> Any:  # noqa: ANN401
    lines = [
        (topic, "Q0", line.doc_id, rank, line.score, runs.names[place])
        for topic, ranking in runs.run(place).rankings.items()
        for rank, line in enumerate(ranking, start=1)
    ]
    return pd.DataFrame(lines, columns=["query", "q0", "docid", "rank", "score", "system"])


def worst_difference(campaign: Campaign, expected: Path) -> float | None:
    """The largest difference from the expected values over all samplers, truths, views and fields."""
    if not expected.exists():
        return None
    values = json.loads(expected.read_text(encoding="utf-8"))["topic_aware"]["samplers"]
    specs = {
        name: "rerank:run={1},depth={2}".format(*name.split(":")) if name.startswith("rerank") else name
        for name in values
    }
    results, _ = reliability(Experiment(campaign, MEASURE, replicates=1), list(specs.values()))
    return float(
        max(
            abs(value - getattr(one.agreement[truth][view], field.replace("top75", "top")))
            for (name, _), one in zip(specs.items(), results, strict=True)
            for truth in TRUTHS
            for view in VIEWS
            for field, value in values[name][truth][view].items()
        )
    )


def made_up(runs: int, topics: int, groups: int, seed: int = 1) -> Campaign:
    """Runs that draw their documents from a common pool of 20,000, the likelier the better."""
    rng = np.random.default_rng(seed)
    pool, lines = 20_000, runs * topics * DEPTH
    doc = np.empty(lines, dtype=np.int32)
    for segment in range(runs * topics):
        start = int(rng.integers(0, 200))
        doc[segment * DEPTH : (segment + 1) * DEPTH] = start + np.argsort(rng.random(DEPTH * 2))[:DEPTH]
    score = np.tile(np.arange(DEPTH, 0, -1, dtype=np.float64), runs * topics)
    width = len(str(pool))
    coded = RunSet(
        tuple(f"r{number}" for number in range(runs)),
        tuple(f"{number:04}" for number in range(topics)),
        tuple(f"d{number:0{width}}" for number in range(pool)),
        np.arange(runs * topics + 1, dtype=np.int64) * DEPTH,
        doc,
        score,
        Ties.ASC,
    )
    judged = np.sort(np.stack([rng.choice(2_000, 200, replace=False) for _ in range(topics)]), axis=1).astype(np.int32)
    qrels = Qrels(
        coded.topics,
        coded.docs,
        np.repeat(np.arange(topics, dtype=np.int32), 200),
        judged.ravel(),
        rng.integers(0, 3, judged.size).astype(np.int32),
    )
    return Campaign.from_runs(coded, qrels, [f"g{number % groups}" for number in range(runs)])


def growth() -> list[dict[str, float]]:
    """Seconds of one sampler's cells on campaigns of growing size."""
    rows = []
    for runs, topics, groups in (*SHAPES, LARGEST):
        campaign = made_up(runs, topics, groups)
        start = time.perf_counter()
        leave_one_group_out(campaign, Pool(100), MEASURE)
        seconds = time.perf_counter() - start
        rows.append({"runs": runs, "topics": topics, "groups": groups, "seconds": seconds, "peak_mb": peak_memory()})
    return rows


def main(folder: Path = CAMPAIGN) -> None:
    """Measure and write."""
    campaign = load(folder)
    SAMPLERS.parse("pool:10").sample(campaign.without())
    seconds, cells = our_table(campaign)
    memory = peak_memory()
    peer = peer_cell(campaign)
    write(
        "reliability",
        {
            "machine": describe(("numpy", "trectools")),
            "systems": len(campaign.runs),
            "groups": len(campaign.group_names),
            "samplers": list(STUDY_SAMPLERS),
            "seconds": seconds,
            "peak_mb": memory,
            "seconds_per_cell": seconds["table"] / cells,
            "trectools_seconds_per_cell": peer,
            "ratio": None if peer is None else peer / (seconds["table"] / cells),
            "largest_difference_from_expected": worst_difference(campaign, folder / "expected.json"),
            "growth": growth(),
        },
    )


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:]))
