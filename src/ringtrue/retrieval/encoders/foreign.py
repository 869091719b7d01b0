"""Any model that is not BERT-shaped, through sentence-transformers (Reimers and Gurevych, EMNLP 2019)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import BLOCK, Floats
from ringtrue.retrieval.encoders.quiet import quiet

_BATCH = 64


def load_foreign(folder: Path, device: str) -> SentenceTransformer:
    """The model of a folder, from that alone."""
    try:
        with quiet():
            return SentenceTransformer(str(folder), device=device, local_files_only=True)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder} is not a model that sentence-transformers can load: {error}") from error


class ForeignEngine:
    """A loaded sentence-transformers model."""

    def __init__(self, folder: Path, dtype: torch.dtype, device: str) -> None:
        """Load it from its folder alone."""
        self._model = load_foreign(folder, device).to(dtype).eval()
        self.block = BLOCK
        self.dim = self.encode(["?"]).shape[1]

    def encode(self, texts: Sequence[str]) -> Floats:
        """The vectors of some texts; a text that comes again is encoded once."""
        distinct = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        if not distinct:
            return np.empty((0, self.dim), np.float32)
        found = self._model.encode(list(distinct), batch_size=_BATCH, show_progress_bar=False, convert_to_tensor=True)
        rows = torch.nn.functional.normalize(found.float(), dim=1).cpu().numpy()
        return np.ascontiguousarray(rows[[distinct[text] for text in texts]])

    def stream(self, blocks: Iterable[Sequence[str]]) -> Iterator[Floats]:
        """Block by block."""
        return map(self.encode, blocks)
