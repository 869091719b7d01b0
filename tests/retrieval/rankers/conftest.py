"""Texts, a file of word vectors and a BERT, all small, for the rankers that are trained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

# before torch, for which it sets how threads wait
from ringtrue.retrieval.neural.models import MODELS
from ringtrue.retrieval.neural.network import Network

# isort: split
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

QUERIES = ("lighthouse lamp", "ships in the fog near a coast", "Zanzibar!", "", "lamp")
DOCUMENTS = (
    "The keeper lit the lamp of the lighthouse at dusk.",
    "Ships steer by the light of a lighthouse when fog hides the coast, and zanzibar is far.",
    "Bread",
    "",
    "lamp lamp " * 12,
    "Honey from the coast; the keeper of bees sells it at dawn near Timbuktu.",
)
PAIRS = np.array([(query, document) for query in range(len(QUERIES)) for document in range(len(DOCUMENTS))])
MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def vocabulary() -> list[str]:
    """All words of the texts but two, ascending."""
    text = " ".join(QUERIES + DOCUMENTS).lower()
    return sorted({word.strip(".,;!") for word in text.split()} - {"zanzibar", "timbuktu", ""})


@pytest.fixture(scope="session")
def texts() -> tuple[list[str], list[str], np.ndarray]:
    """Queries, documents and all their pairs: unknown words, texts without a word, and long ones are among them."""
    return list(QUERIES), list(DOCUMENTS), PAIRS


@pytest.fixture(scope="session")
def word_vectors(tmp_path_factory) -> Path:
    """A file as GloVe's, with random vectors."""
    rng = np.random.default_rng(4)
    path = tmp_path_factory.mktemp("vectors") / "glove.txt"
    lines = (f"{word} {' '.join(f'{number:.5f}' for number in rng.normal(size=8))}\n" for word in vocabulary())
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def bert(tmp_path_factory) -> Path:
    """A BERT with a language model and a lexicon of words; weights are spread widely, so that scores differ."""
    folder = tmp_path_factory.mktemp("bert")
    names = [*MARKS, *vocabulary()]
    tokenizer = Tokenizer(models.WordLevel({name: number for number, name in enumerate(names)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    named = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token"), MARKS, strict=True))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=40, **named).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(names),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=40,
        initializer_range=0.3,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        BertForMaskedLM(config).save_pretrained(folder)
    return folder


@pytest.fixture
def make(word_vectors, bert):
    """Build a network of a model by name, for scoring, with small inputs and any options."""

    def build(name: str, *, seed: int = 1, documents=DOCUMENTS, **options: object) -> Network:
        source = {"backbone": str(bert)} if name == "epic" else {"vectors": str(word_vectors)}
        lengths = {"query_length": 6, "document_length": 30}
        model = MODELS.find(name)(**{**source, **lengths, **options})
        return model.fresh(list(documents), seed).eval()

    return build
