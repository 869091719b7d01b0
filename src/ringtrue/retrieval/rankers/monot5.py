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

from ringtrue.errors import InputError
from ringtrue.retrieval.neural.backbones import (
    find_folder,
    inner_tokenizer,
    load_config,
    load_model,
    load_tokenizer,
)
from ringtrue.retrieval.neural.crossencoder import CrossEncoderNetwork
from ringtrue.retrieval.neural.network import Batch, Network, Prepared
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


class MonoT5Network(CrossEncoderNetwork):
    """The logits are of the two words."""

    name: ClassVar[str] = "monot5"
    model: MonoT5Model

    def __init__(self, model: MonoT5Model, transformer: nn.Module, tokenizer: PreTrainedTokenizerBase) -> None:
        """Take over a transformer and its tokenizer."""
        super().__init__(transformer, tokenizer, model.backbone)
        self.model = model
        self._prompt = Prompt.of(inner_tokenizer(tokenizer), int(self.config.eos_token_id))
        self._words = self._first_tokens()
        self.template, self.limit = self._prompt.template, model.max_length
        self.padding = int(self.config.pad_token_id)
        if model.query_length < 1 or self.limit < model.query_length + self.template.special + 1:
            raise InputError(
                f"monot5: {self.limit} tokens have no room for {model.query_length} of the query, "
                f"{self.template.special} of the prompt and a document; change max_length or query_length."
            )

    def prepare(self, queries: Sequence[str], documents: Sequence[str]) -> Prepared:
        """Tokenise, and cut queries; documents are cut when their query is known."""
        limit = self.model.query_length
        return Prepared(self._prompt.queries(queries, limit).cut(limit), self._prompt.documents(documents, self.limit))

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

    def _decode(self, batch: Batch) -> Tensor:
        """What the decoder has after one step, ready for the output embeddings."""
        encoded = self.transformer.encoder(**batch).last_hidden_state
        start = batch["input_ids"].new_full((len(encoded), 1), int(self.config.decoder_start_token_id))
        state = self.transformer.decoder(
            input_ids=start,
            encoder_hidden_states=encoded,
            encoder_attention_mask=batch.get("attention_mask"),
            use_cache=False,
        ).last_hidden_state[:, 0]
        scaled = getattr(self.config, "scale_decoder_outputs", self.config.tie_word_embeddings)
        return state * self.config.d_model**-0.5 if scaled else state

    def _first_tokens(self) -> tuple[int, int]:
        """The numbers of the two words, of which the decoder says the first token."""
        tokens = [
            self.tokenizer(word, add_special_tokens=False)["input_ids"][:1] or [self.tokenizer.unk_token_id]
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
