"""MaskedLMSwap: a word replaced by what a masked language model expects in its place (beside the study, in its code).

After BAE-R (Garg and Ramakrishnan, EMNLP 2020), without its filters by part of speech and sentence similarity: whether
a variation means the same is for `validity` to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from ringtrue.data.records import Query
from ringtrue.robustness.dice import Cup, Dice
from ringtrue.robustness.generators import Outcome
from ringtrue.robustness.generators.base import Named, pick
from ringtrue.robustness.models import Device, Loaded, by_length, check_model, load_model, token_ids
from ringtrue.robustness.text import cased, is_content, is_stop_word, unwrap

_FAILURE = "no word besides stop words that the model has another one for"
_MARKS = ("\u0120", "\u2581")  # how byte-level and sentence-piece vocabularies mark the start of a word


class _Gap(NamedTuple):
    """A query with one of its words masked."""

    tokens: tuple[str, ...]
    place: int

    def text(self, word: str) -> str:
        """The query with some word in the gap, with the punctuation of what was there."""
        before, _, after = unwrap(self.tokens[self.place])
        return " ".join((*self.tokens[: self.place], before + word + after, *self.tokens[self.place + 1 :]))


@dataclass(frozen=True, repr=False)
class MaskedLMSwap(Named):
    """Replace a random word by the likeliest other one among the model's `most` best, or by any of them."""

    model: str = "google-bert/bert-base-uncased"
    choice: Literal["likeliest", "random"] = "likeliest"
    most: int = 50
    batch: int = 32
    device: Device = "auto"

    category = "paraphrasing"
    needs = "a model"

    def check(self) -> None:
        """The model must be a folder or in the hub's cache."""
        check_model(self.model, type(self).__name__)

    def vary_all(self, queries: Sequence[Query], n: int, seed: int) -> Iterator[Outcome]:
        """All gaps of all queries, batched."""
        titles = list(dict.fromkeys(query.title for query in queries))
        gaps = [gap for title in titles for gap in _gaps(title)]
        source = load_model(self.model, "masked words", type(self).__name__, self.device)
        words = dict(zip(gaps, _expected(source, gaps, self.most, self.batch), strict=True))
        cup = Cup(repr(self), seed)
        for query in queries:
            own = {gap: words[gap] for gap in _gaps(query.title)}
            yield pick(query.title, self._candidates(own, cup.dice(query.title)), n, _FAILURE)

    def _candidates(self, words: dict[_Gap, list[str]], dice: Dice) -> Iterator[str]:
        """The best word for every gap, then the second for every gap, and so on; or all in random order."""
        order = dice.shuffled(list(words))
        if self.choice == "random":
            every = [(gap, word) for gap in order for word in words[gap]]
            yield from (gap.text(word) for gap, word in dice.shuffled(every))
            return
        for rank in range(self.most):
            yield from (gap.text(words[gap][rank]) for gap in order if rank < len(words[gap]))


def _gaps(query: str) -> list[_Gap]:
    """A query with each of its content words masked."""
    tokens = tuple(query.split())
    return [_Gap(tokens, place) for place, token in enumerate(tokens) if is_content(token)]


def _expected(source: Loaded, gaps: Sequence[_Gap], most: int, batch: int) -> list[list[str]]:
    """What the model expects in each gap: whole words other than what was there, the likeliest first."""
    import torch

    mask = source.tokenizer.mask_token_id
    tokens = [token_ids(source, gap.text(source.tokenizer.mask_token)) for gap in gaps]
    found: list[list[str]] = [[] for _ in gaps]
    for places in by_length(tokens, batch):
        given = torch.tensor([tokens[place] for place in places], device=source.device)
        with torch.inference_mode():
            logits = source.model(input_ids=given, attention_mask=torch.ones_like(given)).logits
        for row, place in enumerate(places):
            spot = tokens[place].index(mask)
            best = torch.topk(logits[row, spot], min(most, logits.shape[-1])).indices.tolist()
            found[place] = _words(source, best, unwrap(gaps[place].tokens[gaps[place].place])[1])
    return found


def _words(source: Loaded, ids: Sequence[int], old: str) -> list[str]:
    """The tokens that are whole words, not stop words, and not the old word."""
    mark = _mark(source.tokenizer)
    tokens = source.tokenizer.convert_ids_to_tokens(ids)
    words = (token[len(mark) :] for token in tokens if token and token.startswith(mark))  # a model may have spare rows
    kept = (word for word in words if word.isalpha() and len(word) > 1 and not is_stop_word(word))
    return [cased(word, old) for word in kept if word.lower() != old.lower()]


@lru_cache(maxsize=4)
def _mark(tokenizer: object) -> str:
    """How the vocabulary marks the start of a word; WordPiece marks the other pieces instead, with ##."""
    known = tokenizer.get_vocab()  # type: ignore[attr-defined]
    return next((mark for mark in _MARKS if any(token.startswith(mark) for token in known)), "")
