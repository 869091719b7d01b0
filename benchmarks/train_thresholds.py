"""Find the threshold of each encoder again: the lowest that keeps a precision on the study's labels.

    python -m benchmarks.train_thresholds [--folder FOLDER] [--precision 0.9] [ENCODER …]

The labelled pairs of Fröbe et al. (SPIRE 2022) are scored again with each encoder, as the best over title, description
and variants of the topic. What comes out stands in src/ringtrue/leakage/thresholds.py.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.machine import SHARED
from benchmarks.train_reformulation import final_labels, similarities, study_topics
from ringtrue.leakage.calibrate import CurvePoint, calibrate


def main() -> None:
    """Calibrate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoders", nargs="*", default=["minilm", "static", "hashing"])
    parser.add_argument("--folder", type=Path, default=SHARED / "leakage")
    parser.add_argument("--precision", type=float, default=0.9)
    options = parser.parse_args()
    pairs = final_labels(options.folder)
    topics = study_topics(options.folder, pairs)
    for encoder in options.encoders:
        scored = zip(pairs, similarities(encoder, pairs, topics), strict=True)
        found = calibrate([pair._replace(similarity=similarity) for pair, (similarity, _) in scored])
        print(f"{encoder}: AUC {found.auc:.4f}, average precision {found.average_precision:.4f}")
        print(f"  lowest {_described(found.lowest(options.precision))}")
        print(f"  surely {_described(found.lowest(options.precision, sure=True))}")


def _described(point: CurvePoint | None) -> str:
    if point is None:
        return "none"
    low, high = point.precision_interval[:2]
    return (
        f"{point.threshold:.2f}: {point.true} of {point.pairs} true, precision {point.precision:.4f} "
        f"({low:.4f} to {high:.4f}), recall {point.recall:.4f}"
    )


if __name__ == "__main__":
    main()
