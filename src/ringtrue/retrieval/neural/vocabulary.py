"""The vocabulary of the interaction models: texts as rows of a table of word vectors.

Row 0 pads. Then come the tokens of a tokenizer, of wordpieces or of words, then some rows for all words that it does
not know: a word always has the same of them, by its hash, so that unknown words match themselves and hardly ever
another. Beside it, how rare each row is in some texts.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from ringtrue.errors import InputError
from ringtrue.retrieval.encoders.tokens import tokenise
from ringtrue.retrieval.neural.ragged import Ragged
from ringtrue.retrieval.neural.tokenising import tokenise_beginnings

TOKENIZER = "tokenizer.json"
_FILE = "vocabulary.json"
_UNKNOWN_ROWS = 4096
_BLOCK = 4096  # texts that are counted at once


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """A tokenizer, and how long the vectors of its tokens are."""

    tokenizer: Tokenizer
    dim: int

    @classmethod
    def load(cls, folder: Path) -> Vocabulary:
        """Read what `save` wrote."""
        path = folder / _FILE
        try:
            return cls(load_tokenizer(folder), int(json.loads(path.read_text(encoding="utf-8"))["dim"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path} cannot be read ({error}); the checkpoint is not whole.") from error

    def save(self, folder: Path) -> None:
        """Write all that is needed to read texts, the vectors excepted."""
        self.tokenizer.save(str(folder / TOKENIZER), pretty=False)
        (folder / _FILE).write_text(json.dumps({"dim": self.dim}) + "\n", encoding="utf-8", newline="\n")

    @cached_property
    def tokens(self) -> int:
        """How many tokens are known; the tokenizer counts them anew each time it is asked."""
        return int(self.tokenizer.get_vocab_size())

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return 1 + self.tokens + _UNKNOWN_ROWS

    def encode(self, texts: Sequence[str], length: int | None) -> Ragged:
        """The rows of each text, cut at a length."""
        if length is None:
            found = Ragged.from_tokens(tokenise(self.tokenizer, texts, special=False))
        else:
            found = tokenise_beginnings(self.tokenizer, texts, length).cut(length)
        return self._with_unknown(texts, found._replace(ids=found.ids + 1))

    def _with_unknown(self, texts: Sequence[str], found: Ragged) -> Ragged:
        """The same, with the row of each unknown word instead of one for all of them."""
        unknown = self.tokenizer.token_to_id(self.tokenizer.model.unk_token)
        counts = np.concatenate(([0], np.cumsum(found.ids == unknown + 1)))
        having = np.flatnonzero(counts[found.starts + found.lengths] > counts[found.starts]).tolist()
        # a text with half characters, as broken files have them, cannot be encoded
        chosen = [texts[number].encode("utf-16", "surrogatepass").decode("utf-16", "replace") for number in having]
        encodings = self.tokenizer.encode_batch(chosen, add_special_tokens=False)
        for number, text, encoding in zip(having, chosen, encodings, strict=True):
            rows, offsets = found.of(number), encoding.offsets
            for place in np.flatnonzero(rows == unknown + 1).tolist():
                start, end = offsets[place]
                rows[place] = self.rows - 1 - zlib.crc32(text[start:end].lower().encode()) % _UNKNOWN_ROWS
        return found


def load_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of a folder, without the fixed length that some have switched on."""
    path = folder / TOKENIZER
    if not path.is_file():
        raise InputError(f"{folder} has no {TOKENIZER}; the checkpoint is not whole.")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more special
        raise InputError(f"{path} is not a tokenizer: {error}.") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def document_weights(vocabulary: Vocabulary, texts: Sequence[str]) -> NDArray[np.float32]:
    """The inverse document frequency of each row, ln(1 + (N - n + 0.5) / (n + 0.5)), as BM25 in Lucene has it."""
    if not texts:
        raise InputError("the model weighs words by how rare they are, and there are no documents to count them in.")
    size = vocabulary.rows
    counts = np.zeros(size, np.int64)
    for start in range(0, len(texts), _BLOCK):
        found = vocabulary.encode(texts[start : start + _BLOCK], None)
        owners = np.repeat(np.arange(len(found.lengths)), found.lengths)
        firsts = np.cumsum(found.lengths) - found.lengths
        rows = found.ids[np.arange(len(owners)) + (found.starts - firsts)[owners]]
        counts += np.bincount(np.unique(owners * size + rows) % size, minlength=size)
    return np.log1p((len(texts) - counts + 0.5) / (counts + 0.5)).astype(np.float32)
