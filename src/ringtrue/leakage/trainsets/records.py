"""What training sets are made of, and how they are asked for.

An instance is a query and a document, as the study counts: a triple of a query, a relevant and a non-relevant document
is two instances.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from ringtrue.data.notes import Note
from ringtrue.errors import InputError, UnknownNameError

Kind = Literal["none", "msm", "test"]
Origin = Literal["log", "document", "leak", "topic"]
KINDS: tuple[Kind, ...] = get_args(Kind)
TITLES: Mapping[str, str] = {"none": "No leakage", "msm": "MSM leakage", "test": "Test leakage"}
SIZES = tuple(1000 * 2**power for power in range(8))


class Triple(NamedTuple):
    """A query with a relevant and a non-relevant document; ids are keys of the texts.

    `origin` says where the query comes from: the log, a document that it was made of, a leaking query, or a test
    topic. The last two name the topic that they leak.
    """

    query_id: str
    positive: str
    negative: str
    origin: Origin
    source: str
    topic_id: str = ""


class Leak(NamedTuple):
    """A training query that is (nearly) a test topic, with the documents that it was trained on as relevant."""

    topic_id: str
    query_id: str
    text: str
    source: str
    doc_ids: tuple[str, ...]


class Nearest(NamedTuple):
    """A topic and the training query without leakage that comes nearest to it."""

    topic_id: str
    text: str
    query: str
    similarity: float


@dataclass(frozen=True)
class Settings:
    """How to make sets; None for `leaks` is two a topic or all there are, for `threshold` the encoder's own.

    `balanced` takes the same number of queries from each source, otherwise what one source lacks comes from the
    others. Documents with fewer letters and digits than `least_text` are not trained on.
    """

    kinds: tuple[Kind, ...] = KINDS
    sizes: tuple[int, ...] = SIZES
    leaks: int | None = None
    repeats: int = 2
    depth: int = 100
    ranker: str = "bm25"
    encoder: str = "minilm"
    threshold: float | None = None
    balanced: bool = True
    least_text: int = 10
    seed: int = 42

    def __post_init__(self) -> None:
        """Refuse what no set can be made of."""
        for kind in self.kinds:
            if kind not in KINDS:
                raise UnknownNameError("kind of training set", kind, KINDS)
        for size in self.sizes:
            if size < 2 or size % 2:
                raise InputError(
                    f"a training set of {size} instances cannot be: two a query, so an even number above 0."
                )
        for name in ("repeats", "depth"):
            if getattr(self, name) < 1:
                raise InputError(f"training sets: {name} is {getattr(self, name)}; it should be 1 or more.")
        if not self.kinds or not self.sizes:
            raise InputError("no training sets: give at least one kind and one size.")


@dataclass(frozen=True)
class Trainset:
    """One set; `instances` is exactly what was asked for."""

    kind: Kind
    instances: int
    triples: tuple[Triple, ...]

    @property
    def name(self) -> str:
        """Its name in files: `none-1000`."""
        return f"{self.kind}-{self.instances}"

    @property
    def by_origin(self) -> Mapping[str, int]:
        """Triples by where their queries come from."""
        return dict(sorted(Counter(triple.origin for triple in self.triples).items()))

    @property
    def by_source(self) -> Mapping[str, int]:
        """Triples without leakage by source."""
        rest = (triple.source for triple in self.triples if not triple.topic_id)
        return dict(sorted(Counter(rest).items()))

    @property
    def leaked_topics(self) -> tuple[str, ...]:
        """The test topics that it leaks, ascending."""
        return tuple(sorted({triple.topic_id for triple in self.triples if triple.topic_id}))


@dataclass(frozen=True)
class Trainsets:
    """All sets over common texts, with the account of how they came about.

    `near` queries were left out because the detector found them similar to a topic, `nearest` is what is left, by
    topic. `leaks_known` leaking queries could have been taken, `leak_rule` says how they are known. `prefix` stands
    before the ids of the test collection's documents.
    """

    sets: tuple[Trainset, ...]
    queries: Mapping[str, str]
    documents: Mapping[str, str]
    settings: Settings
    rest: str
    encoder: str
    threshold: float
    checked: int
    near: int
    nearest: tuple[Nearest, ...]
    leak_rule: str
    leaks_known: int
    prefix: str = ""
    notes: tuple[Note, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)

    def find(self, kind: str, instances: int) -> Trainset:
        """One of the sets."""
        for one in self.sets:
            if (one.kind, one.instances) == (kind, instances):
                return one
        raise UnknownNameError("training set", f"{kind}-{instances}", [one.name for one in self.sets])
