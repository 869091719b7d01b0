"""Token vectors of encoders: for each text one row of length one a token, without the marks at its ends.

BERT-shaped models go through our own forward pass, all others through sentence-transformers (Reimers and Gurevych,
EMNLP 2019), with the prompt and the lower-casing that their folder asks for; tokens of a prompt count as the text's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from ringtrue.errors import InputError
from ringtrue.retrieval.encoders import Floats, Precision
from ringtrue.retrieval.encoders.bert import BertNetwork
from ringtrue.retrieval.encoders.checkpoint import read_checkpoint
from ringtrue.retrieval.encoders.neural import DTYPES
from ringtrue.retrieval.encoders.tokens import Tokeniser, batches

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_BUDGET = 2048  # tokens
_TEXTS = 64


class TokenVectors(Protocol):
    """A loaded model."""

    def __call__(self, texts: Sequence[str]) -> list[Floats]:
        """The vectors of each text."""


@lru_cache(maxsize=2)
def load_token_vectors(folder: Path, device: str, precision: Precision = "fp32") -> TokenVectors:
    """The model of a folder, on a device; vectors are fp32 whatever it computes in."""
    checkpoint = read_checkpoint(folder)
    if checkpoint is None:
        from ringtrue.retrieval.encoders.foreign import load_foreign  # a heavy import that few models need

        return _Foreign(folder, load_foreign(folder, device).to(dtype=DTYPES[precision]).eval())
    where = torch.device(device)
    tokeniser = Tokeniser(checkpoint.folder / "tokenizer.json", checkpoint.max_length)
    return _Bert(BertNetwork(checkpoint, DTYPES[precision], where), tokeniser, where)


class _Bert(NamedTuple):
    network: BertNetwork
    tokeniser: Tokeniser
    device: torch.device

    def __call__(self, texts: Sequence[str]) -> list[Floats]:
        """Batches of one length, without padding."""
        tokens = self.tokeniser(texts)
        found: list[Floats] = []
        for batch in batches(tokens.lengths, _BUDGET):
            ids = torch.from_numpy(tokens.ids[batch.ids]).view(-1, batch.length).to(self.device)
            found += list(self.network.tokens(ids)[:, 1:-1].cpu().numpy())
        return [found[row] for row in tokens.places.tolist()]


class _Foreign(NamedTuple):
    folder: Path
    model: SentenceTransformer

    def __call__(self, texts: Sequence[str]) -> list[Floats]:
        """Some texts at a time, since all that a model gives for them is held at once."""
        marks = self._marks()
        found: list[Floats] = []
        for start in range(0, len(texts), _TEXTS):
            some = list(texts[start : start + _TEXTS])
            found += [self._rows(given, marks) for given in self._given(some)]
        return found

    def _given(self, texts: list[str]) -> list[dict[str, Tensor]]:
        found = self.model.encode(texts, batch_size=_TEXTS, output_value=None, show_progress_bar=False)
        return list(found)

    def _rows(self, given: dict[str, Tensor], marks: Tensor) -> Floats:
        """The vectors of what is neither a mark nor padding."""
        if "token_embeddings" not in given or "input_ids" not in given:
            raise InputError(f"{self.folder} gives no vectors of tokens; late interaction needs a transformer.")
        words = given["attention_mask"].bool() & ~torch.isin(given["input_ids"], marks.to(given["input_ids"].device))
        rows: Floats = functional.normalize(given["token_embeddings"][words].float(), dim=1).cpu().numpy()
        return rows

    def _marks(self) -> Tensor:
        """Special tokens; the one for unknown words stands for a word."""
        tokenizer = self.model.tokenizer
        marks = set(getattr(tokenizer, "all_special_ids", ())) - {getattr(tokenizer, "unk_token_id", None)}
        return torch.tensor(sorted(marks), dtype=torch.int64)
