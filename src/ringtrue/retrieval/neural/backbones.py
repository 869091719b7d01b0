"""Models of transformers as the inside of a network: found by hub name or path, loaded without a word.

Weights are read from safetensors alone, since the older `.bin` files can hold programs.
`minilm` is all-MiniLM-L6-v2 from a Python package: it needs no hub.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from tokenizers import Tokenizer

from ringtrue.errors import InputError
from ringtrue.retrieval.encoders.hub import UNUSED, fetch
from ringtrue.retrieval.encoders.minilm import MiniLM
from ringtrue.retrieval.encoders.quiet import quiet

# isort: split
import torch
from torch import nn
from transformers import AutoConfig, AutoTokenizer, PretrainedConfig, PreTrainedTokenizerBase

_UNUSED = (*UNUSED, "*.gguf", "pytorch_model*.bin")
_INSTEAD = "give the path of its folder. What is to be trained can start from `minilm`, which needs no download."
_TOKENIZERS = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "spiece.model",
    "sentencepiece.bpe.model",
    "tokenizer.model",
)
_POOLER = "pooler"  # a layer that belongs to the head, though it is in the encoder
_BEHIND_PADDING = {
    *("roberta", "xlm-roberta", "xlm-roberta-xl", "roberta-prelayernorm", "camembert", "data2vec-text", "ibert"),
    *("longformer", "luke", "mpnet", "xmod"),
}
_LOADING = (OSError, ValueError, KeyError, TypeError, ImportError, RuntimeError, SafetensorError)


def find_folder(name: str) -> Path:
    """The folder of a model by path or hub name; what this machine has already is not asked for again."""
    if name == "minilm":
        return MiniLM().folder()
    given = Path(name).expanduser()
    if not given.is_dir():
        return fetch(name, hint=_INSTEAD, unused=_UNUSED)
    if not (given / "config.json").is_file():
        raise InputError(f"{given} is not a model: it has no config.json.")
    return given.resolve()


def load_config(folder: Path) -> PretrainedConfig:
    """What a folder says about its model."""
    try:
        return AutoConfig.from_pretrained(str(folder), local_files_only=True)
    except _LOADING as error:
        raise InputError(f"{folder / 'config.json'} is not of a model that transformers knows: {error}") from error


def load_tokenizer(folder: Path, other: str | None = None) -> PreTrainedTokenizerBase:
    """The tokenizer of a folder; where it has none, that of `other`, a hub name or path that an option may give."""
    has_one = any((folder / name).is_file() for name in _TOKENIZERS)
    if not has_one and not other:
        hint = "it is not whole" if other is None else "name a model that has it with tokenizer=NAME"
        raise InputError(f"{folder} has no tokenizer; {hint}.")
    home = find_folder(other) if other and not has_one else folder
    try:
        with quiet():
            tokenizer = AutoTokenizer.from_pretrained(str(home), local_files_only=True)
    except _LOADING as error:
        raise InputError(f"{home} has no tokenizer that transformers can load: {error}") from error
    if getattr(tokenizer, "backend_tokenizer", None) is None:
        raise InputError(f"{home} has only a slow tokenizer, in Python; models with a tokenizer.json can be used.")
    return tokenizer


def inner_tokenizer(tokenizer: PreTrainedTokenizerBase) -> Tokenizer:
    """The tokenizer that does the work, free of the padding and cutting that some files switch on."""
    inner = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    inner.no_padding()
    inner.no_truncation()
    return inner


def load_model(kind: Any, folder: Path, *, seed: int = 0, **options: object) -> tuple[nn.Module, list[str]]:  # noqa: ANN401
    """A model of a folder in fp32, and the names of weights that the folder lacks, which are drawn from the seed."""
    _check_weights(folder, kind.__name__)
    try:
        with quiet(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model, account = kind.from_pretrained(
                str(folder), local_files_only=True, use_safetensors=True, output_loading_info=True, **options
            )
    except _LOADING as error:
        raise InputError(f"{folder} does not hold a model for {kind.__name__}: {error}") from error
    return model.float(), sorted({*account["missing_keys"], *(name for name, *_ in account["mismatched_keys"])})


def most_positions(config: PretrainedConfig) -> int:
    """How many tokens a model has positions for; those in RoBERTa's way begin behind the number of the padding."""
    most = getattr(config, "max_position_embeddings", None) or -1
    if most < 0:
        return sys.maxsize
    return most - (config.pad_token_id or 0) - 1 if config.model_type in _BEHIND_PADDING else most


def check_drawn(model: nn.Module, drawn: Sequence[str], where: str) -> tuple[str, ...]:
    """Say which weights are drawn; those of the encoder itself must not be."""
    inner = f"{model.base_model_prefix}."
    lost = [name for name in drawn if name.startswith(inner) and _POOLER not in name]
    if lost:
        more = f" and {len(lost) - 1} more of its encoder" if len(lost) > 1 else ""
        raise InputError(f"{where} has no weights for {lost[0]!r}{more}: its files do not fit its config.json.")
    return (f"{where} has no weights that fit {', '.join(drawn)}: they start from the seed",) if drawn else ()


def check_vocabulary(tokenizer: PreTrainedTokenizerBase, config: PretrainedConfig, where: str) -> None:
    """Refuse a tokenizer with token numbers that the model has not."""
    if len(tokenizer) > config.vocab_size:
        raise InputError(
            f"{where}: the tokenizer has {len(tokenizer)} tokens, the model only {config.vocab_size}: they do not "
            "belong together; take the tokenizer that the model was trained with."
        )


def _check_weights(folder: Path, kind: str) -> None:
    """Refuse a folder whose weights would have to be unpickled."""
    if any(folder.glob("*.safetensors")):
        return
    program = f"from transformers import {kind} as M; M.from_pretrained('OLD').save_pretrained('NEW')"
    raise InputError(
        f"{folder} has no weights in safetensors, and other files are not read, since they can hold programs. Where "
        f'you trust the model, convert it once, `python -c "{program}"`, copy the files of its tokenizer to NEW, and '
        "give NEW as its path."
    )
