"""Any sentence-transformers model, from a folder, the machine's model cache or the hub."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import Precision
from ringtrue.retrieval.encoders.hub import fetch
from ringtrue.retrieval.encoders.neural import Device, Neural


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
        names = (self.model,) if "/" in self.model else (f"sentence-transformers/{self.model}", self.model)
        return fetch(*names, hint="say sbert:FOLDER. The encoder 'minilm' needs no download.")
