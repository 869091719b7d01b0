"""The prompt of monoT5 (Nogueira et al., Findings of EMNLP 2020) from texts that are tokenised once each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from ringtrue.errors import InputError
from ringtrue.retrieval.neural.ragged import Ragged
from ringtrue.retrieval.neural.template import PairTemplate
from ringtrue.retrieval.neural.tokenising import exchange, tokenise_beginnings

_WORDS = ("Query:", "Document:", "Relevant:")
_PROBE = "Is a text's end (or its beginning) 1st-class? Yes."


class Prompt(NamedTuple):
    """`Query: … Document: … Relevant:` with the mark of the end."""

    tokenizer: Tokenizer
    template: PairTemplate

    @classmethod
    def of(cls, tokenizer: Tokenizer, end: int) -> Prompt:
        """The prompt in the tokens of a model; a tokenizer that joins words is an error."""
        before, between, behind = (tuple(tokenizer.encode(word, add_special_tokens=False).ids) for word in _WORDS)
        prompt = cls(tokenizer, PairTemplate(before, between, (*behind, end), (0, 0, 0, 0, 0)))
        whole = tokenizer.encode(f"Query: {_PROBE} Document: {_PROBE} Relevant:", add_special_tokens=False).ids
        query, document = prompt.queries([_PROBE], len(whole)).of(0), prompt.documents([_PROBE], len(whole)).of(0)
        if [*before, *query, *between, *document, *behind] != whole:
            raise InputError("the tokenizer of this model joins words into one token; monot5 needs one that does not.")
        return prompt

    def queries(self, texts: Sequence[str], limit: int) -> Ragged:
        """The tokens of queries, exact up to a limit."""
        return self._within(texts, limit, _WORDS[0], _WORDS[1], self.template.before, self.template.between)

    def documents(self, texts: Sequence[str], limit: int) -> Ragged:
        """The tokens of documents, exact up to a limit."""
        return self._within(texts, limit, _WORDS[1], _WORDS[2], self.template.between, self.template.behind[:-1])

    def _within(
        self, texts: Sequence[str], limit: int, left: str, right: str, before: tuple[int, ...], after: tuple[int, ...]
    ) -> Ragged:
        """Tokenise between two words of the prompt and take these off again; where they are not there, without them."""
        enough = limit + len(before) + len(after)
        found = tokenise_beginnings(self.tokenizer, texts, enough, before=f"{left} ", after=f" {right}")
        clean = _starts_with(found, before) & _ends_with(found, after)
        bodies = found._replace(starts=found.starts + len(before), lengths=found.lengths - len(before) - len(after))
        odd = np.flatnonzero(~clean)
        if not len(odd):
            return bodies
        alone = tokenise_beginnings(self.tokenizer, [texts[number] for number in odd.tolist()], limit)
        return exchange(bodies, odd, alone)


def _starts_with(found: Ragged, tokens: tuple[int, ...]) -> NDArray[np.bool_]:
    return _holds(found, tokens, found.starts)


def _ends_with(found: Ragged, tokens: tuple[int, ...]) -> NDArray[np.bool_]:
    return _holds(found, tokens, found.starts + found.lengths - len(tokens))


def _holds(found: Ragged, tokens: tuple[int, ...], places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether these tokens are at a place of each sequence."""
    columns = np.clip(places[:, None] + np.arange(len(tokens)), 0, max(len(found.ids) - 1, 0))
    same: NDArray[np.bool_] = (found.ids[columns] == np.array(tokens)).all(axis=1)
    return same & (found.lengths >= len(tokens))
