"""What rankers need to be made: small checkpoints, a run, a log with clicks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ringtrue.errors import MissingExtraError
from ringtrue.retrieval.catalog import RANKERS

_LENGTHS = {"query_length": 6, "document_length": 30}


def make_specs(folder: Path, texts: Mapping[str, str]) -> dict[str, str]:
    """How each ranker is written that does not do with its name; the files for it are made in the folder."""
    specs = {
        "clickrm3": f"clickrm3:encoder=hashing,threshold=.5,log={_log(folder)}",
        "pyterrier": f"pyterrier:{Path(__file__).with_name('pyterrier_pipelines.py')}:overlap",
        "replay": f"replay:{_run(folder)}",
    }
    try:
        RANKERS.find("monobert")
    except MissingExtraError:
        return specs
    return {**specs, **{name: f"bm25 % 5 >> {spec}" for name, spec in _trained(folder, texts).items()}}


def write_specs(folder: Path, texts: Mapping[str, str]) -> dict[str, str]:
    """The same, and a file of them for other processes."""
    specs = make_specs(folder, texts)
    (folder / "specs.json").write_text(json.dumps(specs))
    return specs


def _trained(folder: Path, texts: Mapping[str, str]) -> dict[str, str]:
    """Networks with random weights; one that knows no training is as good as any other here."""
    import tiny_rankers

    from ringtrue.retrieval.neural.checkpoint import save_network
    from ringtrue.retrieval.neural.models import MODELS

    bert, t5 = tiny_rankers.bert(folder / "bert"), tiny_rankers.t5(folder / "t5", texts.values())
    words = _words(folder, texts)
    options: dict[str, dict[str, object]] = {
        "epic": {"backbone": str(bert), **_LENGTHS},
        "monobert": {"backbone": str(bert)},
        "monot5": {"backbone": str(t5)},
    }
    specs = {}
    for name in MODELS.names():
        model = MODELS.find(name)(**options.get(name, {"vectors": str(words), **_LENGTHS}))
        save_network(model.fresh(list(texts.values()), 1), folder / name)
        specs[name] = f"{name}:checkpoint={folder / name}"
    return specs


def _words(folder: Path, texts: Mapping[str, str]) -> Path:
    rng = np.random.default_rng(4)
    known = sorted({word.strip(".,;!").lower() for text in texts.values() for word in text.split()})
    path = folder / "words.txt"
    path.write_text("".join(f"{word} {' '.join(f'{n:.4f}' for n in rng.normal(size=8))}\n" for word in known if word))
    return path


def _log(folder: Path) -> Path:
    path = folder / "log.jsonl"
    rows = [
        {"_id": "l1", "text": "the keeper of a lighthouse lamp", "doc_ids": ["p1", "gone"]},
        {"_id": "l2", "text": "ships in fog", "doc_ids": ["p3", "p2"]},
        {"_id": "l3", "text": "маяк ночью", "doc_ids": ["p6"]},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _run(folder: Path) -> Path:
    rankings = {"q1": ("p10", "p2", "p1", "p9"), "q2": ("p3", "p2", "px"), "q3": ("p6",), "q4": ("p5", "p1")}
    lines = (
        f"{topic} Q0 {doc} {rank} {10 - rank / 2} given\n"
        for topic, docs in rankings.items()
        for rank, doc in enumerate(docs)
    )
    path = folder / "given.run"
    path.write_text("".join(lines))
    return path
