"""monoBERT against transformers and sentence-transformers."""

from __future__ import annotations

import gzip
import json
import math
import shutil
from functools import cache

import numpy as np
import pytest

from ringtrue.errors import InputError, MissingModelError
from ringtrue.retrieval.neural.backbones import most_positions
from ringtrue.retrieval.neural.checkpoint import load_network, save_network
from ringtrue.retrieval.neural.scoring import score
from ringtrue.retrieval.pipeline import parse_ranker
from ringtrue.retrieval.rankers.monobert import MonoBert, MonoBertModel
from ringtrue.retrieval.training.loop import train
from ringtrue.retrieval.training.triples import Triples

# isort: split
import tiny_rankers
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import CrossEncoder
from transformers import AutoModelForSequenceClassification, AutoTokenizer

QUERIES = ["lighthouse lamp", "ships in fog at night near the coast?", "honey"]
DOCUMENTS = [
    "The keeper lit the lamp at dusk.",
    "Ships steer by the light of a lighthouse when fog hides the coast. " * 5,
    "Bread",
    "日本の灯台は海岸に立つ。 Маяк!",
    "A long story. " * 300,
    "The keeper lit the lamp at dawn.",
]
PAIRS = np.array([(q, d) for q in range(len(QUERIES)) for d in range(len(DOCUMENTS))])


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    return tiny_rankers.bert(tmp_path_factory.mktemp("two"))


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    return tiny_rankers.bert(tmp_path_factory.mktemp("one"), labels=1, seed=3)


@cache
def loaded(folder):
    return AutoTokenizer.from_pretrained(folder), AutoModelForSequenceClassification.from_pretrained(folder).eval()


def plain(folder, query, document, max_length=512):
    """The definition: transformers' own tokenizer and model, one pair at a time."""
    tokenizer, model = loaded(folder)
    inputs = tokenizer(query, document, truncation="only_second", max_length=max_length, return_tensors="pt")
    with torch.inference_mode():
        logits = model(**inputs).logits[0]
    return logits.log_softmax(0)[1].item() if len(logits) == 2 else torch.nn.functional.logsigmoid(logits[0]).item()


def test_scores_are_the_log_probabilities_of_transformers(two, one):
    for folder in (two, one):
        scores = MonoBert(str(folder)).score(QUERIES, DOCUMENTS, PAIRS)
        expected = [plain(folder, QUERIES[q], DOCUMENTS[d]) for q, d in PAIRS]
        assert scores == pytest.approx(expected, abs=1e-5)
        assert np.ptp(scores) > 0.1


def test_other_families_keep_their_special_tokens(tmp_path):
    folder = tiny_rankers.roberta(tmp_path / "roberta")
    scores = MonoBert(str(folder)).score(QUERIES, DOCUMENTS, PAIRS)
    expected = [plain(folder, QUERIES[q], DOCUMENTS[d], max_length=128) for q, d in PAIRS]
    assert scores == pytest.approx(expected, abs=1e-5)


def test_positions_that_begin_behind_the_padding_or_have_no_end(tmp_path):
    folder = tiny_rankers.roberta(tmp_path / "roberta")
    for path in folder.glob("tokenizer_config.json"):
        told = json.loads(path.read_text())
        told.pop("model_max_length", None)
        path.write_text(json.dumps(told))
    network = MonoBertModel(str(folder)).fresh([], 0)
    most = network.config.max_position_embeddings
    assert network.limit == most - network.config.pad_token_id - 1
    assert np.isfinite(MonoBert(str(folder)).score(QUERIES, DOCUMENTS, PAIRS)).all()
    assert network.notes[-1].startswith(f"texts are cut at {network.limit} tokens, for which the model has room")
    network.config.max_position_embeddings = -1
    assert most_positions(network.config) > 10**6


def test_weights_cut_short_are_named(two, tmp_path):
    folder = shutil.copytree(two, tmp_path / "short")
    with open(folder / "model.safetensors", "r+b") as file:
        file.truncate(1000)
    with pytest.raises(InputError, match="short does not hold a model for"):
        MonoBert(str(folder)).network()


def test_a_cross_encoder_gives_the_same(one, shared):
    passages = [line.split("\t")[1] for line in _lines(shared / "collections/dl19-judged/passages.dl19.tsv.gz", 60)]
    peer = CrossEncoder(str(one), device="cpu", max_length=512)
    logits = peer.predict([(QUERIES[0], text) for text in passages], activation_fn=torch.nn.Identity())
    pairs = np.array([(0, number) for number in range(len(passages))])
    ours = MonoBert(str(one)).score(QUERIES[:1], passages, pairs)
    assert ours == pytest.approx(torch.nn.functional.logsigmoid(torch.tensor(logits)).numpy(), abs=1e-4)
    low = MonoBert(str(one), precision="bf16").score(QUERIES[:1], passages, pairs)
    assert np.corrcoef(ours.argsort().argsort(), low.argsort().argsort())[0, 1] > 0.98


