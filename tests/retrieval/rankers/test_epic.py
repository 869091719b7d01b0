"""EPIC against the formulas of its paper over the whole lexicon, computed one number at a time."""

from __future__ import annotations

import math
import re
import shutil

import numpy as np
import pytest

from ringtrue.errors import InputError
from ringtrue.retrieval.neural.scoring import score
from ringtrue.retrieval.rankers.epic import EpicModel

# isort: split
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer, BertForMaskedLM, DistilBertConfig, DistilBertModel


def soften(value):
    return math.log(1 + math.log1p(math.exp(-abs(value))) + max(value, 0.0))


def read(values, name, vector):
    return float(values[f"{name}.weight"][0] @ vector + values[f"{name}.bias"][0])


def plain(network, folder, query, document):
    """The score of two texts: vectors of both over the lexicon, from transformers' own model, and their product."""
    values = {name: tensor.double().numpy() for name, tensor in network.state_dict().items()}
    tokenizer, model = AutoTokenizer.from_pretrained(folder), BertForMaskedLM.from_pretrained(folder).eval()
    hidden, logits, ids = [], [], []
    for segment, (text, most) in enumerate(((query, 6), (document, 30))):
        words = tokenizer(text, add_special_tokens=False)["input_ids"][:most]
        row = torch.tensor([[tokenizer.cls_token_id, *words, tokenizer.sep_token_id]])
        with torch.inference_mode():
            states = model.bert(row, token_type_ids=torch.full_like(row, segment)).last_hidden_state
            logits.append(model.cls(states)[0].double().numpy())
        hidden.append(states[0].double().numpy())
        ids.append(words)
    of_query, of_document = np.zeros(logits[0].shape[1]), np.zeros(logits[0].shape[1])
    for place, word in enumerate(ids[0], 1):
        of_query[word] += soften(read(values, "query_importance", hidden[0][place]))
    for place in range(1, len(ids[1]) + 1):
        importance = soften(read(values, "importance", hidden[1][place]))
        for word, value in enumerate(logits[1][place]):
            of_document[word] = max(of_document[word], importance * soften(value))
    quality = 1 / (1 + math.exp(-read(values, "quality", hidden[1][0])))
    return float(of_query @ of_document) * quality


def test_the_formulas(make, texts, bert):
    network = make("epic")
    queries, documents, pairs = texts
    expected = [plain(network, bert, queries[query], documents[document]) for query, document in pairs]
    assert score(network, *texts) == pytest.approx(expected, abs=1e-4)
    assert np.ptp(expected) > 0.1


def test_a_word_that_comes_twice_counts_twice(make, bert):
    network = make("epic")
    texts = ["lamp lamp fog"], ["The lamp of a lighthouse."]
    expected = plain(network, bert, texts[0][0], texts[1][0])
    assert score(network, *texts, np.array([(0, 0)]))[0] == pytest.approx(expected, abs=1e-5)


def test_each_query_of_a_batch_is_read_once(make, texts):
    network = make("epic")
    batch = network.collate(network.prepare(*texts[:2]), texts[2])
    assert len(batch["query"]) == len(texts[0])
    assert len(batch["document"]) == len(texts[2])


def test_lower_precision_stays_near(make, texts):
    network = make("epic")
    expected = score(network, *texts)
    found = score(network.at("bf16"), *texts)
    assert network.encoder.dtype == torch.bfloat16
    assert network.quality.weight.dtype == torch.float32
    assert found == pytest.approx(expected, rel=0.1, abs=0.05)


def test_starts_from_the_packaged_model():
    network = EpicModel().fresh([], 1).eval()
    scores = score(network, ["lighthouse keeper"], ["The keeper of a lighthouse", ""], np.array([(0, 0), (0, 1)]))
    assert scores[0] > 0
    assert scores[1] == 0
    assert "minilm has no weights that fit cls.predictions.bias" in network.notes[0]
    assert (network.model.learning_rate, network.model.query_length) == (2e-5, 500)


def test_what_a_backbone_lacks(make, bert, tmp_path):
    assert make("epic").notes == ()
    folder = shutil.copytree(bert, tmp_path / "half")
    weights = {name: one for name, one in load_file(bert / "model.safetensors").items() if "layer.1" not in name}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match="and 15 more of its encoder: its files do not fit"):
        make("epic", backbone=str(folder))
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    shutil.copy(bert / "model.safetensors", folder)
    with pytest.raises(InputError, match="has no tokenizer; it is not whole"):
        make("epic", backbone=str(folder))


def test_other_shapes_are_refused(tmp_path, make):
    config = DistilBertConfig(dim=8, n_heads=2, n_layers=1, hidden_dim=8, vocab_size=9)
    DistilBertModel(config).save_pretrained(tmp_path)
    with pytest.raises(InputError, match=re.escape("holds a distilbert; epic needs a BERT")):
        EpicModel(str(tmp_path)).fresh([], 1)
    with pytest.raises(InputError, match="query_length is 39; with this backbone it is from 1 to 38"):
        make("epic", query_length=39)
