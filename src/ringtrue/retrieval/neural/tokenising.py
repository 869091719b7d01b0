"""Texts as tokens for networks that read a limited number of them: of a long text only the beginning is looked at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from ringtrue.retrieval.encoders.tokens import tokenise
from ringtrue.retrieval.neural.ragged import Ragged

_CHARACTERS = 16  # a token has four or five in most languages


def tokenise_beginnings(
    tokenizer: Tokenizer, texts: Sequence[str], limit: int, *, before: str = "", after: str = ""
) -> Ragged:
    """The tokens of `before + text + after`, without special ones; exact up to `limit` tokens, not cut to them.

    A text that is far too long is cut between words first, and tokenised whole where that left too little of it.
    """
    begun = [_beginning(text, limit * _CHARACTERS) for text in texts]
    found = Ragged.from_tokens(tokenise(tokenizer, [f"{before}{text}{after}" for text in begun], special=False))
    short = [number for number in np.flatnonzero(found.lengths < limit).tolist() if begun[number] != texts[number]]
    if not short:
        return found
    again = [f"{before}{texts[number]}{after}" for number in short]
    return exchange(found, np.array(short, np.int64), Ragged.from_tokens(tokenise(tokenizer, again, special=False)))


def _beginning(text: str, size: int) -> str:
    """At most so many characters, up to the last blank in them; a text without one stays as it is."""
    if len(text) <= size:
        return text
    blank = text.rfind(" ", 0, size)
    return text[:blank] if blank > 0 else text


def exchange(found: Ragged, numbers: NDArray[np.int64], others: Ragged) -> Ragged:
    """Some sequences exchanged for others, which are put behind the rest."""
    starts, lengths = found.starts.copy(), found.lengths.copy()
    starts[numbers], lengths[numbers] = others.starts + len(found.ids), others.lengths
    return Ragged(np.concatenate((found.ids, others.ids)), starts, lengths)
