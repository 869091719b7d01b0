"""Fit the models that tell valid variations from invalid ones, and measure them on queries they have not seen.

    python -m benchmarks.train_validity LABELS.csv [--out FILE]

The result is `validity.json`: weights, and figures of cross-validation by query. It does not depend on the machine but
for the last digits of the encoder's vectors.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ringtrue.data.notes import Notes
from ringtrue.retrieval.encoders import ENCODERS, Encoder
from ringtrue.robustness.calibration import (
    FOLDS,
    PENALTY,
    REPEATS,
    Kind,
    cross_validate,
    examples,
    fingerprint,
    fit,
    judged_by_people,
)
from ringtrue.robustness.labels import Label, read_labels
from ringtrue.robustness.similarity import DEFAULT

_DIGITS = 6
_PACKAGED = Path(__file__).resolve().parents[1] / "src" / "ringtrue" / "robustness" / "validity.json"


def main() -> None:
    """Read labels, fit both models, write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("labels", type=Path, help="a CSV of the study's form")
    parser.add_argument("--out", type=Path, default=_PACKAGED)
    arguments = parser.parse_args()
    labels = judged_by_people(read_labels(arguments.labels, Notes()))
    content: dict[str, Any] = {
        "encoder": DEFAULT,
        "fingerprint": fingerprint(labels),
        "settings": {"penalty": PENALTY, "folds": FOLDS, "repeats": REPEATS},
        "semantic": _entry(labels, "semantic", ENCODERS.parse(DEFAULT)),
        "strings": _entry(labels, "strings", None),
    }
    arguments.out.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    for kind in ("semantic", "strings"):
        found = content[kind]["quality"]
        print(
            f"{kind}: AUC {found['auc']:.3f} (sd {found['auc_spread']:.3f} over {REPEATS} repetitions, 95 % interval "
            f"{found['auc_low']:.3f} to {found['auc_high']:.3f} over queries), Brier {found['brier']:.3f}"
        )


def _entry(labels: tuple[Label, ...], kind: Kind, encoder: Encoder | None) -> dict[str, Any]:
    """One model with its figures."""
    data = examples(labels, encoder)
    model = asdict(fit(data, kind))
    model["methods"] = dict(model["methods"])
    return {"model": _rounded(model), "quality": _rounded(cross_validate(data, kind)._asdict())}


def _rounded(value: Any) -> Any:  # noqa: ANN401
    """Numbers with six digits, so that two machines write the same file."""
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list | tuple) else value


if __name__ == "__main__":
    main()
