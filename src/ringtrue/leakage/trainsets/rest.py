"""The queries that fill a set up: drawn from each source alike, none of them near a test topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Collection as Ids
from dataclasses import dataclass, field

from ringtrue.data.collection import Collection
from ringtrue.data.notes import Notes
from ringtrue.errors import InputError
from ringtrue.leakage.trainsets.corpora import Corpus, plain
from ringtrue.leakage.trainsets.detector import Detector
from ringtrue.leakage.trainsets.dice import draw, shuffled
from ringtrue.leakage.trainsets.documents import Asked, choose_documents
from ringtrue.leakage.trainsets.entries import Entry, document_entries, log_entries
from ringtrue.leakage.trainsets.records import Settings, Triple

_SPARE = 1.1
_LEAST_BLOCK = 64


@dataclass(frozen=True)
class Fillers:
    """Triples without leakage, by source, in the order in which they are taken."""

    by_source: dict[str, list[Triple]]
    balanced: bool

    def take(self, number: int) -> tuple[Triple, ...]:
        """So many, the same number of each source (the first sources one more where that does not go up)."""
        shares = shares_of(number, [len(one) for one in self.by_source.values()], self.balanced)
        if shares is None:
            raise InputError(self._shortage(number))
        return tuple(
            triple for share, one in zip(shares, self.by_source.values(), strict=True) for triple in one[:share]
        )

    def _shortage(self, number: int) -> str:
        """What there is, and the largest set that it is enough for."""
        sizes = {source: len(one) for source, one in self.by_source.items()}
        have = ", ".join(f"{source} {size:,}" for source, size in sizes.items()) or "none"
        fewer = range(min(number - 1, sum(sizes.values())), 0, -1)
        largest = next((one for one in fewer if shares_of(one, [*sizes.values()], self.balanced) is not None), 0)
        more = "" if not self.balanced or len(sizes) < 2 else ", or let sources differ (--unbalanced)"
        if not largest:
            return (
                f"the sets need {number:,} queries without leakage, but the sources have {have}: all others leak, are "
                "near a topic or have no documents; give more training queries (--train), or a higher --threshold."
            )
        return (
            f"the sets need {number:,} queries without leakage, but the sources have {have}; the largest set without "
            f"leakage has {2 * largest:,} instances: give sizes up to that (--size){more}."
        )


def shares_of(number: int, available: Sequence[int], balanced: bool) -> list[int] | None:
    """How many of each source: alike, and unless balanced, from larger sources what others lack; None if too few."""
    if not available:
        return None if number else []
    shares = [number // len(available) + (place < number % len(available)) for place in range(len(available))]
    if balanced:
        return shares if all(map(_fits, shares, available)) else None
    while (lacking := sum(max(share - have, 0) for share, have in zip(shares, available, strict=True))) > 0:
        shares = [min(share, have) for share, have in zip(shares, available, strict=True)]
        free = [place for place, have in enumerate(available) if shares[place] < have]
        if not free:
            return None
        for turn in range(lacking):
            shares[free[turn % len(free)]] += 1
    return shares


def _fits(share: int, have: int) -> bool:
    return share <= have


@dataclass
class Rest:
    """Draws queries, checks them with the detector, and gives each its documents.

    `leaking` are ids of queries that are known to leak, `leaking_words` what they say: the same under another id leaks
    as well, also where the detector does not find it near.
    """

    test: Collection
    train: Collection | None
    corpus: Corpus
    detector: Detector
    settings: Settings
    leaking: frozenset[str]
    leaking_words: frozenset[str]
    notes: Notes
    say: Callable[[str], None]
    checked: int = 0
    near: int = 0
    queries: dict[str, str] = field(default_factory=dict)
    relevant: Mapping[str, set[str]] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """Where the queries come from."""
        if self.train is not None:
            return f"the training log of {self.train.name}"
        return (
            f"made of documents of {self.test.name}, since there is no log: a title or a sentence is the query, the "
            "document without it is relevant; the test's documents are thus seen in training, its topics are not"
        )

    def make(self, number: int) -> Fillers:
        """Enough for a set that needs so many, or all there are."""
        if number == 0:
            return Fillers({}, self.settings.balanced)
        most = int(number * _SPARE) + _LEAST_BLOCK
        while True:
            notes = Notes()
            entries = _named_apart(draw(self._entries(notes), most, self.settings.seed))
            self.relevant = self._relevant({plain(one.text) for some in entries.values() for one in some})
            found = self._fill(entries, number, notes)
            enough = shares_of(number, [len(one) for one in found.values()], self.settings.balanced) is not None
            if enough or all(len(one) < most for one in entries.values()):
                self.notes.update(notes)
                return Fillers(found, self.settings.balanced)
            most *= 2  # too many were near a topic or had no documents: draw more

    def _entries(self, notes: Notes) -> Iterator[Entry]:
        if self.train is None:
            return document_entries(self.test.documents(), self.corpus, self.settings.least_text)
        return log_entries(self.train, self.corpus, self.leaking, self.leaking_words, notes)

    def _relevant(self, wanted: Ids[str]) -> dict[str, set[str]]:
        """What the log knows to be relevant for some words: it may ask the same several times, with other documents."""
        found: dict[str, set[str]] = {}
        for query in self.train.log() if self.train is not None else ():
            if (words := plain(query.text)) in wanted:
                found.setdefault(words, set()).update(map(self.corpus.key, query.doc_ids))
        return found

    def _fill(self, entries: dict[str, list[Entry]], number: int, notes: Notes) -> dict[str, list[Triple]]:
        """Each source up to its share; unbalanced sets may need all of a source."""
        self.checked = self.near = 0
        share = -(-number // max(len(entries), 1)) if self.settings.balanced else number
        return {source: self._clean(some, share, notes) for source, some in entries.items()}

    def _clean(self, entries: Sequence[Entry], wanted: int, notes: Notes) -> list[Triple]:
        """The first that are not near a topic and have documents, as many as are wanted."""
        found: list[Triple] = []
        block = max(int(wanted * _SPARE), _LEAST_BLOCK)
        for start in range(0, len(entries), block):
            if len(found) >= wanted:
                break
            found += self._accept(entries[start : start + block], notes)
            self.say(f"{min(len(found), wanted):,} of {wanted:,} queries of {entries[0].source} without leakage")
        return found[:wanted]

    def _accept(self, entries: Sequence[Entry], notes: Notes) -> list[Triple]:
        near = self.detector.near({entry.query_id: entry.text for entry in entries})
        self.checked += len(entries)
        self.near += len(near)
        clean = [entry for entry in entries if entry.query_id not in near]
        self.corpus.add({entry.positives[0]: entry.made for entry in clean if entry.made})
        asked = [self._asked(entry) for entry in clean]
        pairs = choose_documents(asked, self.corpus, self.settings, notes)
        kept = [entry for entry in clean if entry.query_id in pairs]
        self.queries.update({entry.query_id: entry.text for entry in kept})
        return [Triple(entry.query_id, *pairs[entry.query_id], entry.origin, entry.source) for entry in kept]

    def _asked(self, entry: Entry) -> Asked:
        """A document that a query was made of can be no negative of it, also not as it was, nor one that has it."""
        order = tuple(shuffled(entry.positives, self.settings.seed, "positive", entry.query_id))
        words = plain(entry.text)
        if not entry.made:
            return Asked(entry.query_id, entry.text, order, frozenset(self.relevant.get(words, ())))
        barred = frozenset(key.partition("#without-")[0] for key in entry.positives)
        return Asked(entry.query_id, entry.text, order, barred, verbatim=words)


def _named_apart(entries: Mapping[str, Sequence[Entry]]) -> dict[str, list[Entry]]:
    """The same entries, of which no two have one id: a log may give one to several queries."""
    times: Counter[str] = Counter()
    found: dict[str, list[Entry]] = {}
    for source, some in entries.items():
        found[source] = []
        for entry in some:
            times[entry.query_id] += 1
            number = times[entry.query_id]
            found[source].append(entry if number == 1 else entry._replace(query_id=f"{entry.query_id}#{number}"))
    return found
