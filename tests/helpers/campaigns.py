"""Small made-up campaigns, as dictionaries and as the package has them."""

from __future__ import annotations

import numpy as np

from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Qrel
from ringtrue.data.runs import Run, RunSet
from ringtrue.subsampling.campaign import Campaign
from ringtrue.subsampling.variants import VARIANTS

Ranking = dict[str, list[tuple[str, float]]]
Judged = dict[str, dict[str, int]]


def random_campaign(seed: int) -> tuple[dict[str, Ranking], dict[str, str], Judged]:
    """Short runs with ties, missing topics, topics without judgments or without runs, negative grades."""
    rng = np.random.default_rng(seed)
    docs = [f"d{number}" for number in range(30)]
    runs = {
        f"r{number}": {
            f"t{topic}": [
                (str(doc), float(rng.integers(0, 12)) / 4)
                for doc in rng.choice(docs, size=int(rng.integers(3, 28)), replace=False)
            ]
            for topic in range(6)
            if rng.random() < 0.85 or topic == 1
        }
        for number in range(7)
    }
    groups = {run: f"g{min(int(run[1:]) // 2, 2)}" for run in runs}
    judged = [*range(5), 7, 8]  # no run has the last two
    qrels = {
        f"t{topic}": {str(doc): int(rng.integers(-1, 4)) for doc in rng.choice(docs, size=14, replace=False)}
        for topic in judged
    }
    return runs, groups, qrels


def as_campaign(runs, groups, qrels, variant: str) -> Campaign:
    definitions = VARIANTS[variant]
    coded = RunSet.from_runs([Run.from_results(name, results) for name, results in runs.items()], definitions.ties)
    judged = Qrels.from_records(Qrel(t, d, grade) for t, docs in qrels.items() for d, grade in docs.items())
    return Campaign.from_runs(
        coded,
        judged,
        [groups[name] for name in coded.names],
        judging=definitions.judging,
        judged_topics_only=definitions.judged_topics_only,
    )
