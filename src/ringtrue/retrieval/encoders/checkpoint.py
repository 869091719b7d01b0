"""What a sentence-transformers folder says about its model, and whether our own forward pass can compute it.

Ours is for encoders shaped like BERT (Devlin et al., NAACL 2019): learned positions, exact GELU, mean or first-token
pooling, nothing behind it but normalising. Everything else is left to sentence-transformers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_OURS = {"Transformer", "Pooling", "Normalize"}


@dataclass(frozen=True)
class Checkpoint:
    """A BERT-shaped encoder in a folder."""

    folder: Path
    weights: Path
    layers: int
    heads: int
    hidden: int
    epsilon: float
    max_length: int
    pooling: Literal["mean", "cls"]


def read_checkpoint(folder: Path) -> Checkpoint | None:
    """What is in the folder, or None where it is shaped otherwise."""
    config = _json(folder / "config.json")
    weights = next((path for name in _WEIGHTS if (path := folder / name).is_file()), None)
    pooling = _pooling(folder)
    if weights is None or pooling is None or not (folder / "tokenizer.json").is_file() or not _is_bert(config):
        return None
    if _json(folder / "sentence_bert_config.json").get("do_lower_case"):
        return None
    if _json(folder / "config_sentence_transformers.json").get("default_prompt_name"):
        return None
    return Checkpoint(
        folder=folder,
        weights=weights,
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        hidden=config["hidden_size"],
        epsilon=config.get("layer_norm_eps", 1e-12),
        max_length=_max_length(folder, config),
        pooling=pooling,
    )


def _is_bert(config: dict[str, Any]) -> bool:
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder")
    )


def _pooling(folder: Path) -> Literal["mean", "cls"] | None:
    """How token vectors become one; a folder without a list of modules is pooled by the mean, as its library does."""
    if not (folder / "modules.json").is_file():
        return "mean"
    modules = {module["type"].rpartition(".")[2]: module["path"] for module in _json(folder / "modules.json")}
    if not set(modules) <= _OURS or "Pooling" not in modules:
        return None
    config = _json(folder / modules["Pooling"] / "config.json")
    chosen = {
        name.removeprefix("pooling_mode_") for name, on in config.items() if name.startswith("pooling_mode_") and on
    }
    chosen |= {config["pooling_mode"]} if "pooling_mode" in config else set()
    if chosen == {"mean"} or chosen == {"mean_tokens"}:
        return "mean"
    return "cls" if chosen == {"cls"} or chosen == {"cls_token"} else None


def _max_length(folder: Path, config: dict[str, Any]) -> int:
    """Longer texts are cut; the newer sentence-transformers keep the number with the tokenizer."""
    told = _json(folder / "sentence_bert_config.json").get("max_seq_length")
    told = told or _json(folder / "tokenizer_config.json").get("model_max_length")
    positions = int(config.get("max_position_embeddings", 512))
    return min(int(told), positions) if told else positions


def _json(path: Path) -> Any:  # noqa: ANN401
    """The content of a file, or nothing where it is not there."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
