"""Token numbers of very many short texts: each distinct word is tokenised once, and remembered.

For tokenizers that cut a text into words before they look at any (BERT's: spaces and punctuation, then WordPiece),
where the tokens of a text are those of its words one after the other. The tokenizer itself gives the tokens of each
word, and of every text that is not plain: other scripts, control characters, special tokens, very long texts. Other
tokenizers get all texts.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtrue.retrieval.encoders.tokens import Tokeniser

Ints = NDArray[np.int64]

_WORDS = re.compile(r"[A-Za-z0-9]+|[!-/:-@\[-`{-~]|\n")
_MOST = 400_000


class Ragged(NamedTuple):
    """Token numbers of all texts, one text after the other, and where each begins."""

    ids: Ints
    starts: Ints


@dataclass
class WordPieces:
    """A tokenizer with a memory of about `most` words; threads may share it."""

    tokeniser: Tokeniser
    most: int = _MOST
    _by_word: bool = field(init=False, repr=False)
    _lower: bool = field(init=False, repr=False)
    _strange: re.Pattern[str] = field(init=False, repr=False)
    _numbers: _Numbers = field(init=False, repr=False)
    _ids: Ints = field(init=False, repr=False)
    _firsts: Ints = field(init=False, repr=False)
    _lengths: Ints = field(init=False, repr=False)
    _lock: threading.Lock = field(init=False, repr=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """Read how the tokenizer cuts, and start with no words."""
        told = json.loads(self.tokeniser.path.read_text(encoding="utf-8"))
        cuts = (told.get("normalizer") or {}, told.get("pre_tokenizer") or {}, told.get("model") or {})
        kinds = tuple(part.get("type") for part in cuts)
        self._by_word = kinds == ("BertNormalizer", "BertPreTokenizer", "WordPiece") and not self.tokeniser.special
        self._lower = bool(cuts[0].get("lowercase"))
        special = {token["content"][:1] for token in told.get("added_tokens") or ()}
        self._strange = re.compile("|".join([r"[^\n -~]", *map(re.escape, sorted(special - {""}))]))
        self._forget()

    def __call__(self, texts: Sequence[str]) -> Ragged:
        """The tokens of some texts, in their order."""
        if not self._by_word or not texts:
            return self._whole(texts)
        odd = self._odd(texts)
        plain = list(texts)
        for number in odd:
            plain[number] = ""
        if not odd:
            return self._split(plain)
        return _merged(self._split(plain), np.array(odd), self._whole([texts[number] for number in odd]))

    def _odd(self, texts: Sequence[str]) -> list[int]:
        """Which texts are not plain; looked for in all at once."""
        joined = "\n".join(texts)
        if joined.count("\n") >= len(texts):
            return [number for number, text in enumerate(texts) if "\n" in text or self._odd([text])]
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        places = [match.start() for match in self._strange.finditer(joined)]
        strange = np.searchsorted(np.cumsum(lengths + 1), places, side="right")
        long = np.flatnonzero(lengths > self.tokeniser.max_length)
        return [int(number) for number in np.union1d(strange, long)]

    def _whole(self, texts: Sequence[str]) -> Ragged:
        """By the tokenizer, without the memory."""
        tokens = self.tokeniser(texts)
        ends = np.cumsum(tokens.lengths)
        lengths = tokens.lengths[tokens.places]
        starts = np.concatenate(([0], np.cumsum(lengths)))
        return Ragged(_spans(tokens.ids, (ends - tokens.lengths)[tokens.places], lengths), starts)

    def _split(self, texts: Sequence[str]) -> Ragged:
        """By words; the end of a text is a word without tokens."""
        joined = "\n".join(texts) + "\n"
        words = _WORDS.findall(joined.lower() if self._lower else joined)
        with self._lock:
            if len(self._numbers) > self.most:
                self._forget()
            numbers = np.fromiter(map(self._numbers.__getitem__, words), np.int64, len(words))
            self._learn()
            ids, firsts, lengths = self._ids, self._firsts[numbers], self._lengths[numbers]
        starts = np.concatenate(([0], np.cumsum(lengths)[numbers == 0]))
        return Ragged(_spans(ids, firsts, lengths), starts)

    def _learn(self) -> None:
        """Tokenise the words that were not known before."""
        if len(self._numbers) == len(self._lengths):
            return
        new = list(self._numbers)[len(self._lengths) :]
        ragged = self._whole(new)
        self._firsts = np.concatenate((self._firsts, ragged.starts[:-1] + len(self._ids)))
        self._lengths = np.concatenate((self._lengths, np.diff(ragged.starts)))
        self._ids = np.concatenate((self._ids, ragged.ids))

    def _forget(self) -> None:
        self._numbers = _Numbers({"\n": 0})
        self._ids, self._firsts, self._lengths = np.empty(0, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64)


class _Numbers(dict[str, int]):
    """Gives each new word the next number."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


def _spans(values: NDArray[np.integer], firsts: Ints, lengths: Ints) -> Ints:
    """The values of each span, one span after the other."""
    before = np.cumsum(lengths) - lengths
    places = np.repeat(firsts - before, lengths) + np.arange(int(lengths.sum()))
    return values[places].astype(np.int64)


def _merged(ragged: Ragged, rows: Ints, other: Ragged) -> Ragged:
    """With the tokens of some texts, which had none, put in."""
    lengths = np.diff(ragged.starts)
    lengths[rows] = np.diff(other.starts)
    firsts = ragged.starts[:-1].copy()
    firsts[rows] = len(ragged.ids) + other.starts[:-1]
    ids = _spans(np.concatenate((ragged.ids, other.ids)), firsts, lengths)
    return Ragged(ids, np.concatenate(([0], np.cumsum(lengths))))
