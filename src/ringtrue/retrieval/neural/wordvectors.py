"""Word vectors to start from: the token vectors of the packaged MiniLM, or a file of word2vec or GloVe.

A file's words are lower-cased, since the texts' are; where two become the same, the one that is written so in the file
counts, else the first. What is no single word (punctuation, phrases) is left out, since no text gives it. Words are
runs of letters and digits, with apostrophes inside; splitting scripts that are written without blanks is left out.
"""

from __future__ import annotations

from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtrue import cache
from ringtrue.errors import FormatError
from ringtrue.retrieval.encoders.minilm import MiniLM
from ringtrue.retrieval.neural.vocabulary import TOKENIZER, Vocabulary, load_tokenizer

# isort: split
import torch
from safetensors import safe_open
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
from torch import Tensor, nn
from torch.nn import functional

_FORMAT = 1
_ROWS = "rows.npy"
_MINILM_ROWS = "embeddings.word_embeddings.weight"
_UNKNOWN = "[unknown]"  # never a word of a text: it has brackets
_WORD = r"[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:'[\p{L}\p{N}][\p{L}\p{N}\p{M}]*)*"

Floats = NDArray[np.float32]


class Source(NamedTuple):
    """Tokens with one vector each."""

    vocabulary: Vocabulary
    vectors: Floats


class WordVectors(nn.Module):
    """The table of a vocabulary's vectors; what pads is all zeros and stays so."""

    def __init__(self, vocabulary: Vocabulary, *, learn: bool) -> None:
        """Make an empty table."""
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(vocabulary.rows, vocabulary.dim), requires_grad=learn)

    def fill(self, vectors: Floats) -> None:
        """Take over the vectors of the known tokens; unknown words get random ones that are as long on average."""
        known = torch.from_numpy(vectors)
        with torch.no_grad():
            unknown = self.weight[1 + len(known) :]
            self.weight[1 : 1 + len(known)] = known
            unknown.normal_().mul_(_mean_length(vectors) / vectors.shape[1] ** 0.5)

    def forward(self, rows: Tensor) -> Tensor:
        """The vectors of some rows."""
        return functional.embedding(rows, self.weight, padding_idx=0)


def _mean_length(vectors: Floats) -> float:
    """The same to the bit with any number of threads, since trainings are known by their first weights."""
    return float(np.linalg.norm(vectors, axis=1).mean(dtype=np.float64))


def load_source(vectors: str) -> Source:
    """The vectors that an option names: `minilm`, or the path of a file."""
    if vectors == "minilm":
        return _read_minilm(MiniLM().folder())
    from ringtrue.data.formats.streams import check_file  # late: needs more than a machine that only trains may have

    file = check_file(Path(vectors).expanduser(), "vectors is 'minilm' or the path of a file of word vectors.")
    facts = file.stat()
    key = cache.key(_FORMAT, str(file.resolve()), facts.st_size, facts.st_mtime_ns)
    return _read_words(cache.entry("wordvectors", key, partial(_build, file)))


@lru_cache(maxsize=1)
def _read_minilm(folder: Path) -> Source:
    with safe_open(folder / "model.safetensors", framework="np") as file:
        vectors = np.asarray(file.get_tensor(_MINILM_ROWS), np.float32)
    return Source(Vocabulary(load_tokenizer(folder), vectors.shape[1]), vectors)


@lru_cache(maxsize=1)
def _read_words(folder: Path) -> Source:
    vectors: Floats = np.load(folder / _ROWS, allow_pickle=False)
    return Source(Vocabulary(load_tokenizer(folder), vectors.shape[1]), vectors)


def _build(path: Path, folder: Path) -> None:
    """Read a file and keep it as a tokenizer and an array; the first row is of unknown words and not used."""
    from ringtrue.data.formats.vectors import read_vectors

    tokenizer = _word_tokenizer({})
    numbers: dict[str, int] = {_UNKNOWN: 0}
    rows: list[Floats] = []
    as_written: set[str] = set()
    for text, vector in read_vectors(path):
        word = tokenizer.normalizer.normalize_str(text)
        if word in as_written or [part for part, _ in tokenizer.pre_tokenizer.pre_tokenize_str(word)] != [word]:
            continue
        if word not in numbers:
            numbers[word] = len(numbers)
            rows.append(vector)
        elif word == text:
            rows[numbers[word] - 1] = vector
        if word == text:
            as_written.add(word)
    if not rows:
        raise FormatError("no vectors of single words in this file.", path)
    _word_tokenizer(numbers).save(str(folder / TOKENIZER), pretty=False)
    np.save(folder / _ROWS, np.stack([np.zeros_like(rows[0]), *rows]), allow_pickle=False)


def _word_tokenizer(numbers: dict[str, int]) -> Tokenizer:
    """A tokenizer whose tokens are words."""
    tokenizer = Tokenizer(models.WordLevel(numbers or {_UNKNOWN: 0}, unk_token=_UNKNOWN))
    straight = normalizers.Replace("\u2019", "'")
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), straight, normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(_WORD), "removed", invert=True)
    return tokenizer