def _lines(path, number):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [next(file).rstrip("\n") for _ in range(number)]


def test_the_same_bits_whatever_is_beside_a_pair(two):
    for precision in ("fp32", "bf16"):
        ranker = MonoBert(str(two), precision=precision)
        together = ranker.score(QUERIES, DOCUMENTS, PAIRS)
        alone = [ranker.score(QUERIES, DOCUMENTS, PAIRS[[row]])[0] for row in range(len(PAIRS))]
        assert together.tolist() == alone


def test_queries_are_cut_before_documents(two):
    long_query = "fog " * 1000
    network = MonoBertModel(str(two), query_length=5).trained()
    found = score(network, [long_query], DOCUMENTS, np.array([(0, 0)]))
    assert found == pytest.approx([plain(two, "fog " * 5, DOCUMENTS[0])], abs=1e-5)


def test_training_rows_have_a_mask_only_where_something_is_padded(two):
    network = MonoBertModel(str(two)).trained()
    prepared = network.prepare(QUERIES, DOCUMENTS)
    assert "attention_mask" in network.collate(prepared, PAIRS[:2])
    assert "attention_mask" not in network.collate(prepared, PAIRS[[0, 0]])
    batch = network.collate(prepared, PAIRS[:2])
    whole = AutoTokenizer.from_pretrained(two)([QUERIES[0]] * 2, DOCUMENTS[:2], padding=True, return_tensors="pt")
    for name, tensor in batch.items():
        assert torch.equal(tensor, whole[name])


def test_the_loss_is_the_cross_entropy_over_two_classes(two):
    network = MonoBertModel(str(two)).trained().eval()
    batch = network.collate(network.prepare(QUERIES, DOCUMENTS), PAIRS[:4])
    logits = network.transformer(**batch).logits
    expected = torch.nn.functional.cross_entropy(logits, torch.tensor([1, 0, 1, 0]))
    assert network.loss(batch).item() == pytest.approx(expected.item(), abs=1e-6)


def test_minilm_is_the_default_and_the_seed_decides_its_head():
    first, again, other = (MonoBertModel().fresh([], seed) for seed in (1, 1, 2))
    heads = [network.transformer.classifier.weight for network in (first, again, other)]
    assert heads[0].shape == (2, 384)
    assert torch.equal(heads[0], heads[1]) and not torch.equal(heads[0], heads[2])


def test_a_checkpoint_is_a_cross_encoder_for_others(two, tmp_path):
    network = MonoBertModel(str(two)).fresh([], 0)
    save_network(network, tmp_path / "saved")
    scores = MonoBert(str(tmp_path / "saved")).score(QUERIES, DOCUMENTS, PAIRS)
    assert scores == pytest.approx(MonoBert(str(two)).score(QUERIES, DOCUMENTS, PAIRS), abs=1e-6)
    peer = CrossEncoder(str(tmp_path / "saved"), device="cpu", num_labels=2)
    logits = torch.tensor(peer.predict([(QUERIES[0], DOCUMENTS[0])], activation_fn=torch.nn.Identity()))
    assert logits.log_softmax(1)[0, 1].item() == pytest.approx(float(scores[0]), abs=1e-5)


def test_training_and_moving_give_up_what_was_laid_out_for_scoring(two):
    network = MonoBertModel(str(two)).trained().at("bf16")
    prepared = network.prepare(QUERIES, DOCUMENTS)
    assert "ids" in network.collate(prepared, PAIRS)
    network.train()
    assert "input_ids" in network.collate(prepared, PAIRS)
    network.eval().at("fp32")
    network.to(torch.float64)
    assert "input_ids" in network.collate(prepared, PAIRS)


def test_best_passages(two):
    ranker = MonoBert(str(two), passages="best", window=20, stride=10)
    found = ranker.score(QUERIES, DOCUMENTS, PAIRS)
    words = DOCUMENTS[1].split()
    parts = [" ".join(words[start : start + 20]) for start in range(0, len(words) - 10, 10)]
    best = max(plain(two, QUERIES[1], part) for part in parts)
    assert found[PAIRS.tolist().index([1, 1])] == pytest.approx(best, abs=1e-5)
    with pytest.raises(InputError, match="words would be skipped"):
        MonoBert(str(two), passages="best", window=20, stride=30).score(QUERIES, DOCUMENTS, PAIRS)


def test_what_cannot_rank_is_refused(two, tmp_path):
    with pytest.raises(InputError, match="without a trained head"):
        MonoBert("minilm").network()
    with pytest.raises(InputError, match=r"monot5:checkpoint="):
        MonoBert(str(tiny_rankers.t5(tmp_path / "t5"))).network()
    with pytest.raises(InputError, match="3 classes"):
        MonoBert(str(tiny_rankers.bert(tmp_path / "three", labels=3))).network()
    with pytest.raises(InputError, match=r"no config\.json"):
        MonoBert(str(tmp_path)).network()
    with pytest.raises(InputError, match="no room"):
        MonoBertModel(str(two), max_length=60).trained()


