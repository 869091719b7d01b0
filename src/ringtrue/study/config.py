"""What is given for an evaluation: names, paths and settings, from Python, options or a TOML file; nothing is read."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from ir_measures import Measure

from ringtrue.data.formats.streams import check_file
from ringtrue.data.groups import FROM_TAGS
from ringtrue.data.ties import Ties
from ringtrue.errors import FormatError, InputError, UnknownNameError
from ringtrue.evaluation.measures import parse_measure
from ringtrue.leakage.thresholds import check_threshold
from ringtrue.retrieval.encoders import ENCODERS
from ringtrue.retrieval.pipeline import Composable, parse_ranker
from ringtrue.subsampling.samplers import SAMPLERS

BUILT_IN = "builtin:lighthouse"
USUAL_RANKERS = ("bm25", "bm25 >> rm3")
_KINDS: dict[type, str] = {str: "text", int: "a whole number", float: "a number", list: "a list of texts"}
_KIND_OF: dict[str, type] = {"threshold": float, "replicates": int, "seed": int, "rankers": list, "samplers": list}
_PATHS = ("documents", "queries", "runs", "qrels", "variants", "positives", "variations", "experiment")


@dataclass(frozen=True)
class Config:
    """The parts of an evaluation; what is left out is taken from the collection where it has it.

    Without `ties` equal scores go as the question's definitions have it, which is ascending but for the study's code.
    """

    collection: str | None = None
    documents: Path | None = None
    queries: Path | None = None
    qrels: Path | None = None
    runs: Path | None = None
    groups: str | None = None
    train: str | None = None
    variants: Path | None = None
    encoder: str | None = None
    threshold: float | None = None
    positives: Path | None = None
    rankers: tuple[str, ...] = ()
    samplers: tuple[str, ...] = ()
    variations: Path | None = None
    experiment: Path | None = None
    measure: str = "nDCG@10"
    ties: str | None = None
    replicates: int = 1000
    seed: int = 42

    @classmethod
    def from_toml(cls, path: Path) -> Self:
        """Read a study file; its paths are relative to it."""
        given = _read_toml(path)
        known = {field.name for field in fields(cls)}
        for name, value in given.items():
            if name not in known:
                raise UnknownNameError(f"key in {path}:", name, known)
            kind = _KIND_OF.get(name, str)
            if not isinstance(value, kind) and not (kind is float and type(value) is int):
                raise FormatError(f"{name} should be {_KINDS[kind]}.", path)
        for name in _PATHS:
            if name in given:
                given[name] = path.parent / given[name]
        for name in ("collection", "train", "groups"):
            if name in given and given[name] != FROM_TAGS and ":" not in given[name]:
                given[name] = str(path.parent / given[name])
        for name in ("rankers", "samplers"):
            given[name] = tuple(given.get(name, ()))
        return cls(**given)

    def given(self, **parts: str | Path | float | tuple[str, ...] | None) -> Self:
        """The same study with those parts that are not None."""
        return replace(self, **{name: part for name, part in parts.items() if part is not None})  # type: ignore[arg-type]

    def or_builtin(self) -> Self:
        """The built-in collection where neither a collection, nor files of one, nor runs are given."""
        if self.has_collection or self.runs:
            return self
        return replace(self, collection=BUILT_IN, rankers=self.rankers or USUAL_RANKERS)

    def tie_rule(self) -> Ties:
        """The order of equal scores."""
        if self.ties is not None and self.ties not in list(Ties):
            raise UnknownNameError("tie rule", self.ties, list(Ties))
        return Ties(self.ties or Ties.ASC)

    @property
    def has_collection(self) -> bool:
        """Whether a collection is named, or files of documents or topics that make one."""
        return bool(self.collection or self.documents or self.queries)

    def check(self) -> Measure:
        """Look at all names before anything is read, so that a slip is not found minutes later."""
        self.tie_rule()
        if self.encoder:
            ENCODERS.find(self.encoder.partition(":")[0])
        if self.threshold is not None:
            check_threshold(self.threshold)
        for name in self.rankers:
            ranker = parse_ranker(name)
            if isinstance(ranker, Composable):
                ranker.check_ready(first=True)
        for sampler in self.samplers:
            SAMPLERS.parse(sampler)
        for option in ("train", "variants", "ranker"):
            if getattr(self, "rankers" if option == "ranker" else option) and not self.has_collection:
                raise InputError(f"--{option} needs the test topics: give a --collection, or a file with --queries.")
        if self.variations and not self.rankers:
            raise InputError("--variations needs a --ranker to try them on, such as --ranker bm25.")
        if self.variations:
            check_file(self.variations)
        return parse_measure(self.measure)


def _read_toml(path: Path) -> dict[str, Any]:
    """All keys of a study file."""
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise InputError(f"cannot read the study file {path}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"not valid TOML: {error}.", path) from error
