"""What all rankers over word vectors, and EPIC, have in common: padding, seeds, gradients, checkpoints, learning."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest

from ringtrue.errors import InputError, UnknownNameError
from ringtrue.retrieval.neural.checkpoint import load_network, save_network
from ringtrue.retrieval.neural.models import MODELS
from ringtrue.retrieval.neural.scoring import score
from ringtrue.retrieval.pipeline import parse_ranker

# isort: split
import torch

NAMES = ("convknrm", "duet", "epic", "knrm", "pacrr")
OVER_WORD_VECTORS = tuple(name for name in NAMES if name != "epic")


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def test_a_score_does_not_depend_on_what_stands_beside(make, texts, name):
    network = make(name)
    queries, documents, pairs = texts
    together = score(network, queries, documents, pairs)
    alone = np.concatenate([score(network, queries, documents, pair[None]) for pair in pairs])
    assert together == pytest.approx(alone, rel=1e-6, abs=1e-5)
    prepared = network.prepare(queries, documents)
    with torch.inference_mode():
        assert network(network.collate(prepared, pairs)).numpy() == pytest.approx(alone, rel=1e-6, abs=1e-5)


def test_the_order_of_pairs_does_not_matter(make, texts, name):
    network = make(name)
    queries, documents, pairs = texts
    order = np.random.default_rng(1).permutation(len(pairs))
    prepared = network.prepare(queries, documents)
    with torch.inference_mode():
        first, second = (network(network.collate(prepared, rows)).numpy() for rows in (pairs, pairs[order]))
    assert second == pytest.approx(first[order], rel=1e-6, abs=1e-5)


def test_words_beyond_the_limits_do_not_count(make, name):
    network = make(name)
    queries = ["lamp fog lamp fog lamp fog", "lamp fog lamp fog lamp fog coast"]
    documents = ["bread " * 30, "bread " * 30 + "lamp"]
    scores = score(network, queries, documents, np.array([(0, 0), (1, 0), (0, 1), (1, 1)]))
    assert scores == pytest.approx([scores[0]] * 4, abs=1e-6)


def test_lengths_are_those_of_the_rows(make, texts, name):
    network = make(name)
    queries, documents, pairs = texts
    prepared = network.prepare(queries, documents)
    lengths = network.lengths(prepared, pairs)
    for row in (0, 7):
        batch = network.collate(prepared, pairs[row][None])
        assert batch["query"].shape[1] + batch["document"].shape[1] == lengths[row]


def test_the_same_seed_gives_the_same_weights(make, name):
    before = torch.random.get_rng_state()
    one, again, other = (make(name, seed=seed).state_dict() for seed in (5, 5, 6))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(torch.equal(one[key], again[key]) for key in one)
    assert any(not torch.equal(one[key], other[key]) for key in one)


def test_gradients_reach_all_that_is_trained(make, texts, name):
    options = {} if name == "epic" else {"finetune": True}
    network = make(name, **options)
    queries, documents, pairs = texts
    scores = network(network.collate(network.prepare(queries, documents), pairs))
    (scores * torch.arange(len(pairs))).sum().backward()  # a loss over pairs has no gradient for what all scores share
    silent = [key for key, weight in network.named_parameters() if weight.grad is None or not weight.grad.any()]
    attention_biases = [key for key in silent if key.endswith("attention.self.key.bias")]  # a softmax forgets them
    assert silent == attention_biases
    assert all(torch.isfinite(weight.grad).all() for weight in network.parameters())


@pytest.mark.parametrize("name", OVER_WORD_VECTORS)
def test_word_vectors_are_kept_unless_told(make, texts, name):
    queries, documents, pairs = texts
    for finetune in (False, True):
        network = make(name, finetune=finetune)
        network.loss(network.collate(network.prepare(queries, documents), pairs)).backward()
        grad = network.vectors.weight.grad
        assert (grad is not None) == finetune
        assert not finetune or not grad[0].any()


def test_learns_a_handful_of_pairs(make, name):
    network = make(name, **({"dropout": 0.0} if name in ("duet", "epic") else {}))
    queries = ["lighthouse lamp", "ships in fog", "honey bees", "bread"]
    documents = ["bread from the coast", "the lamp burned", "keeper of the light", "zanzibar at dawn"]
    rows = [(q, d) for q in range(4) for d in (q, (q + 1) % 4)]
    prepared = network.prepare(queries, documents)
    batch = network.collate(prepared, np.array(rows))
    learned = [weight for weight in network.parameters() if weight.requires_grad]
    optimizer = torch.optim.Adam(learned, lr=0.003 if name == "epic" else 0.02)
    for _ in range(150):
        optimizer.zero_grad()
        network.loss(batch).backward()
        optimizer.step()
    scores = score(network.eval(), queries, documents, np.array(rows)).reshape(-1, 2)
    assert (scores[:, 0] > scores[:, 1] + 0.3).all()


def test_a_checkpoint_gives_the_same_scores(make, texts, name, tmp_path):
    network = make(name)
    expected = score(network, *texts)
    save_network(network, tmp_path / "checkpoint")
    moved = shutil.move(tmp_path / "checkpoint", tmp_path / "moved")
    before = torch.random.get_rng_state()
    found = load_network(moved, name)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert not any(suffix in {".bin", ".pt", ".pkl"} for suffix in (path.suffix for path in moved.iterdir()))
    shutil.rmtree(moved)
    assert found.model == network.model
    assert score(found, *texts) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", OVER_WORD_VECTORS)
def test_a_checkpoint_needs_no_file_of_vectors(texts, name, tmp_path, word_vectors):
    copy = shutil.copy(word_vectors, tmp_path / "vectors.txt")
    network = MODELS.find(name)(vectors=str(copy)).fresh(texts[1], 1)
    save_network(network, tmp_path / "checkpoint")
    copy.unlink()
    assert score(load_network(tmp_path / "checkpoint"), *texts) == pytest.approx(score(network, *texts), abs=1e-6)


@pytest.mark.parametrize("name", ["duet", "pacrr"])
def test_a_checkpoint_without_weights_of_words(make, texts, name, tmp_path):
    network = make(name, idf=False, documents=[])
    save_network(network, tmp_path)
    assert score(load_network(tmp_path), *texts) == pytest.approx(score(network, *texts), abs=1e-6)


def test_a_checkpoint_of_another_ranker(make, name, tmp_path):
    other = "pacrr" if name == "knrm" else "knrm"
    save_network(make(other), tmp_path)
    message = f"{tmp_path} is a checkpoint of {other!r}, not of {name!r}; write {other}:checkpoint={tmp_path}"
    with pytest.raises(InputError, match=re.escape(message)):
        load_network(tmp_path, name)


def test_a_broken_checkpoint(make, name, tmp_path):
    save_network(make(name), tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="tokenizer"):
        load_network(tmp_path, name)


@pytest.mark.parametrize("name", OVER_WORD_VECTORS)
def test_a_checkpoint_without_its_vocabulary(make, name, tmp_path):
    save_network(make(name), tmp_path)
    (tmp_path / "vocabulary.json").unlink()
    with pytest.raises(InputError, match="the checkpoint is not whole"):
        load_network(tmp_path, name)


def test_ranks_after_a_first_stage(make, name, tmp_path, fruit):
    save_network(make(name), tmp_path)
    ranker = parse_ranker(f"bm25 % 3 >> {name}:checkpoint={tmp_path}")
    run = ranker.rank(fruit, fruit.queries)
    first = parse_ranker("bm25 % 3").rank(fruit, fruit.queries)
    assert run.topics == first.topics
    for topic in run.topics:
        assert {line.doc_id for line in run.ranking(topic)} == {line.doc_id for line in first.ranking(topic)}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("knrm:kernels=1", "kernels is 1; it should be 2 or more"),
        ("convknrm:longest=0", "longest is 0; it should be 1 or more"),
        ("pacrr:best=0", "best is 0; it should be 1 or more"),
        ("duet:query_length=0", "query_length is 0; it should be 1 or more"),
        ("duet:dropout=1", "dropout is 1.0; it should be 0 or more, and below 1"),
        ("epic:dropout=-1", "dropout is -1.0; it should be 0 or more, and below 1"),
        ("knrm:vectors=nowhere.txt", "nowhere.txt: no such file"),
    ],
)
def test_options_that_make_no_network(spec, message):
    with pytest.raises(InputError, match=message):
        MODELS.parse(spec).fresh(["a text"], 1)


def test_options_by_name():
    assert MODELS.parse("duet:activation=tanh,filters=300").filters == 300
    with pytest.raises(UnknownNameError, match="finetune"):
        MODELS.parse("knrm:finetun=true")