def test_no_hub_is_told_as_a_missing_model(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(MissingModelError, match="download it on a machine with a connection") as caught:
        parse_ranker("monobert:nobody/no-such-cross-encoder").network()
    assert caught.value.exit_code == 3


def test_a_checkpoint_of_another_ranker_is_named(two, tmp_path):
    save_network(MonoBertModel(str(two)).fresh([], 0), tmp_path)
    with pytest.raises(InputError, match=r"checkpoint of 'monobert'.*write monobert:checkpoint="):
        load_network(tmp_path, "knrm")


def test_broken_weights_are_named_by_the_pair(two, collect, tmp_path):
    from ringtrue.data.records import Query
    from ringtrue.data.runs import Run

    network = MonoBertModel(str(two)).fresh([], 0)
    with torch.no_grad():
        network.transformer.classifier.bias[0] = math.nan
    save_network(network, tmp_path)
    collection = collect({"d1": "fog", "d2": "lamp"}, [Query("q1", "fog")])
    given = Run.from_results("given", {"q1": [("d1", 1.0), ("d2", 0.5)]})
    with pytest.raises(InputError, match=r"score nan to query 'q1' with document 'd1'"):
        MonoBert(str(tmp_path)).rank(collection, collection.queries, given)


def test_a_handful_of_pairs_is_learnt(two):
    torch.manual_seed(1)
    network = MonoBertModel(str(two)).fresh([], 1).train()
    pairs = np.array([(0, 0), (0, 2), (1, 1), (1, 0), (2, 3), (2, 5)])
    batch = network.collate(network.prepare(QUERIES, DOCUMENTS), pairs)
    optimizer = torch.optim.AdamW(network.parameters(), 2e-3)
    for _ in range(40):
        optimizer.zero_grad()
        network.loss(batch).backward()
        optimizer.step()
    relevant, other = score(network.at("fp32"), QUERIES, DOCUMENTS, pairs).reshape(-1, 2).T
    assert (relevant > other).all()
    assert network.loss(batch).item() < 0.1


def without(folder, target, unwanted):
    """A copy that lacks some weights."""
    shutil.copytree(folder, target)
    weights = {name: weight for name, weight in load_file(folder / "model.safetensors").items() if unwanted not in name}
    save_file(weights, target / "model.safetensors", {"format": "pt"})
    return target


def test_weights_that_a_backbone_lacks_are_told(one, two, tmp_path):
    assert MonoBertModel(str(two)).fresh([], 0).notes == ()
    for folder in (one, without(two, tmp_path / "headless", "classifier")):
        network = MonoBertModel(str(folder)).fresh([], 0)
        head = "classifier.bias, classifier.weight"
        assert network.notes == (f"{folder} has no weights that fit {head}: they start from the seed",)
        triples = Triples.from_texts([(QUERIES[0], DOCUMENTS[0], DOCUMENTS[2])])
        assert train(network, triples).notes == network.notes


def test_an_encoder_that_is_not_whole_is_refused(two, tmp_path):
    folder = without(two, tmp_path / "half", "layer.1.")
    told = r"no weights for 'bert\.encoder\.layer\.1\.\S+' and 15 more of its encoder"
    with pytest.raises(InputError, match=told):
        MonoBertModel(str(folder)).fresh([], 0)
    with pytest.raises(InputError, match=told):
        MonoBert(str(folder)).network()


def test_nothing_is_unpickled(two, tmp_path):
    folder = shutil.copytree(two, tmp_path / "old")
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"a program")
    with pytest.raises(InputError, match=r"import AutoModelForSequenceClassification as M; .*'NEW'.*give NEW"):
        MonoBert(str(folder)).network()


def test_a_tokenizer_from_elsewhere(two, tmp_path):
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("config.json", "model.safetensors"):
        (bare / name).write_bytes((two / name).read_bytes())
    network = MonoBertModel(str(bare), tokenizer=str(two)).trained()
    expected = MonoBertModel(str(two)).trained()
    texts = QUERIES, DOCUMENTS, PAIRS
    assert score(network, *texts).tolist() == score(expected, *texts).tolist()
    named = parse_ranker(f"monobert:{bare},tokenizer={two}")
    assert named.score(*texts).tolist() == MonoBert(str(two)).score(*texts).tolist()
    roberta = tiny_rankers.roberta(tmp_path / "roberta")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (roberta / name).unlink()
    with pytest.raises(InputError, match="name a model that has it with tokenizer=NAME"):
        parse_ranker(f"monobert:{roberta}").network()
    small = tiny_rankers.t5(tmp_path / "small")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (small / name).write_bytes((two / name).read_bytes())
    with pytest.raises(InputError, match="do not belong together"):
        parse_ranker(f"monot5:{small}").network()
