"""Small models made on the spot, in the layouts of transformers."""

from __future__ import annotations

import shutil
import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from ringtrue.retrieval.encoders.minilm import MiniLM

# isort: split
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
    T5Config,
    T5ForConditionalGeneration,
)

WORDS = "the lamp of a lighthouse burns at night while ships steer by its light through fog and rain near the coast"


def bert(folder: Path, *, labels: int = 2, layers: int = 2, seed: int = 0, spread: float = 0.2) -> Path:
    """A BERT with a head and the tokenizer of MiniLM; weights are spread widely, so that scores differ."""
    torch.manual_seed(seed)
    config = BertConfig(
        hidden_size=48, num_hidden_layers=layers, num_attention_heads=4, intermediate_size=96, num_labels=labels
    )
    config.initializer_range = spread
    BertForSequenceClassification(config).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        shutil.copy(MiniLM().folder() / name, folder / name)
    return folder


def roberta(folder: Path, texts: Iterable[str] = (WORDS,), seed: int = 0) -> Path:
    """A RoBERTa: two marks between the texts, no types, positions that begin behind the padding's."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    marks = ["<s>", "<pad>", "</s>", "<unk>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=400, special_tokens=marks, initial_alphabet=alphabet, show_progress=False)
    )
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="</s>",
        bos_token="<s>",
        unk_token="<unk>",
        model_max_length=128,
        model_input_names=["input_ids", "attention_mask"],
    )
    torch.manual_seed(seed)
    config = RobertaConfig(
        vocab_size=len(wrapped),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=130,
        num_labels=1,
        type_vocab_size=1,
        pad_token_id=1,
    )
    config.initializer_range = 0.2
    RobertaForSequenceClassification(config).save_pretrained(folder)
    wrapped.save_pretrained(folder)
    return folder


def pieces(texts: Iterable[str], marks: list[str]) -> list[tuple[str, float]]:
    """Words and characters: the trainer of unigrams draws other pieces from the same texts at each run."""
    words = [f"\u2581{word}" for text in texts for word in unicodedata.normalize("NFKC", text).split()]
    counts = Counter([*words, *"".join(words)])
    return [*((mark, 0.0) for mark in marks), *((piece, len(piece) * 0.5 - 10) for piece in sorted(counts))]


def t5(folder: Path, texts: Iterable[str] = (WORDS,), *, seed: int = 0, tied: bool = True, size: int = 0) -> Path:
    """A T5 whose tokenizer has the words of the prompt."""
    marks = ["<pad>", "</s>", "<unk>"]
    tokenizer = Tokenizer(models.Unigram(pieces([*texts, "Query: true Document: false Relevant:"], marks), unk_id=2))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")]
    )
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=512
    )
    torch.manual_seed(seed)
    config = T5Config(
        vocab_size=max(size, len(wrapped)),
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_decoder_layers=2,
        num_heads=4,
        feed_forward_proj="relu" if tied else "gated-gelu",
        tie_word_embeddings=tied,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
        initializer_factor=2.0 if tied else 0.5,
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)
    wrapped.save_pretrained(folder)
    return folder
