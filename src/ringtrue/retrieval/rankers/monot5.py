"""monoT5: a sequence-to-sequence model says whether a document is relevant (Nogueira et al., Findings of EMNLP 2020).

The encoder reads `Query: … Document: … Relevant:`, the decoder takes one step, and the score is the logarithm of the
probability of `true` where only `true` and `false` can be said, as in PyGaggle. The loss is the cross-entropy of the
right word over the whole vocabulary. Deviations: the mark of the end behind that word, which says nothing of relevance,
is not trained; where prompt and document are too long the document is cut, and never the prompt's last word; the
optimizer is AdamW with a rate of 3e-4 that rises and falls, where the paper has Adafactor, which scales its steps by
the weights, with a constant 1e-3.

Texts are tokenised once each, between the words of the prompt that surround them, which gives the tokens of the whole
prompt with tokenizers that never join two words. Those that do are refused. A text that melts with the blank before it,
as a combining mark would, is tokenised alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import InputError
from ringtrue.retrieval.neural.backbones import (
    check_vocabulary,
    find_folder,
    inner_tokenizer,
    load_config,
    load_model,
    load_tokenizer,
)
from ringtrue.retrieval.neural.network import Batch, Network, PairRows, Prepared
from ringtrue.retrieval.neural.prompt import Prompt
from ringtrue.retrieval.rankers.reranker import Reranker, is_checkpoint

# isort: split
import torch
from torch import Tensor, nn
from transformers import AutoModelForSeq2SeqLM, PretrainedConfig, PreTrainedTokenizerBase

_TOKENIZER = "t5-base"  # of PyGaggle's models, which come without one


@dataclass(frozen=True)
class MonoT5Model:
    """The T5 to start from, as hub name or path, and the two words that it says."""

    backbone: str = "t5-base"
    max_length: int = 512
    query_length: int = 64
    tokenizer: str = _TOKENIZER
    positive: str = "true"
    negative: str = "false"

    learning_rate: ClassVar[float] = 3e-4

    def fresh(self, texts: Sequence[str], seed: int) -> MonoT5Network:
        """The backbone as it is: nothing has to be drawn."""
        return self.trained()

    def empty(self, folder: Path) -> MonoT5Network:
        """The shape that the folder tells of."""
        config = _checked(load_config(folder), folder)
        return MonoT5Network(self, AutoModelForSeq2SeqLM.from_config(config), load_tokenizer(folder))

    def trained(self) -> MonoT5Network:
        """The backbone with all its weights."""
        folder = find_folder(self.backbone)
        _checked(load_config(folder), folder)
        model, missing = load_model(AutoModelForSeq2SeqLM, folder)
        if missing:
            raise InputError(f"{folder} has no weights for {missing[0]!r}: it is not a whole T5.")
        return MonoT5Network(self, model, load_tokenizer(folder, self.tokenizer))


class MonoT5Network(Network):
    """The raw score is the difference of the logits of the two words."""

    name: ClassVar[str] = "monot5"
    inner: ClassVar[str] = "transformer"
    model: MonoT5Model

    def __init__(self, model: MonoT5Model, transformer: nn.Module, tokenizer: PreTrainedTokenizerBase) -> None:
        """Take over a transformer and its tokenizer."""
        super().__init__()
        self.model, self.transformer = model, transformer
        self._config: PretrainedConfig = transformer.config
        self._whole = tokenizer
        check_vocabulary(tokenizer, self._config, model.backbone)
        self._prompt = Prompt.of(inner_tokenizer(tokenizer), int(self._config.eos_token_id))
        self._words = self._first_tokens()
        if model.query_length < 1 or model.max_length < model.query_length + self._prompt.template.special + 1:
            raise InputError(
                f"monot5: {model.max_length} tokens have no room for {model.query_length} of the query, "
                f"{self._prompt.template.special} of the prompt and a document; change max_length or query_length."
            )

    def prepare(self, queries: Sequence[str], documents: Sequence[str]) -> Prepared:
        """Tokenise, and cut queries; documents are cut when their query is known."""
        limit = self.model.query_length
        found = self._prompt.queries(queries, limit)
        cut = found._replace(lengths=np.minimum(found.lengths, limit))
        return Prepared(cut, self._prompt.documents(documents, self.model.max_length))

    def lengths(self, prepared: Prepared, pairs: PairRows) -> NDArray[np.int64]:
        """All tokens of the prompt."""
        return self._prompt.template.lengths(prepared, pairs, self.model.max_length)

    def collate(self, prepared: Prepared, pairs: PairRows) -> dict[str, Tensor]:
        """Rows with padding, and a mask where there is any."""
        rows = self._prompt.template.rows(prepared, pairs, self.model.max_length, int(self._config.pad_token_id))
        batch = {"input_ids": torch.from_numpy(rows.ids)}
        if not rows.inside.all():
            batch["attention_mask"] = torch.from_numpy(rows.inside.astype(np.int64))
        return batch

    def forward(self, batch: Batch) -> Tensor:
        """The difference of the logits; those of all other words are not computed."""
        state = self._decode(batch)
        weights = self.transformer.get_output_embeddings().weight[list(self._words)]
        positive, negative = nn.functional.linear(state, weights.to(state.dtype)).float().unbind(1)
        return positive - negative

    def loss(self, batch: Batch) -> Tensor:
        """Cross-entropy of the right word over the vocabulary."""
        logits = self.transformer.get_output_embeddings()(self._decode(batch)).float()
        right = torch.tensor(self._words, device=logits.device).repeat(len(logits) // 2)
        return nn.functional.cross_entropy(logits, right)

    def report(self, scores: Tensor) -> Tensor:
        """The logarithm of the probability of the positive word against the negative."""
        return nn.functional.logsigmoid(scores)

    def write_files(self, folder: Path) -> None:
        """Configuration and tokenizer, as transformers reads them."""
        self._config.architectures = [type(self.transformer).__name__]
        self._config.save_pretrained(folder)
        self._whole.save_pretrained(folder)

    def _decode(self, batch: Batch) -> Tensor:
        """What the decoder has after one step, ready for the output embeddings."""
        encoded = self.transformer.encoder(**batch).last_hidden_state
        start = batch["input_ids"].new_full((len(encoded), 1), int(self._config.decoder_start_token_id))
        state = self.transformer.decoder(
            input_ids=start,
            encoder_hidden_states=encoded,
            encoder_attention_mask=batch.get("attention_mask"),
            use_cache=False,
        ).last_hidden_state[:, 0]
        scaled = getattr(self._config, "scale_decoder_outputs", self._config.tie_word_embeddings)
        return state * self._config.d_model**-0.5 if scaled else state

    def _first_tokens(self) -> tuple[int, int]:
        """The numbers of the two words, of which the decoder says the first token."""
        tokens = [
            self._whole(word, add_special_tokens=False)["input_ids"][:1] or [self._whole.unk_token_id]
            for word in (self.model.positive, self.model.negative)
        ]
        (positive,), (negative,) = tokens
        if positive == negative:
            raise InputError(
                f"monot5: {self.model.positive!r} and {self.model.negative!r} begin with the same token of "
                f"{self.model.backbone}; give other words with positive=WORD and negative=WORD."
            )
        return int(positive), int(negative)


@dataclass(frozen=True, repr=False)
class MonoT5(Reranker):
    """A monoT5, trained here or elsewhere: `bm25 % 100 >> monot5:checkpoint=FOLDER` or a hub name.

    The default is PyGaggle's model, from the hub. `positive` and `negative` are for models from elsewhere that were
    trained to say other words, `tokenizer` for those that come without one.
    """

    checkpoint: str = "castorini/monot5-base-msmarco"
    tokenizer: str = _TOKENIZER
    positive: str = "true"
    negative: str = "false"

    name: ClassVar[str] = "monot5"
    family: ClassVar[str] = "cross-encoder"

    def open(self) -> Network:
        """A folder that training wrote, or any T5 by path or hub name."""
        if is_checkpoint(self.checkpoint):
            return super().open()
        model = MonoT5Model(self.checkpoint, tokenizer=self.tokenizer, positive=self.positive, negative=self.negative)
        return model.trained()


def _checked(config: PretrainedConfig, folder: Path) -> PretrainedConfig:
    """Refuse models of another shape."""
    if not config.is_encoder_decoder or "t5" not in config.model_type:
        hint = "" if config.is_encoder_decoder else f"; write monobert:checkpoint={folder}"
        raise InputError(f"{folder} holds a {config.model_type}, not a T5{hint}.")
    return config
