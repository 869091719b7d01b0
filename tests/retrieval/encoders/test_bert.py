"""The forward pass against sentence-transformers, and its parts against plainer ones."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer

from ringtrue.errors import InputError
from ringtrue.retrieval.encoders.bert import BertNetwork
from ringtrue.retrieval.encoders.checkpoint import read_checkpoint
from ringtrue.retrieval.encoders.cpu import CpuEngine
from ringtrue.retrieval.encoders.matrices import OneDNN, Plain, choose_matrices
from ringtrue.retrieval.encoders.minilm import MiniLM

CPU = torch.device("cpu")
ODD = ["", " ", "?", "🕯️ 灯台 маяк", "x" * 500, "word " * 400, "[SEP] [MASK]", "\x00", "Ünïcödé İ ß"]


def cosines(some, others):
    return (some * others).sum(1) / np.linalg.norm(some, axis=1) / np.linalg.norm(others, axis=1)


@pytest.fixture(scope="module")
def theirs():
    return SentenceTransformer(str(MiniLM().folder()), device="cpu")


def test_equal_to_sentence_transformers_on_real_queries(queries, theirs):
    texts = queries[:300]
    expected = theirs.encode(texts)
    assert cosines(MiniLM("fp32", "cpu").encode(texts), expected).min() >= 0.99999
    assert cosines(MiniLM("bf16", "cpu").encode(texts), expected).min() >= 0.999


def test_equal_to_sentence_transformers_on_odd_texts(theirs):
    assert cosines(MiniLM("fp32", "cpu").encode(ODD), theirs.encode(ODD)).min() >= 0.99999


@pytest.mark.parametrize("name", ["tiny_bert", "tiny_cls_bert"])
def test_equal_to_sentence_transformers_with_either_pooling(name, request):
    folder = request.getfixturevalue(name)
    texts = ["the lamp", "fog at the coast", "", "ships steer by night " * 9, "zebra"]
    expected = SentenceTransformer(str(folder), device="cpu").encode(texts)
    ours = CpuEngine(read_checkpoint(folder), torch.float32).encode(texts)
    assert cosines(ours, expected).min() >= 0.99999
    np.testing.assert_allclose(np.linalg.norm(ours, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_onednn_multiplies_as_torch_does(dtype):
    if not isinstance(choose_matrices(dtype, CPU), OneDNN):
        pytest.skip("this build of torch has no oneDNN for it")
    torch.manual_seed(1)
    x, residual, weight, bias = (torch.randn(shape).to(dtype) for shape in ((40, 24), (40, 16), (16, 24), (16,)))
    results = []
    for matrices in (Plain(), OneDNN()):
        matrix = matrices.pack(weight, bias)
        both = (matrices.apply(x, matrix), matrices.apply_add(x, matrix, residual), matrices.apply_gelu(x, matrix))
        results.append([result.float() for result in both])
    for plain, fused in zip(*results, strict=True):
        torch.testing.assert_close(fused, plain, atol=1e-5 if dtype == torch.float32 else 0.1, rtol=0.01)


def test_other_devices_multiply_plainly():
    assert isinstance(choose_matrices(torch.float32, torch.device("meta")), Plain)


def test_names_with_a_prefix_or_of_old_and_weights_in_torchs_format(tiny_bert, tmp_path):
    checkpoint = read_checkpoint(tiny_bert)
    weights = load_file(checkpoint.weights)
    ids = torch.tensor([[2, 7, 9, 3]])
    expected = BertNetwork(checkpoint, torch.float32, CPU)(ids)
    for number, (old, new) in enumerate(
        [("LayerNorm.weight", "LayerNorm.gamma"), ("LayerNorm.gamma", "LayerNorm.weight")]
    ):
        renamed = {f"bert.{name.replace(old, new)}": weight for name, weight in weights.items()}
        renamed = {
            name.replace("norm.bias", "norm.beta") if number else name: weight for name, weight in renamed.items()
        }
        save_file(renamed, tmp_path / "model.safetensors")
        torch.save(renamed, tmp_path / "pytorch_model.bin")
        for name in ("model.safetensors", "pytorch_model.bin"):
            network = BertNetwork(replace(checkpoint, weights=tmp_path / name), torch.float32, CPU)
            assert torch.equal(network(ids), expected)


def test_weights_that_are_not_a_bert_are_refused(tiny_bert, tmp_path):
    folder = shutil.copytree(tiny_bert, tmp_path / "model")
    save_file({"something": torch.zeros(1)}, folder / "model.safetensors")
    with pytest.raises(InputError, match="does not hold the BERT"):
        CpuEngine(read_checkpoint(folder), torch.float32)
