"""Which models our own forward pass can compute."""

from __future__ import annotations

import json
import shutil

import pytest

from ringtrue.retrieval.encoders.checkpoint import read_checkpoint
from ringtrue.retrieval.encoders.minilm import MiniLM


@pytest.fixture
def folder(tiny_bert, tmp_path):
    return shutil.copytree(tiny_bert, tmp_path / "model")


def change(path, **values):
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_the_packaged_model():
    found = read_checkpoint(MiniLM().folder())
    assert (found.layers, found.heads, found.hidden, found.max_length, found.pooling) == (6, 12, 384, 256, "mean")


def test_cls_pooling(tiny_cls_bert):
    assert read_checkpoint(tiny_cls_bert).pooling == "cls"


def test_the_newer_way_to_write_it(folder):
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"embedding_dimension": 32, "pooling_mode": "cls"}))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"transformer_task": "feature-extraction"}))
    found = read_checkpoint(folder)
    assert (found.pooling, found.max_length) == ("cls", 24)


def test_without_modules_it_is_the_mean_and_all_positions(folder):
    for name in ("modules.json", "sentence_bert_config.json"):
        (folder / name).unlink()
    change(folder / "tokenizer_config.json", model_max_length=10**30)
    found = read_checkpoint(folder)
    assert (found.pooling, found.max_length) == ("mean", 64)


@pytest.mark.parametrize(
    ("file", "values"),
    [
        ("config.json", {"model_type": "roberta"}),
        ("config.json", {"hidden_act": "gelu_new"}),
        ("config.json", {"position_embedding_type": "relative_key"}),
        ("config.json", {"is_decoder": True}),
        ("sentence_bert_config.json", {"do_lower_case": True}),
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}),
    ],
)
def test_what_is_not_ours(folder, file, values):
    assert read_checkpoint(folder) is not None
    change(folder / file, **values)
    assert read_checkpoint(folder) is None


def test_further_modules_are_not_ours(folder):
    modules = json.loads((folder / "modules.json").read_text())
    modules.append({"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"})
    (folder / "modules.json").write_text(json.dumps(modules))
    assert read_checkpoint(folder) is None


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
def test_nothing_without_its_files(folder, name):
    (folder / name).unlink()
    assert read_checkpoint(folder) is None
