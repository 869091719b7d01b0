"""Loading and evaluating the 143 runs of TREC-COVID round 1, beside ir_measures and pytrec_eval.

    python -m benchmarks.runs [FOLDER]

The folder holds `runs/` and `qrels.txt`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import ir_measures
import numpy as np
import pytrec_eval
from ir_measures import AP, RR, P, R, nDCG

from benchmarks.machine import SHARED, alternate, describe, peak_memory, write
from ringtrue.data.formats.detect import read_qrels
from ringtrue.data.qrels import Qrels
from ringtrue.data.runs import RunSet, run_files
from ringtrue.data.ties import Ties
from ringtrue.evaluation.measures import evaluate

CAMPAIGN = SHARED / "subsampling" / "trec-covid-round1"
MEASURES = [nDCG @ 10, nDCG, P @ 5, P @ 10, AP, RR, R @ 100]
TREC_NAMES = {"ndcg_cut.10", "ndcg", "P.5,10", "map", "recip_rank", "recall.100"}


def loading(folder: Path) -> dict[str, float]:
    """Seconds to load all runs: ours without cache, ours from the cache, and ir_measures' reader."""
    files = run_files(folder / "runs")
    RunSet.read(files)

    def theirs() -> None:
        for file in files:
            for _ in ir_measures.read_trec_run(str(file)):
                pass

    contenders: dict[str, Callable[[], object]] = {
        "ringtrue": lambda: RunSet.read(files, cached=False),
        "ringtrue_cached": lambda: RunSet.read(files),
        "ir_measures": theirs,
    }
    return alternate(contenders, 3)


def loading_memory(folder: Path) -> float:
    """The peak memory of a process that loads the runs and does nothing else, in MB."""
    code = (
        "import sys; from pathlib import Path; from benchmarks.machine import peak_memory;"
        "from ringtrue.data.runs import RunSet, run_files;"
        "RunSet.read(run_files(Path(sys.argv[1])), cached=False); print(peak_memory())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder / "runs")], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def evaluating(runs: RunSet, qrels: Qrels) -> tuple[dict[str, float], float]:
    """Seconds for seven measures over all runs, and the largest difference between the two."""
    judged = {topic: dict(docs) for topic, docs in qrels.by_topic.items()}
    as_dicts = [
        {topic: {line.doc_id: line.score for line in ranking} for topic, ranking in runs.run(place).rankings.items()}
        for place in range(len(runs))
    ]

    def theirs() -> list[dict[str, dict[str, float]]]:
        evaluator = pytrec_eval.RelevanceEvaluator(judged, TREC_NAMES)
        return [evaluator.evaluate(run) for run in as_dicts]

    ours = evaluate(runs, qrels, [nDCG @ 10]).of(nDCG @ 10)
    peer = np.array([[run.get(topic, {}).get("ndcg_cut_10", 0.0) for topic in qrels.topics] for run in theirs()])
    seconds = alternate({"ringtrue": lambda: evaluate(runs, qrels, MEASURES), "pytrec_eval": theirs}, 5)
    return seconds, float(np.abs(ours - peer).max())


def main(folder: Path = CAMPAIGN) -> None:
    """Measure and write."""
    load = loading(folder)
    runs, qrels = RunSet.read(run_files(folder / "runs"), Ties.TREC), read_qrels(folder / "qrels.txt")
    evaluation, difference = evaluating(runs, qrels)
    write(
        "runs",
        {
            "machine": describe(("numpy", "pyarrow", "ir_measures", "pytrec_eval-terrier")),
            "lines": len(runs.doc),
            "runs": len(runs),
            "load_seconds": load,
            "load_ratio": load["ir_measures"] / load["ringtrue"],
            "load_peak_mb": loading_memory(folder),
            "evaluate_seconds": evaluation,
            "evaluate_ratio": evaluation["pytrec_eval"] / evaluation["ringtrue"],
            "evaluate_measures": [str(measure) for measure in MEASURES],
            "evaluate_largest_difference": difference,
            "peak_mb_with_peers": peak_memory(),
        },
    )


if __name__ == "__main__":
    with TemporaryDirectory() as place:
        import os

        os.environ["RINGTRUE_CACHE"] = place
        main(*(Path(argument) for argument in sys.argv[1:]))
