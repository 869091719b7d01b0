"""What rankers share that read query and document as one sequence, through a model of transformers."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ringtrue.retrieval.neural.backbones import check_vocabulary
from ringtrue.retrieval.neural.network import Network, PairRows, Prepared
from ringtrue.retrieval.neural.template import PairTemplate

# isort: split
import torch
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedTokenizerBase


class CrossEncoderNetwork(Network):
    """A network whose raw score is the difference of two logits; a subclass says how pairs become sequences."""

    inner: ClassVar[str] = "transformer"

    template: PairTemplate
    """What stands around and between query and document."""

    limit: int
    """How many tokens a sequence may have."""

    padding: int
    """The number of the token that fills rows up."""

    typed: bool = False
    """Whether the transformer is told which tokens are of the query and which of the document."""

    def __init__(self, transformer: nn.Module, tokenizer: PreTrainedTokenizerBase, backbone: str) -> None:
        """Take over a transformer and its tokenizer, which have to be of one vocabulary."""
        super().__init__()
        self.transformer, self.tokenizer = transformer, tokenizer
        self.config: PretrainedConfig = transformer.config
        check_vocabulary(tokenizer, self.config, backbone)

    def lengths(self, prepared: Prepared, pairs: PairRows) -> NDArray[np.int64]:
        """All tokens of the joined sequence."""
        return self.template.lengths(prepared, pairs, self.limit)

    def collate(self, prepared: Prepared, pairs: PairRows) -> dict[str, Tensor]:
        """Rows with padding, and a mask where there is any."""
        rows = self.template.rows(prepared, pairs, self.limit, self.padding)
        batch = {"input_ids": torch.from_numpy(rows.ids)}
        if self.typed:
            batch["token_type_ids"] = torch.from_numpy(rows.types)
        if not rows.inside.all():
            batch["attention_mask"] = torch.from_numpy(rows.inside.astype(np.int64))
        return batch

    def report(self, scores: Tensor) -> Tensor:
        """The logarithm of the probability of relevance, where the two logits are all that there is."""
        return nn.functional.logsigmoid(scores)

    def write_files(self, folder: Path) -> None:
        """Configuration and tokenizer, as transformers reads them."""
        self.config.architectures = [type(self.transformer).__name__]
        self.config.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
