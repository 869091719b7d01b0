"""Any sentence-transformers model, from a folder, the machine's model cache or the hub."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

from ringtrue.errors import InputError, MissingModelError
from ringtrue.retrieval.encoders import Precision
from ringtrue.retrieval.encoders.neural import Device, Neural

_UNUSED = ["onnx/*", "openvino/*", "*.onnx", "*.ot", "*.h5", "*.msgpack", "*.tflite"]


@dataclass(frozen=True, repr=False)
class SBert(Neural):
    """A sentence-transformers model by name or by the path of its folder: `sbert:paraphrase-MiniLM-L6-v2`."""

    model: str
    precision: Precision = "fp32"
    device: Device = field(default="auto", repr=False)
    budget: int | None = field(default=None, repr=False)

    def folder(self) -> Path:
        """The model's folder, fetched from the hub where it is not on this machine."""
        given = Path(self.model).expanduser()
        if given.is_dir():
            if not (given / "config.json").is_file() and not (given / "modules.json").is_file():
                raise InputError(f"{given} is not a model: it has neither config.json nor modules.json.")
            return given.resolve()
        return _fetch(self.model)


@lru_cache(maxsize=8)
def _fetch(name: str) -> Path:
    """The folder of a model by name; what the machine has already is not asked for again."""
    names = [name] if "/" in name else [f"sentence-transformers/{name}", name]
    for local in (True, False):
        for full_name in names:
            try:
                return Path(snapshot_download(full_name, local_files_only=local, ignore_patterns=_UNUSED))
            except (LocalEntryNotFoundError, HfHubHTTPError, HFValidationError, OSError):
                continue
    raise MissingModelError(
        f"model {name!r} is neither a folder nor in this machine's model cache, and the hub does not give it; "
        "check the name, or download it on a machine with a connection and say sbert:FOLDER. "
        "The encoder 'minilm' needs no download."
    )
