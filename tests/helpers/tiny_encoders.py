"""Models of a few thousand random weights, in the folders that sentence-transformers writes."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertModel, PreTrainedTokenizerFast

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = """lighthouse keeper lamp light fog coast ship ships steer night dawn bread honey bees sea storm wind harbour
the a of in at by and is what how when where price car cost health equipment medical durable weather""".split()
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def make_bert(folder: Path, pooling: str = "mean_tokens", **options: object) -> Path:
    """A BERT with two layers."""
    config = BertConfig(
        vocab_size=len(_vocabulary()),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        **options,
    )
    torch.manual_seed(5)
    model = BertModel(config)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=0.3)
    _save(model, folder, pooling)
    return folder


def make_distilbert(folder: Path) -> Path:
    """Something that is not a BERT."""
    torch.manual_seed(5)
    config = DistilBertConfig(vocab_size=len(_vocabulary()), dim=32, n_layers=1, n_heads=4, hidden_dim=64)
    _save(DistilBertModel(config), folder, "mean_tokens")
    return folder


def _save(model: torch.nn.Module, folder: Path, pooling: str) -> None:
    model.save_pretrained(folder)
    _tokenizer().save_pretrained(folder)
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 24, "do_lower_case": False}))
    (folder / "1_Pooling").mkdir()
    modes = {f"pooling_mode_{mode}": mode == pooling for mode in ("cls_token", "mean_tokens", "max_tokens")}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 32, **modes}))


def _vocabulary() -> list[str]:
    return [*SPECIAL, *WORDS, *(letter for letter in LETTERS if letter not in WORDS), *(f"##{x}" for x in LETTERS)]


def _tokenizer() -> PreTrainedTokenizerFast:
    vocabulary = {token: number for number, token in enumerate(_vocabulary())}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.enable_padding(length=16)  # as the packaged MiniLM has it
    names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    tokens = {f"{name}_token": token for name, token in names.items()}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=24, **tokens)
