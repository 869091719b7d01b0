"""Networks on disk: what is written is read, and nothing else."""

from __future__ import annotations

import json

import pytest

from ringtrue.errors import InputError
from ringtrue.retrieval.neural.checkpoint import distinct_weights, load_network, load_weights, save_network
from ringtrue.retrieval.rankers.monobert import MonoBertModel
from ringtrue.retrieval.rankers.monot5 import MonoT5Model

# isort: split
import tiny_rankers
import torch
from safetensors.torch import load_file, save_file


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    model = MonoBertModel(str(tiny_rankers.bert(tmp_path_factory.mktemp("bert"))), max_length=128)
    save_network(model.fresh([], 5), folder)
    return folder


def copied(saved, folder):
    for path in saved.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def test_weights_and_options_come_back(saved, tmp_path):
    network = load_network(saved, "monobert")
    assert network.model.max_length == 128
    assert not network.training
    save_network(network, tmp_path)
    first, again = load_file(saved / "model.safetensors"), load_file(tmp_path / "model.safetensors")
    assert first.keys() == again.keys()
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert (saved / "ranker.json").read_bytes() == (tmp_path / "ranker.json").read_bytes()
    assert "bert.embeddings.word_embeddings.weight" in first


def test_tied_weights_are_written_once(tmp_path):
    network = MonoT5Model(str(tiny_rankers.t5(tmp_path / "t5"))).trained()
    names = distinct_weights(network)
    assert "shared.weight" in names
    assert not {"lm_head.weight", "encoder.embed_tokens.weight"} & names.keys()
    save_network(network, tmp_path / "saved")
    again = load_network(tmp_path / "saved")
    assert again.transformer.lm_head.weight is again.transformer.shared.weight
    assert torch.equal(again.transformer.shared.weight, network.transformer.shared.weight)


def test_weights_go_into_a_network_that_is_there(saved):
    network = load_network(saved)
    wanted = network.transformer.classifier.weight.clone()
    with torch.no_grad():
        network.transformer.classifier.weight.zero_()
    load_weights(network, saved)
    assert torch.equal(network.transformer.classifier.weight, wanted)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tensors: tensors.pop("classifier.bias"), "lacks 'classifier.bias'"),
        (lambda tensors: tensors.update(more=torch.ones(1)), "has the unknown 'more'"),
        (lambda tensors: tensors.update({"classifier.bias": torch.ones(7)}), r"has the shape \(7,\), not \(2,\)"),
    ],
)
def test_other_weights_are_refused(saved, tmp_path, change, message):
    folder = copied(saved, tmp_path)
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(InputError, match=message):
        load_network(folder)


def test_broken_folders_are_told(saved, tmp_path):
    with pytest.raises(InputError, match=r"no ranker\.json"):
        load_network(tmp_path)
    folder = copied(saved, tmp_path)
    (folder / "model.safetensors").write_bytes(b"short")
    with pytest.raises(InputError, match=r"model\.safetensors does not hold"):
        load_network(folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"model\.safetensors does not hold"):
        load_network(folder)
    for text, message in (("{", "is not JSON"), ("[]", "format 1"), ('{"format": 9}', "format 1")):
        (folder / "ranker.json").write_text(text)
        with pytest.raises(InputError, match=message):
            load_network(folder)
    (folder / "ranker.json").write_text(json.dumps({"format": 1, "ranker": "monobert", "options": {"wings": 2}}))
    with pytest.raises(InputError, match="its options are not those"):
        load_network(folder)
